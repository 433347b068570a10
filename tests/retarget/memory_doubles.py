"""A device in host memory that keeps to the protocol, and the same with one defect each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from retarget.extension import BufferRange, Device, DriverError, TransferLimits, Transfers
from retarget.model.outcomes import DeviceInfo

LARGEST = 1 << 24


@dataclass(eq=False)
class Block:
    data: bytearray
    shown: bytes = b""


@dataclass(eq=False)
class Event:
    done: bool = False


@dataclass(eq=False)
class Submission:
    after: Sequence[Event]
    work: Callable[[], None]
    event: Event = field(default_factory=Event)


class Memory(Device, Transfers):
    """Asynchronous: what waits for an event is kept, and done when the event completes."""

    def __init__(self, limits: TransferLimits | None = None) -> None:
        self.limits = limits or TransferLimits(largest_allocation=LARGEST)
        self.waiting: list[Submission] = []
        self.made: list[Block] = []

    # ------------------------------------------------------------ the device, as `Device` has it

    infos: Sequence[DeviceInfo] = ()

    def load(self, artifact: bytes) -> Any:
        raise NotImplementedError

    def transfers(self) -> Memory:
        return self

    # ------------------------------------------------------------ memory

    def allocate(self, size: int, mappable: bool) -> Block:
        if size > (self.limits.largest_allocation or 4 * LARGEST):
            msg = f"{size} bytes are too many"
            raise DriverError(msg)
        self.made.append(Block(bytearray(size)))
        return self.made[-1]

    def free(self, buffer: Block) -> None:
        buffer.data = bytearray()

    def checked(self, one: BufferRange, unit: int) -> tuple[bytearray, slice]:
        data = one.buffer.data
        if one.offset + one.length > len(data):
            msg = f"[{one.offset}:{one.offset + one.length}] is not within {len(data)} bytes"
            raise DriverError(msg)
        if one.offset % unit or one.length % unit:
            msg = f"[{one.offset}:{one.offset + one.length}] is not aligned to {unit} bytes"
            raise DriverError(msg)
        return data, slice(one.offset, one.offset + one.length)

    def ranged(self, one: BufferRange) -> tuple[bytearray, slice]:
        return self.checked(one, self.limits.offset_alignment)

    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        memory, where = self.ranged(target)
        memory[where] = data

    def read(self, source: BufferRange) -> bytes:
        memory, where = self.ranged(source)
        return bytes(memory[where])

    @contextmanager
    def map(self, mapped: BufferRange) -> Iterator[memoryview]:
        memory, where = self.ranged(mapped)
        with memoryview(memory) as whole, whole[where] as view:
            yield view

    # ------------------------------------------------------------ the queue

    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Event]) -> Event:
        if len(pattern) not in {1, 2, 4}:
            msg = f"a pattern of {len(pattern)} bytes"
            raise DriverError(msg)
        memory, where = self.checked(target, max(len(pattern), self.limits.fill_alignment))
        return self.put(memory, where, lambda: pattern * (target.length // len(pattern)), after)

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Event]) -> Event:
        (taken, origin), (memory, where) = self.ranged(source), self.ranged(target)
        overlap = source.offset < target.offset + target.length and target.offset < source.offset + source.length
        if taken is memory and overlap and source.length and not self.limits.moves_overlap:
            msg = "the ranges overlap"
            raise DriverError(msg)
        return self.put(memory, where, lambda: bytes(taken[origin]), after)

    def update(self, target: BufferRange, data: bytes | bytearray, after: Sequence[Event]) -> Event:
        memory, where = self.ranged(target)
        kept = bytes(data)
        return self.put(memory, where, lambda: kept, after)

    def put(self, memory: bytearray, where: slice, made: Callable[[], bytes], after: Sequence[Event]) -> Event:
        def work() -> None:
            memory[where] = made()

        return self.submit(work, after)

    def submit(self, work: Callable[[], None], after: Sequence[Event]) -> Event:
        if not self.limits.asynchronous and not all(event.done for event in after):
            msg = "what it waits for is not complete"
            raise DriverError(msg)
        one = Submission(after, work)
        self.waiting.append(one)
        self.proceed()
        return one.event

    def ready(self, one: Submission) -> bool:
        return all(event.done for event in one.after) and (not self.limits.in_order or one is self.waiting[0])

    def proceed(self) -> None:
        while (one := next(filter(self.ready, self.waiting), None)) is not None:
            one.work()
            one.event.done = True
            self.waiting.remove(one)

    def host_event(self) -> Event:
        return Event()

    def signal(self, event: Event) -> None:
        event.done = True
        self.proceed()

    def is_complete(self, event: Event) -> bool:
        return event.done

    def wait(self, event: Event, seconds: float) -> bool:
        return event.done


# ---------------------------------------------------------------- defects of memory


class LosesOddByte(Memory):
    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        super().write(replace(target, length=target.length & ~1), data[: target.length & ~1])


class BreaksAtZero(Memory):
    def allocate(self, size: int, mappable: bool) -> Block:
        self.broken = getattr(self, "broken", False) or size == 0
        return super().allocate(size, mappable)

    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Event]) -> Event:
        return super().fill(replace(target, length=0) if self.broken else target, pattern, after)


class ReusesAfterHundred(Memory):
    def allocate(self, size: int, mappable: bool) -> Block:
        block = super().allocate(size, mappable)
        return block if len(self.made) <= 100 else self.made[len(self.made) % 100]


class GivesFreedTwice(Memory):
    def free(self, buffer: Block) -> None:
        self.freed = buffer

    def allocate(self, size: int, mappable: bool) -> Block:
        freed: Block | None = getattr(self, "freed", None)
        return super().allocate(size, mappable) if freed is None or len(freed.data) != size else freed


class WrapsAddresses(Memory):
    def ranged(self, one: BufferRange) -> tuple[bytearray, slice]:
        return super().ranged(replace(one, offset=one.offset % (LARGEST // 4)))


class ClampsSize(Memory):
    def allocate(self, size: int, mappable: bool) -> Block:
        return super().allocate(min(size, LARGEST), mappable)  # of 2^62 bytes, too


class IgnoresOffset(Memory):
    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        super().write(replace(target, offset=0), data)


class ClampsRanges(Memory):
    """Does what is within the buffer of a range that is not."""

    def clamped(self, one: BufferRange) -> BufferRange:
        offset = min(one.offset, len(one.buffer.data))
        return BufferRange(one.buffer, offset, min(one.length, len(one.buffer.data) - offset))

    def checked(self, one: BufferRange, unit: int) -> tuple[bytearray, slice]:
        return super().checked(self.clamped(one), unit)

    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        super().write(target, data[: self.clamped(target).length])

    def put(self, memory: bytearray, where: slice, made: Callable[[], bytes], after: Sequence[Event]) -> Event:
        return super().put(memory, where, lambda: made()[: where.stop - where.start], after)


class MapsSnapshot(Memory):
    """Shows what the buffer had when it was mapped first."""

    @contextmanager
    def map(self, mapped: BufferRange) -> Iterator[memoryview]:
        with super().map(mapped) as view:
            mapped.buffer.shown = mapped.buffer.shown or bytes(view)
        yield memoryview(bytearray(mapped.buffer.shown))


class MapsCopy(Memory):
    @contextmanager
    def map(self, mapped: BufferRange) -> Iterator[memoryview]:
        yield memoryview(bytearray(self.read(mapped)))


class MapsFromStart(Memory):
    @contextmanager
    def map(self, mapped: BufferRange) -> Iterator[memoryview]:
        self.ranged(mapped)
        with super().map(replace(mapped, offset=0)) as view:
            yield view


# ---------------------------------------------------------------- defects of commands


class SwapsPattern(Memory):
    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Event]) -> Event:
        return super().fill(target, pattern[::-1], after)


class FillsFromStart(Memory):
    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Event]) -> Event:
        return super().fill(replace(target, offset=0), pattern, after)


class RoundsFill(Memory):
    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Event]) -> Event:
        unit = len(pattern) or 1
        rounded = replace(target, offset=target.offset // unit * unit, length=target.length // unit * unit)
        return super().fill(rounded, pattern, after)


class CopiesWords(Memory):
    """Copies whole words, so that a length of 1 writes 4 bytes."""

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Event]) -> Event:
        length = -(-source.length // 4) * 4
        return super().copy(replace(source, length=length), replace(target, length=length), after)


class CopiesOffByOne(Memory):
    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Event]) -> Event:
        return super().copy(replace(source, offset=max(0, source.offset - 1)), target, after)


class CopiesNothingWithin(Memory):
    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Event]) -> Event:
        if source.buffer is target.buffer:
            source, target = replace(source, length=0), replace(target, length=0)
        return super().copy(source, target, after)


class MovesOverlap(Memory):
    """Copies ranges that overlap, which it says that it refuses."""

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Event]) -> Event:
        return self.update(target, self.read(source), after)


class SmearsOverlap(Memory):
    """Copies byte by byte from the first on, and says that it moves."""

    def __init__(self) -> None:
        super().__init__(TransferLimits(moves_overlap=True))

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Event]) -> Event:
        (taken, origin), (memory, where) = self.ranged(source), self.ranged(target)

        def work() -> None:
            for index in range(source.length):
                memory[where.start + index] = taken[origin.start + index]

        return self.submit(work, after)


class UpdatesLate(Memory):
    """Reads the bytes of the host when the event is waited for."""

    def update(self, target: BufferRange, data: bytes | bytearray, after: Sequence[Event]) -> Event:
        memory, where = self.ranged(target)
        self.late = Submission(after, lambda: memory.__setitem__(where, bytes(data)))
        return self.late.event

    def wait(self, event: Event, seconds: float) -> bool:
        if (late := getattr(self, "late", None)) is not None and late.event is event:
            late.work()
            event.done = True
        return super().wait(event, seconds)


# ---------------------------------------------------------------- defects of the queue


class RunsLastFirst(Memory):
    """Does all that was submitted when something is waited for, the last first."""

    def proceed(self) -> None: ...

    def wait(self, event: Event, seconds: float) -> bool:
        while self.waiting:
            one = self.waiting.pop()
            one.work()
            one.event.done = True
        return super().wait(event, seconds)


class SignalsEarly(Memory):
    """Events are complete when they are returned; the work is done when it can be."""

    def submit(self, work: Callable[[], None], after: Sequence[Event]) -> Event:
        event = super().submit(work, after)
        return event if event.done else Event(done=True)


class WaitsForNothing(Memory):
    def submit(self, work: Callable[[], None], after: Sequence[Event]) -> Event:
        return super().submit(work, ())


class MissesSignalled(Memory):
    """Waits for the signal of an event that was signalled before."""

    def submit(self, work: Callable[[], None], after: Sequence[Event]) -> Event:
        return super().submit(work, [Event()] if any(event.done for event in after) else after)


class WaitsForFirst(Memory):
    def submit(self, work: Callable[[], None], after: Sequence[Event]) -> Event:
        return super().submit(work, after[:1])


class WakesOne(Memory):
    def proceed(self) -> None:
        if (one := next(filter(self.ready, self.waiting), None)) is not None:
            one.work()
            one.event.done = True
            self.waiting.remove(one)


class KeepsOrder(Memory):
    """Begins a submission after all before it, which it does not say."""

    def ready(self, one: Submission) -> bool:
        return super().ready(one) and one is self.waiting[0]


class TimesOutAsComplete(Memory):
    def wait(self, event: Event, seconds: float) -> bool:
        return True


class CompletesBeforeHalf(Memory):
    """The second half of what is large is written with the next submission."""

    rest: Callable[[], None] | None = None

    def put(self, memory: bytearray, where: slice, made: Callable[[], bytes], after: Sequence[Event]) -> Event:
        if where.stop - where.start < 1 << 20:
            return super().put(memory, where, made, after)
        if self.rest is not None:
            self.rest()
        middle = (where.start + where.stop) // 2
        whole = made()
        self.rest = lambda: memory.__setitem__(slice(middle, where.stop), whole[middle - where.start :])
        return super().put(memory, slice(where.start, middle), lambda: whole[: middle - where.start], after)


class ForgetsAfter(Memory):
    """Has room for 512 submissions."""

    submitted = 0

    def submit(self, work: Callable[[], None], after: Sequence[Event]) -> Event:
        self.submitted += 1
        return super().submit(work if self.submitted <= 512 else lambda: None, after)


DEFECTS: dict[str, tuple[type[Memory], ...]] = {
    "allocate.sizes": (LosesOddByte,),
    "allocate.zero": (BreaksAtZero,),
    "allocate.many": (ReusesAfterHundred,),
    "allocate.reuse": (GivesFreedTwice,),
    "allocate.largest": (WrapsAddresses,),
    "allocate.beyond": (ClampsSize,),
    "host.ranges": (IgnoresOffset,),
    "host.beyond": (ClampsRanges,),
    "map.read": (MapsSnapshot,),
    "map.write": (MapsCopy,),
    "map.ranges": (MapsFromStart, MapsCopy),
    "map.beyond": (ClampsRanges,),
    "fill.patterns": (SwapsPattern,),
    "fill.ranges": (FillsFromStart,),
    "fill.unaligned": (RoundsFill,),
    "fill.beyond": (ClampsRanges,),
    "copy.sizes": (CopiesWords,),
    "copy.offsets": (CopiesOffByOne,),
    "copy.within": (CopiesNothingWithin,),
    "copy.overlap": (MovesOverlap, SmearsOverlap),
    "copy.beyond": (ClampsRanges,),
    "update.ranges": (UpdatesLate,),
    "update.beyond": (ClampsRanges,),
    "queue.chain": (RunsLastFirst,),
    "queue.held": (SignalsEarly, WaitsForNothing),
    "queue.signalled": (MissesSignalled,),
    "queue.joined": (WaitsForFirst,),
    "queue.shared": (WakesOne,),
    "queue.independent": (KeepsOrder,),
    "queue.timeout": (TimesOutAsComplete,),
    "queue.complete": (CompletesBeforeHalf,),
    "queue.many": (ForgetsAfter,),
}
"""Of each check, what it finds."""
