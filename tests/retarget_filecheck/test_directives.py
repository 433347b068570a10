"""Which directives are meant for a config, and which are misspelled."""

from __future__ import annotations

import pytest
from retarget_filecheck.directives import directive_faults, other_prefixes, prefixes

MINE = prefixes("llvm-cpu")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("llvm-cpu", ("CHECK", "LLVM-CPU", "CHECK-LLVM-CPU")),
        ("vulkan-1.1-mali", ("CHECK", "VULKAN-1.1-MALI", "CHECK-VULKAN-1.1-MALI")),
        ("check", ("CHECK", "CHECK-CHECK")),
        ("next", ("CHECK", "NEXT")),
        ("run", ("CHECK", "CHECK-RUN")),
    ],
)
def test_a_config_is_checked_with_its_name_in_capitals(config: str, expected: tuple[str, ...]) -> None:
    assert prefixes(config) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("// CHECK-NXT: a", "CHECK-NXT: is no directive; did you mean CHECK-NEXT:?"),
        ("  // CHECK-next: a", "CHECK-next: is no directive; did you mean CHECK-NEXT:?"),
        ("// CHECK_NEXT: a", "CHECK_NEXT: is no directive; did you mean CHECK-NEXT:?"),
        ("// LLVM-CPU-LABLE: a", "LLVM-CPU-LABLE: is no directive; did you mean LLVM-CPU-LABEL:?"),
        ("// CHECK-LLVM-CPU-DAGS: a", "CHECK-LLVM-CPU-DAGS: is no directive; did you mean CHECK-LLVM-CPU-DAG:?"),
        ("%0 = a : b  // CHECK-NTO: a", "CHECK-NTO: is no directive; did you mean CHECK-NOT:?"),
        ("// CHECK-COUNT: a", "CHECK-COUNT: is no directive; write how often, as in CHECK-COUNT-2:"),
        ("// CHECK-COUNT-x: a", "CHECK-COUNT-x: is no directive; write how often, as in CHECK-COUNT-2:"),
        ("// CHECK-NOT-NEXT: a", "CHECK-NOT-NEXT: is no directive; a prefix takes one suffix only"),
        ("// CHECK-NEXT a", "CHECK-NEXT is no directive without a colon right after it; write CHECK-NEXT:"),
        ("// CHECK-NEXT : a", "CHECK-NEXT is no directive without a colon right after it; write CHECK-NEXT:"),
        ("// CHECK{LITREAL}: a", "CHECK{LITREAL}: is no directive; FileCheck has the modifier {LITERAL} only"),
        ("// CHEK-NEXT: a", "CHEK-NEXT: is no directive; did you mean CHECK-NEXT:?"),
        ("// CHCEK: a", "CHCEK: is no directive; did you mean CHECK:?"),
    ],
)
def test_a_misspelled_directive_is_a_fault(line: str, message: str) -> None:
    faults = directive_faults(f"func.func @f()\n{line}\n", MINE)
    assert [(fault.line, fault.message) for fault in faults] == [(2, message)]


@pytest.mark.parametrize(
    "line",
    [
        "// CHECK: a",
        "// CHECK-COUNT-3: a",
        "// CHECK{LITERAL}: [[a]]",
        "// CHECK-DAG{LITERAL}: [[a]]",
        "// LLVM-CPU-SAME: a",
        "// CHECK-LLVM-CPU-EMPTY:",
        "// VULKAN-NEXT: a",
        "// CHECK-VULKAN: a",
        "// CHECK-VULKAN-NEXT: a",
        "// CHECK-ROCM-GFX942: a",
        "// CHECK that a dispatch is formed.",
        "// Check: prose.",
        "// COM: CHECK-NXT: a",
        "// RUN: iree-opt %s | FileCheck %s --check-prefix=CHECK-NXT",
        "// CHECK: a // CHECK-NXT: b",
        "// TODO: a",
        "util.global @CHECK-NXT : i32",
    ],
)
def test_directives_prose_and_what_is_for_other_configs_are_no_faults(line: str) -> None:
    assert directive_faults(line, MINE) == ()


def test_what_is_there_for_others_is_told() -> None:
    source = "// VULKAN: a\n// CUDA-SM-80-NEXT: b\n// LLVM-CPU: c\n// VULKAN-COUNT-2: d\n// note: e\n// RUN: f\n"
    assert other_prefixes(source, MINE) == ("VULKAN", "CUDA-SM-80")
