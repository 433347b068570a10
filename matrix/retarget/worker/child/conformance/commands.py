"""Checks of the commands that are submitted: fills, copies, updates; and how any one check is run on a device."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence

from retarget.extension import Device, DriverError
from retarget.model.driver_checks import CheckState, DriverCheck
from retarget.worker.child.conformance import memory, queues
from retarget.worker.child.conformance.bench import Bench, Check, CheckFailedError, NotApplicableError, random_bytes
from retarget.worker.messages import CheckedDriver

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
            what = f"fill {region.name}[{offset}:{offset + length}] with {pattern.hex()}"
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
        what = f"fill [{offset}:{offset + length}] of {size} bytes"
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
        what = (
            f"copy [{offset * unit}:{(offset + length) * unit}] to [{to * unit}:{(to + length) * unit}] of one buffer"
        )
        bench.refuses(what, device.copy, source, target, (), region=region)
    bench.works()


def copy_beyond(bench: Bench) -> None:
    """A copy past the end of its source or its target is an error that writes nothing."""
    size, device = 64 * bench.limits.offset_alignment, bench.device
    source, target = bench.buffer(size), bench.buffer(size)
    half = size // 2
    for offset, to, length in ((half, 0, size), (0, half, size), (2 * size, 0, half), (0, 2 * size, half)):
        what = f"copy [{offset}:{offset + length}] to [{to}:{to + length}] of {size} bytes"
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
        what = f"update [{offset}:{offset + length}] of {size} bytes"
        bench.refuses(what, device.update, region.range(offset, length), b"\xee" * length, (), region=region)
    bench.works()


_OF_COMMANDS = (
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
)


CHECKS: tuple[Check, ...] = (*memory.CHECKS, *_OF_COMMANDS, *queues.CHECKS)
"""All checks, the simplest of each kind first."""


def driver_checks() -> Sequence[DriverCheck]:
    """Return what the checks are called, what they prove and their digests."""
    return [
        DriverCheck(name=one.name, proves=" ".join((inspect.getdoc(one.run) or "").split()), digest=_digest(one))
        for one in CHECKS
    ]


def _digest(check: Check) -> str:
    return hashlib.sha256(f"{check.name} {check.version}".encode()).hexdigest()[:12]


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
