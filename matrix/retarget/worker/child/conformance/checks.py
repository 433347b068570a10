"""The checks of memory (allocations, reads and writes of the host, maps), of the commands that are submitted (fills,
copies, updates) and of the queue (what waits for what, and what does not); and how one is run.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress

from retarget.extension import BufferRange, Device, DriverError
from retarget.model.driver_checks import CheckState, DriverCheck
from retarget.worker.child.conformance.bench import (
    Bench,
    Check,
    CheckFailedError,
    NotApplicableError,
    Region,
    random_bytes,
    range_text,
)
from retarget.worker.messages import CheckedDriver

_LARGE = 64 << 20
"""Bytes of a large buffer where the device announces no limit."""

_TOO_LARGE = 1 << 62
"""Bytes that no device has."""

_READ_ONLY = "the device announces that its maps are for reading only"


def sizes(bench: Bench) -> None:
    """A buffer of any size, an odd one too, holds each byte that the host writes."""
    for size in bench.aligned(2, 7, 255, 256, 257, 4095, 4096, 65537, 1 << 20):
        for mappable in {False, bench.limits.maps}:
            bench.expect(bench.buffer(size, mappable=mappable))


def zero(bench: Bench) -> None:
    """A buffer of 0 bytes is an empty buffer or an error, and the device goes on to work."""
    try:
        empty = bench.allocate(0)
    except DriverError:
        pass
    else:
        bench.expect(empty)
        bench.free(empty)
    bench.works()


def many(bench: Bench) -> None:
    """256 buffers that are there at a time are apart from each other."""
    unit = bench.limits.offset_alignment
    bench.expect(*[bench.buffer((64 + index % 3) * unit) for index in range(256)])


def reuse(bench: Bench) -> None:
    """Buffers that take the place of freed ones leave alone those that were not freed."""
    size = 4096 * bench.limits.offset_alignment
    kept = []
    for _ in range(16):
        freed, stays = bench.buffer(size), bench.buffer(size)
        bench.free(freed)
        kept += [stays, bench.buffer(size)]
    bench.expect(*kept)


def largest(bench: Bench) -> None:
    """A buffer of the largest size that is announced (64 MiB where none is) has bytes of its own from end to end."""
    size = bench.limits.largest_allocation or _LARGE
    _ends(bench, size, bench.device.allocate(size, False))


def too_large(bench: Bench) -> None:
    """A buffer of 2^62 bytes is an error, and no crash; one that is larger than announced is that, or is as good."""
    if bench.limits.largest_allocation is not None:
        size = bench.limits.largest_allocation + bench.limits.offset_alignment
        with suppress(DriverError):
            _ends(bench, size, bench.device.allocate(size, False))
    for mappable in {False, bench.limits.maps}:
        bench.refuses(f"allocate {_TOO_LARGE} bytes", bench.device.allocate, _TOO_LARGE, mappable)
    bench.works()


def _ends(bench: Bench, size: int, handle: object) -> None:
    """Expect a large buffer to have bytes of its own at both ends and between them. Frees it."""
    device, unit = bench.device, bench.limits.offset_alignment
    length = 64 * unit
    last = size // unit * unit - length
    places = sorted({0, last, *(place // unit * unit for place in (size // 2, 1 << 31, 1 << 32) if place < last)})
    ranges = [BufferRange(handle, place, length) for place in places]
    for one in ranges:
        device.write(one, random_bytes(length, seed=one.offset))
    for one in ranges:
        what = f"write {range_text('', one.offset, length)} of a buffer of {size} bytes"
        bench.equal(what, random_bytes(length, seed=one.offset), device.read(one), one.offset)
    device.free(handle)


def ranges(bench: Bench) -> None:
    """What the host writes at an offset it reads there, and the bytes around stay as they are."""
    region = bench.buffer(512 * bench.limits.offset_alignment)
    for offset in bench.aligned(0, 2, 5, 64, 100):
        for length in bench.aligned(0, 2, 4, 31, 64):
            bench.write(region, offset, random_bytes(length, seed=offset + length + 1))
            found = bench.device.read(region.range(offset, length))
            bench.equal(region.last, region.content[offset : offset + length], found, offset)
            bench.expect(region)


def beyond(bench: Bench) -> None:
    """Reads and writes of the host past the end of a buffer are errors, and write nothing."""
    device, size = bench.device, 64 * bench.limits.offset_alignment
    region = bench.buffer(size)
    for offset, length in ((0, 2 * size), (size // 2, size), (2 * size, size)):
        past, data = region.range(offset, length), b"\xee" * length
        bench.refuses(f"write {range_text('', offset, length)} of {size} bytes", device.write, past, data)
        bench.refuses(f"read {range_text('', offset, length)} of {size} bytes", device.read, past)
    bench.expect(region)
    bench.works()


def shows(bench: Bench) -> None:
    """A map shows what commands wrote, and a later map what they wrote since."""
    region = _mappable(bench)
    size = len(region.content)
    for pattern in (b"\x11", b"\x22"):
        bench.finish(bench.fill(region, 0, size // 2, pattern))
        bench.finish(bench.update(region, size // 2, random_bytes(size // 2, seed=pattern[0])))
        with bench.device.map(region.range()) as view:
            bench.equal(f"map of {region.name} after {region.last}", region.content, view)


def writes(bench: Bench) -> None:
    """A host's write through a map is visible to a copy that follows it, and to the host."""
    region = _mappable(bench)
    bench.require(bench.limits.writes_maps, _READ_ONLY)
    size = len(region.content)
    target = bench.buffer(size)
    for seed in (3, 4):
        bench.write_through(region, 0, random_bytes(size, seed=seed))
        bench.finish(bench.copy(region, target, (0, 0, size)))
        bench.expect(target, region)


def parts(bench: Bench) -> None:
    """A map of a range shows that range, and no byte before it or after it is written."""
    region = _mappable(bench)
    for offset in bench.aligned(0, 2, 64, 100):
        for length in bench.aligned(64):
            what = f"map of {range_text(region.name, offset, length)}"
            with bench.device.map(region.range(offset, length)) as view:
                bench.equal(what, region.content[offset : offset + length], view, offset)
            if bench.limits.writes_maps:
                bench.write_through(region, offset, random_bytes(length, seed=offset + length))
                bench.expect(region)


def unmappable(bench: Bench) -> None:
    """A map past the end of a buffer is an error, and the device goes on to work."""
    region = _mappable(bench)
    size = len(region.content)
    for offset, length in ((0, 2 * size), (size, size)):
        past = region.range(offset, length)
        bench.refuses(f"map {range_text('', offset, length)} of {size} bytes", _map, bench, past)
    bench.expect(region)
    bench.works()


def _mappable(bench: Bench) -> Region:
    bench.require(bench.limits.maps, "the device announces that it maps no memory")
    return bench.buffer(512 * bench.limits.offset_alignment, mappable=True)


def _map(bench: Bench, mapped: BufferRange) -> None:
    with bench.device.map(mapped):
        pass


_PATTERNS = (b"\xa1", b"\xb1\xb2", b"\xc1\xc2\xc3\xc4")
_SIZES = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 255, 256, 257, 1023, 1024, 4095, 4096, 65535, 65536)


def patterns(bench: Bench) -> None:
    """Patterns of 1, 2 and 4 bytes are repeated over a whole buffer, its first byte first."""
    for pattern in _PATTERNS:
        for units in (1, 16, 1 << 14):
            size = units * 4 * bench.limits.fill_alignment * bench.limits.offset_alignment
            region = bench.buffer(size)
            bench.finish(bench.fill(region, 0, size, pattern))
            bench.expect(region)


def fill_ranges(bench: Bench) -> None:
    """A fill writes its range and no byte around it, at each offset and length that its pattern allows."""
    region = bench.buffer(1024 * bench.limits.fill_alignment * bench.limits.offset_alignment)
    for pattern in _PATTERNS:
        unit = max(len(pattern), bench.limits.fill_alignment)
        for offset in (0, 1, 2, 3, 4, 5, 16, 63):
            for length in (0, 1, 2, 3, 4, 5, 8, 31):
                bench.finish(bench.fill(region, offset * unit, length * unit, pattern))
                bench.expect(region)


def fill_unaligned(bench: Bench) -> None:
    """A fill whose offset or length is no multiple of its pattern or the alignment, or whose pattern has 3 bytes or
    none, is an error that writes nothing."""
    region, device = bench.buffer(64 * bench.limits.fill_alignment * bench.limits.offset_alignment), bench.device
    for pattern in _PATTERNS:
        unit = max(len(pattern), bench.limits.fill_alignment)
        for offset, length in ((unit // 2, unit), (0, unit + unit // 2), (unit // 2, unit // 2)) if unit > 1 else ():
            what = f"fill {range_text(region.name, offset, length)} with {pattern.hex()}"
            bench.refuses(what, device.fill, region.range(offset, length), pattern, (), region=region)
    for pattern in (b"", b"\xee" * 3):
        what = f"fill {region.name} with a pattern of {len(pattern)} bytes"
        bench.refuses(what, device.fill, region.range(0, 24), pattern, (), region=region)
    bench.works()


def fill_beyond(bench: Bench) -> None:
    """A fill past the end of its buffer is an error that writes nothing."""
    size, device = 64 * bench.limits.fill_alignment * bench.limits.offset_alignment, bench.device
    region = bench.buffer(size)
    for offset, length in ((0, 2 * size), (size // 2, size), (2 * size, size)):
        what = f"fill {range_text('', offset, length)} of {size} bytes"
        bench.refuses(what, device.fill, region.range(offset, length), b"\xee" * 4, (), region=region)
    bench.works()


def copy_sizes(bench: Bench) -> None:
    """Copies of 1 byte to 64 KiB between two buffers write these bytes, and none after them."""
    lengths = bench.aligned(*_SIZES)
    source, target = (bench.buffer(lengths[-1] + 64 * bench.limits.offset_alignment) for _ in range(2))
    for length in lengths:
        bench.finish(bench.copy(source, target, (0, 0, length)))
        bench.expect(target, source)


def copy_offsets(bench: Bench) -> None:
    """A copy takes its range and writes its range, whatever the two offsets are to each other."""
    source, target = (bench.buffer(512 * bench.limits.offset_alignment) for _ in range(2))
    for offset in bench.aligned(0, 2, 4, 7, 64):
        for to in bench.aligned(0, 2, 5, 8, 65):
            for length in bench.aligned(0, 2, 4, 33):
                bench.finish(bench.copy(source, target, (offset, to, length)))
                bench.expect(target)


def copy_within(bench: Bench) -> None:
    """A copy within one buffer, between ranges that do not overlap, works in both directions."""
    unit = bench.limits.offset_alignment
    region = bench.buffer(256 * unit)
    for offset, to, length in ((0, 128, 128), (128, 0, 128), (3, 67, 61), (200, 7, 5), (0, 1, 1), (64, 128, 64)):
        bench.finish(bench.copy(region, region, (offset * unit, to * unit, length * unit)))
        bench.expect(region)


def copy_overlap(bench: Bench) -> None:
    """A copy between ranges that overlap is an error that writes nothing; where announced, it moves the bytes."""
    unit, device = bench.limits.offset_alignment, bench.device
    region = bench.buffer(256 * unit)
    for offset, to, length in ((0, 16, 64), (16, 0, 64)):
        if bench.limits.moves_overlap:
            bench.finish(bench.copy(region, region, (offset * unit, to * unit, length * unit)))
            bench.expect(region)
            continue
        source, target = region.range(offset * unit, length * unit), region.range(to * unit, length * unit)
        parts = (range_text("", start * unit, length * unit) for start in (offset, to))
        what = f"copy {' to '.join(parts)} of one buffer"
        bench.refuses(what, device.copy, source, target, (), region=region)
    bench.works()


def copy_beyond(bench: Bench) -> None:
    """A copy past the end of its source or its target is an error that writes nothing."""
    size, device = 64 * bench.limits.offset_alignment, bench.device
    source, target = bench.buffer(size), bench.buffer(size)
    half = size // 2
    for offset, to, length in ((half, 0, size), (0, half, size), (2 * size, 0, half), (0, 2 * size, half)):
        what = f"copy {range_text('', offset, length)} to {range_text('', to, length)} of {size} bytes"
        taken, written = source.range(offset, length), target.range(to, length)
        bench.refuses(what, device.copy, taken, written, (), region=target)
    bench.works()


def update_ranges(bench: Bench) -> None:
    """An update writes its range with the bytes that the host had when it was submitted, and none around it."""
    region = bench.buffer((65536 + 512) * bench.limits.offset_alignment)
    for offset in bench.aligned(0, 2, 100):
        for length in bench.aligned(0, 2, 4, 255, 4096, 65536):
            bench.finish(bench.update(region, offset, random_bytes(length, seed=offset + length)))
            bench.expect(region)


def update_beyond(bench: Bench) -> None:
    """An update past the end of its buffer is an error that writes nothing."""
    size, device = 64 * bench.limits.offset_alignment, bench.device
    region = bench.buffer(size)
    for offset, length in ((0, 2 * size), (size // 2, size), (2 * size, size)):
        what = f"update {range_text('', offset, length)} of {size} bytes"
        bench.refuses(what, device.update, region.range(offset, length), b"\xee" * length, (), region=region)
    bench.works()


def chain(bench: Bench) -> None:
    """Submissions of which each waits for the one before are done in this order."""
    unit = bench.limits.offset_alignment * bench.limits.fill_alignment
    size = 64 * unit
    regions = [bench.buffer(size) for _ in range(4)]
    event = bench.fill(regions[0], 0, size, b"\x01")
    for step in range(32):
        source, target = regions[step % 4], regions[(step + 1) % 4]
        event = bench.copy(source, target, (0, 0, size), [event])
        event = bench.fill(target, step * unit, unit, bytes([step + 2]), [event])
    bench.finish(event)
    bench.expect(*regions)


def held(bench: Bench) -> None:
    """A submission that waits for an event of the host writes nothing and is not complete before it is signalled; then
    it is done. A device that is not asynchronous refuses it.
    """
    size = 64 * bench.limits.offset_alignment * bench.limits.fill_alignment
    source, target = bench.buffer(size), bench.buffer(size)
    before, event = bytes(target.content), bench.host_event()
    if not bench.limits.asynchronous:
        what = "fill that waits for an event of the host"
        bench.refuses(what, bench.device.fill, source.range(), b"\xee", (event.handle,), region=source)
        bench.signal(event)
        return
    first = bench.fill(source, 0, size, b"\x5a", [event])
    second = bench.copy(source, target, (0, 0, size), [first])
    third = bench.update(source, 0, bytes(size), [second])
    bench.pending(event, first, second, third)
    bench.equal("submissions that wait for the host", before, bench.device.read(target.range()))
    bench.signal(event)
    bench.finish(event, third, second, first)
    bench.expect(source, target)


def signalled(bench: Bench) -> None:
    """A submission that waits for a signalled event of the host is done."""
    size = 64 * bench.limits.offset_alignment * bench.limits.fill_alignment
    region, event = bench.buffer(size), bench.host_event()
    bench.pending(event)
    bench.signal(event)
    bench.finish(event, bench.fill(region, 0, size, b"\x3c", [event]))
    bench.expect(region)


def joined(bench: Bench) -> None:
    """A submission that waits for several events waits for each of them, in any order."""
    _needs_asynchronous(bench)
    unit = bench.limits.offset_alignment * bench.limits.fill_alignment
    for last in range(3):
        region, copied = bench.buffer(4 * unit), bench.buffer(4 * unit)
        events = [bench.host_event() for _ in range(3)]
        parts = [bench.fill(region, index * unit, unit, bytes([index + 1]), [events[index]]) for index in range(3)]
        whole = bench.copy(region, copied, (0, 0, 4 * unit), parts)
        for index in {0, 1, 2} - {last}:
            bench.signal(events[index])
        bench.pending(whole)
        bench.signal(events[last])
        bench.finish(whole)
        bench.expect(region, copied)


def shared(bench: Bench) -> None:
    """Several submissions that wait for one event are all done once it is complete."""
    _needs_asynchronous(bench)
    unit = bench.limits.offset_alignment * bench.limits.fill_alignment
    region, event = bench.buffer(8 * unit), bench.host_event()
    fills = [bench.fill(region, index * unit, unit, bytes([index + 1]), [event]) for index in range(8)]
    bench.pending(*fills)
    bench.signal(event)
    bench.finish(*fills)
    bench.expect(region)


def independent(bench: Bench) -> None:
    """A submission that waits for nothing is done while another one waits for the host."""
    _needs_asynchronous(bench)
    bench.require(not bench.limits.in_order, "the device announces that a submission may wait for all before it")
    size = 64 * bench.limits.offset_alignment * bench.limits.fill_alignment
    waiting, free, event = bench.buffer(size), bench.buffer(size), bench.host_event()
    held_back = bench.fill(waiting, 0, size, b"\x11", [event])
    bench.finish(bench.fill(free, 0, size, b"\x22"))
    bench.expect(free)
    bench.pending(held_back)
    bench.signal(event)
    bench.finish(held_back)
    bench.expect(waiting)


def timeout(bench: Bench) -> None:
    """A wait with a timeout returns false while the event is not complete, and true for the same event once it is."""
    event = bench.host_event()
    for seconds in (0, 0.01, 0.1):
        if bench.device.wait(event.handle, seconds):
            bench.pending(event)
    bench.signal(event)
    bench.finish(event)


def complete(bench: Bench) -> None:
    """An event is complete when its bytes are there, not before: large fills and copies, read at once."""
    size = 8 << 20
    source, target = bench.buffer(size), bench.buffer(size)
    for pattern in (b"\x01", b"\x02\x03", b"\x04\x05\x06\x07"):
        filled = bench.fill(source, 0, size, pattern)
        bench.finish(bench.copy(source, target, (0, 0, size), [filled]))
        bench.expect(target)


def many_events(bench: Bench) -> None:
    """1000 submissions that are there at a time are all done."""
    unit = bench.limits.offset_alignment * bench.limits.fill_alignment
    region = bench.buffer(1000 * unit)
    events = [bench.fill(region, index * unit, unit, bytes([index % 251 + 1])) for index in range(1000)]
    bench.finish(*events)
    bench.expect(region)


def _needs_asynchronous(bench: Bench) -> None:
    bench.require(bench.limits.asynchronous, "the device announces that its submissions are done when they return")


CHECKS = (
    Check("allocate.sizes", sizes),
    Check("allocate.zero", zero),
    Check("allocate.many", many),
    Check("allocate.reuse", reuse),
    Check("allocate.largest", largest),
    Check("allocate.beyond", too_large),
    Check("host.ranges", ranges),
    Check("host.beyond", beyond),
    Check("map.read", shows),
    Check("map.write", writes),
    Check("map.ranges", parts),
    Check("map.beyond", unmappable),
    Check("fill.patterns", patterns),
    Check("fill.ranges", fill_ranges),
    Check("fill.unaligned", fill_unaligned),
    Check("fill.beyond", fill_beyond),
    Check("copy.sizes", copy_sizes),
    Check("copy.offsets", copy_offsets),
    Check("copy.within", copy_within),
    Check("copy.overlap", copy_overlap),
    Check("copy.beyond", copy_beyond),
    Check("update.ranges", update_ranges),
    Check("update.beyond", update_beyond),
    Check("queue.chain", chain),
    Check("queue.held", held),
    Check("queue.signalled", signalled),
    Check("queue.joined", joined),
    Check("queue.shared", shared),
    Check("queue.independent", independent),
    Check("queue.timeout", timeout),
    Check("queue.complete", complete),
    Check("queue.many", many_events),
)
"""All checks, the simplest of each kind first."""


def driver_checks() -> Sequence[DriverCheck]:
    """Return what the checks are called, and what they prove."""
    return [DriverCheck(name=one.name, proves=" ".join((inspect.getdoc(one.run) or "").split())) for one in CHECKS]


def run_check(device: Device | None, driver: str, name: str) -> CheckedDriver:
    """Run the check `name` on a device of a driver; none is open where a driver's programs are run by a tool."""
    transfers = None if device is None else device.transfers()
    if transfers is None:
        detail = f"the driver {driver} does not implement Device.transfers"
        return CheckedDriver(state=CheckState.NOT_TRIED, detail=detail)
    (check,) = (one for one in CHECKS if one.name == name)
    bench = Bench(transfers)
    try:
        check.run(bench)
        bench.release()
    except NotApplicableError as reason:
        return CheckedDriver(state=CheckState.NOT_APPLICABLE, detail=str(reason))
    except CheckFailedError as failure:
        detail = str(failure)
    except DriverError as error:
        detail = f"{bench.last}{bench.refused}: the driver refuses it: {error}"
    else:
        return CheckedDriver(state=CheckState.PASSED)
    bench.let_go()
    return CheckedDriver(state=CheckState.FAILED, detail=detail)
