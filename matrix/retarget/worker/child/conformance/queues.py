"""Checks of the queue: what waits for what, and what does not."""

from __future__ import annotations

from retarget.worker.child.conformance.bench import Bench, Check


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


def many(bench: Bench) -> None:
    """1000 submissions that are there at a time are all done."""
    unit = bench.limits.offset_alignment * bench.limits.fill_alignment
    region = bench.buffer(1000 * unit)
    events = [bench.fill(region, index * unit, unit, bytes([index % 251 + 1])) for index in range(1000)]
    bench.finish(*events)
    bench.expect(region)


def _needs_asynchronous(bench: Bench) -> None:
    bench.require(bench.limits.asynchronous, "the device announces that its submissions are done when they return")


CHECKS = (
    Check("queue.chain", chain),
    Check("queue.held", held),
    Check("queue.signalled", signalled),
    Check("queue.joined", joined),
    Check("queue.shared", shared),
    Check("queue.independent", independent),
    Check("queue.timeout", timeout),
    Check("queue.complete", complete),
    Check("queue.many", many),
)
