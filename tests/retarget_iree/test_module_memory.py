"""How much memory functions take at once, by their allocations, and by IREE's disassembly."""

from __future__ import annotations

import pytest
from retarget_iree.modules.measure import Allocation, disassembled, memory_line


@pytest.mark.parametrize(
    ("allocations", "line"),
    [
        ([], ""),
        ([("a", 8, False), ("b", 16, False), ("a", None, True), ("c", 4, False)], "f: at most 24 bytes at once, 20 of"),
        ([("a", 8, False), ("a", None, True), ("b", 8, False), ("b", None, True)], "f: at most 8 bytes at once, 0 of"),
        ([("a", 8, False), ("a", 4, False)], "f: at most 12 bytes at once, 12 of"),
        ([("x", None, True)], ""),
        ([("a", None, False)], "f: 1 buffer of a size that arguments decide"),
    ],
)
def test_the_largest_sum_of_what_is_held_counts(allocations: list[Allocation], line: str) -> None:
    held = " them held when it returns" if line.endswith("of") else ""
    assert memory_line("f", allocations) == line + held


def test_both_sorts_of_size_are_named() -> None:
    assert memory_line("f", [("a", 8, False), ("b", None, False), ("c", None, False)]) == (
        "f: at most 8 bytes at once, 8 of them held when it returns, and 2 buffers of a size that arguments decide"
    )


def test_allocations_are_read_from_a_disassembly_with_the_constants_of_their_function() -> None:
    text = """\
vm.rodata[0] = 00
vm.func @main(%r0: !vm.ref<?>) -> (!vm.ref<?>) {
  %i6:7 = vm.const.i64.zero
  %i8:9 = vm.const.i64 512  // 0x0000000000000200
  %i14:15 = vm.const.i64 1024  // 0x0000000000000400
  %r5 = vm.call @hal.device.queue.alloca(%r2, %i16, %r1, %r0, %i6, %i4, %i3, %i8, %i6)
  %r7 = vm.call @hal.device.queue.alloca(%r2, %i16, %R1, %r6, %i6, %i4, %i3, %i14, %i6)
  vm.call @hal.device.queue.dealloca(%R2, %i16, %R0, %r1, %R7, %i6)
  %i14:15 = vm.mul.i64 %i8, %i6
  %r0 = vm.call @hal.allocator.allocate(%R7, %i4, %i9, %i12, %i14)
}
vm.func @other() -> () {
  %r5 = vm.call @hal.device.queue.alloca(%r2, %i16, %r1, %r0, %i6, %i4, %i3, %i8, %i6)
}
"""
    assert [(name, found) for name, found in disassembled(text.splitlines()) if found] == [
        ("main", [("r5", 512, False), ("r7", 1024, False), ("r7", None, True), ("r0", None, False)]),
        ("other", [("r5", None, False)]),
    ]
