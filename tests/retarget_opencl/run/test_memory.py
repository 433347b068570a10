"""The pool of buffers: sizes, what waits to be used again, and what happens where the device is out of memory."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from opencl_support import Compile, call
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.run.memory import Memory, Pool, host_data, size_class

LARGEST = 1 << 30
MIB = 1 << 20


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, 256),
        (257, 512),
        (5 * MIB + 1, 5 * MIB + MIB // 1),
        (LARGEST - 1, LARGEST),
        (LARGEST, LARGEST),
        (LARGEST + 1, LARGEST + 1),  # the driver says that it is too large
    ],
)
def test_a_request_gets_its_size_class_and_never_more_than_the_largest_buffer(size: int, expected: int) -> None:
    assert size_class(size, LARGEST) == expected
    assert size_class(LARGEST - 5, LARGEST - 3) == LARGEST - 3


@pytest.fixture
def pool(found: FoundDevice) -> Callable[[int], Pool]:
    import pyopencl as cl

    queue = cl.CommandQueue(cl.Context([found.device]), found.device)
    return lambda limit: Pool(queue, limit, LARGEST)


def test_a_full_pool_keeps_what_was_used_last_and_drops_what_waited_longest(pool: Callable[[int], Pool]) -> None:
    small = pool(3 * MIB)
    taken = [small.take(MIB) for _ in range(3)]
    newest = taken[0].number
    while taken:
        del taken[-1]
    assert small.waiting == 3
    hot = small.take(2 * MIB)
    number = hot.number
    del hot  # two of the others make room
    assert small.waiting == 2
    assert [small.take(2 * MIB).number, small.take(MIB).number] == [number, newest]
    large = small.take(4 * MIB)
    del large  # may not wait at all
    assert small.waiting == 2


def out_of_memory(code: int) -> Exception:
    """What a driver answers that allocates when the first command uses a buffer: no driver here does."""
    import pyopencl as cl

    return cl.RuntimeError(cl._cl._ErrorRecord("no room", code, "clEnqueueFillBuffer"))


@pytest.mark.parametrize("code", [-4, -5, -6])
def test_a_command_is_tried_again_without_what_waits_where_the_device_is_out_of_memory(
    pool: Callable[[int], Pool], code: int
) -> None:
    small = pool(8 * MIB)
    small.take(MIB)
    waiting = []

    def enqueue(*arguments: object) -> str:
        waiting.append(small.waiting)
        if len(waiting) == 1:
            raise out_of_memory(code)
        return f"done {arguments[1]}"

    assert small.in_memory(enqueue, "fill") == "done fill"
    assert waiting == [1, 0]


def test_a_command_that_is_wrong_or_still_has_no_room_is_an_error(pool: Callable[[int], Pool]) -> None:
    import pyopencl as cl

    tried = []

    def enqueue(code: int) -> Callable[..., None]:
        def fail(*arguments: object) -> None:
            tried.append(code)
            raise out_of_memory(code)

        return fail

    for code in (-4, -30):
        with pytest.raises(cl.RuntimeError):
            pool(MIB).in_memory(enqueue(code))
    assert tried == [-4, -4, -30]


ADD = """
func.func @add(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


def test_a_constant_whose_upload_failed_is_uploaded_by_the_next_program(
    pool: Callable[[int], Pool], monkeypatch: pytest.MonkeyPatch
) -> None:
    large, data, written = pool(MIB), host_data(b"1234"), []

    def fail(*words: object) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(large, "write", fail)
        with pytest.raises(OSError):  # noqa: PT011 - the device's, whatever it says
            large.upload("key", data)
    monkeypatch.setattr(large, "write", lambda *words: written.append(bytes(words[2])))
    large.upload("key", data)
    large.upload("key", data)
    assert written == [b"1234"]


def test_launchers_do_not_keep_the_buffers_of_the_last_call(found: FoundDevice, compiled: Compile) -> None:
    device = OpenClDevice(found)
    program = device.load(compiled(ADD))
    seen: list[object] = []
    take = Pool.take

    def watched(self: Pool, size: int) -> Memory:
        memory = take(self, size)
        seen.append(memory.buffer)
        return memory

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "take", watched)
        call(program, "add", np.ones(MIB, np.float32))
    assert len(seen) >= 2
    program._commands.pool.clear()
    here = [sys.getrefcount(seen[number]) for number in range(len(seen))]
    assert here == [2] * len(seen)  # `seen` and the argument
    (again,) = call(program, "add", np.full(5, 3, np.float32))
    assert again.tolist() == [6] * 5
    device.close()
