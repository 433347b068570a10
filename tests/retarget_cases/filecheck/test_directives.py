"""Which directives are meant for a config, and which are misspelled."""

from __future__ import annotations

import pytest
from retarget_cases.filecheck.directives import directive_diagnostics, prefixes

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
        ("// CHECK NOT: a", "CHECK is no directive without a colon right after it; write CHECK:"),
        ("// CHECK : a", "CHECK is no directive without a colon right after it; write CHECK:"),
        ("// CHECKNEXT: a", "CHECKNEXT: is no directive; did you mean CHECK-NEXT:?"),
        ("// LLVM-CPUCOUNT-2: a", "LLVM-CPUCOUNT-2: is no directive; did you mean LLVM-CPU-COUNT-2:?"),
        ("// CHECK{LITREAL}: a", "CHECK{LITREAL}: is no directive; FileCheck has the modifier {LITERAL} only"),
        ("// CHEK-NEXT: a", "CHEK-NEXT: is no directive; did you mean CHECK-NEXT:?"),
        ("// CHCEK: a", "CHCEK: is no directive; did you mean CHECK:?"),
    ],
)
def test_a_misspelled_directive_is_an_error(line: str, message: str) -> None:
    diagnostics = directive_diagnostics(f"func.func @f()\n{line}\n", MINE)
    assert diagnostics == [(2, message)]


KNOWN = ("CHECK", *(word for name in ("LLVM-CPU", "VMVX", "VULKAN-1.1") for word in (name, f"CHECK-{name}")))
THERE = "is the directive of no compiler config; there is CHECK, LLVM-CPU, VMVX, VULKAN-1.1"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("// LLVM-CUP: a", "LLVM-CUP: is the directive of no compiler config; did you mean LLVM-CPU:?"),
        ("// LLVM_CPU: a", "LLVM_CPU: is the directive of no compiler config; did you mean LLVM-CPU:?"),
        ("// LVM-CPU-NEXT: a", "LVM-CPU-NEXT: is the directive of no compiler config; did you mean LLVM-CPU-NEXT:?"),
        ("// VMXV-COUNT-2: a", "VMXV-COUNT-2: is the directive of no compiler config; did you mean VMVX-COUNT-2:?"),
        ("// CHECK-VMXV: a", "CHECK-VMXV: is the directive of no compiler config; did you mean CHECK-VMVX:?"),
        (
            "%0 = a : b // CHECK-VULKAN-1.2-SAME: a",
            "CHECK-VULKAN-1.2-SAME: is the directive of no compiler config; did you mean CHECK-VULKAN-1.1-SAME:?",
        ),
        ("// vmvx-NEXT: a", "vmvx-NEXT: is no directive; did you mean VMVX-NEXT:?"),
        ("// ROCM-NEXT: a", f"ROCM-NEXT: {THERE}"),
        ("// CHECK-ROCM-LABEL: a", f"CHECK-ROCM-LABEL: {THERE}"),
        ("// CHECK-NXT: a", "CHECK-NXT: is no directive; did you mean CHECK-NEXT:?"),
    ],
)
def test_what_looks_like_a_directive_of_a_config_that_there_is_not_is_an_error(line: str, message: str) -> None:
    diagnostics = directive_diagnostics(f"func.func @f()\n{line}\n", MINE, KNOWN)
    assert diagnostics == [(2, message)]


@pytest.mark.parametrize(
    "line",
    [
        "// CHECK: a",
        "// CHECK-COUNT-3: a",
        "// CHECK-DAG{LITERAL}: [[a]]",
        "// CHECK-LLVM-CPU-EMPTY:",
        "// CHECK that a : b is formed.",
        "// CHECKED: a",
        "// RUN: iree-opt %s | FileCheck %s --check-prefix=CHECK-NXT",
        "// CHECK: a // CHECK-NXT: b",
        "// VMVX: a",
        "// CHECK-VMVX-NEXT: a",
        "// ROCM: a",
        "// CHECK-ROCM-GFX942: a",
        "// NOTE: a",
        "// NOTE-NEXT: a",
        "// TODO: a",
        "// FIXME(me): a",
        "// Do-NOT: a",
        "// vmvx: is slow at this.",
        "// see https://example.org/LLVM-CUP:",
        "// COM: LLVM-CUP-NEXT: a",
        "// LLVM-CUP is a misspelling.",
        "util.global @LLVM-CUP : i32",
    ],
)
def test_what_may_be_prose_or_for_a_config_elsewhere_is_none(line: str) -> None:
    assert directive_diagnostics(line, MINE, KNOWN) == []
