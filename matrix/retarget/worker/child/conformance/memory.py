"""Checks of memory: allocations, reads and writes of the host, maps."""

from __future__ import annotations

from contextlib import suppress

from retarget.extension import BufferRange, DriverError
from retarget.worker.child.conformance.bench import Bench, Check, Region, random_bytes

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
        what = f"write [{one.offset}:{one.offset + length}] of a buffer of {size} bytes"
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
        bench.refuses(f"write [{offset}:{offset + length}] of {size} bytes", device.write, past, data)
        bench.refuses(f"read [{offset}:{offset + length}] of {size} bytes", device.read, past)
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
            what = f"map of {region.name}[{offset}:{offset + length}]"
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
        bench.refuses(f"map [{offset}:{offset + length}] of {size} bytes", _map, bench, past)
    bench.expect(region)
    bench.works()


def _mappable(bench: Bench) -> Region:
    bench.require(bench.limits.maps, "the device announces that it maps no memory")
    return bench.buffer(512 * bench.limits.offset_alignment, mappable=True)


def _map(bench: Bench, mapped: BufferRange) -> None:
    with bench.device.map(mapped):
        pass


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
)
