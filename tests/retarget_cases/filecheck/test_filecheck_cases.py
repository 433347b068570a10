"""The case loader `filecheck`: the package's verdict, worded for who wrote the directive."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from retarget.extension import ArtifactRequest, CheckedCase, UnavailableError
from retarget.support import RetargetError, install_hint
from retarget_cases.filecheck.loader import FileCheckLoader

TEXT = """\
module {
  util.global private @device_a
  util.global private @device_b
  func.func @f() {
    %0 = flow.dispatch @f_dispatch_0::@f_dispatch_0_matmul(%arg0)
    return
  }
}
"""


def checked(source: str | bytes, *, text: str | bytes = TEXT, config: str = "llvm-cpu") -> CheckedCase:
    path = Path.cwd() / "a.mlir"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    artifact = text if isinstance(text, bytes) else text.encode()
    request = ArtifactRequest(module="sub/a", source=path, artifact=artifact, compiler=config)
    (case,) = FileCheckLoader().check(request)
    return case


def test_directives_that_hold_give_a_case_that_holds(cwd: Path) -> None:
    case = checked("// CHECK: @device_a\n// CHECK-NEXT: @device_b\n// LLVM-CPU: flow.dispatch\n// VULKAN: nothing\n")
    assert case == CheckedCase(name="FileCheck CHECK,LLVM-CPU,CHECK-LLVM-CPU")


def test_each_config_is_checked_with_its_own_directives(cwd: Path) -> None:
    source = "// LLVM-CPU: @device_a\n// VULKAN: @device_c\n"
    assert checked(source).summary == ""
    assert checked(source, config="vulkan").summary == 'a.mlir:2: Couldn\'t match "@device_c".'


def test_a_failure_shows_the_directive_the_place_and_the_nearest_text(cwd: Path) -> None:
    case = checked("func.func @f()\n// CHECK: @device_a\n// CHECK: %0 = flow.dispatch @f_dispatch_1::@matmul\n")
    assert case.summary == 'a.mlir:3: Couldn\'t match "%0 = flow.dispatch @f_dispatch_1::@matmul".'
    assert case.report.split("\n") == [
        'a.mlir:3: error: Couldn\'t match "%0 = flow.dispatch @f_dispatch_1::@matmul".',
        "// CHECK: %0 = flow.dispatch @f_dispatch_1::@matmul",
        "Current position at a_llvm-cpu.mlir:3:1",
        "  util.global private @device_b",
        "^",
        "Possible intended match at:",
        "a_llvm-cpu.mlir:5:5",
        "    %0 = flow.dispatch @f_dispatch_0::@f_dispatch_0_matmul(%arg0)",
        "    ^",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x needle " + "y" * 5000, ["1:3", f"x needle {'y' * 191}…", "  ^^^^^^"]),
        ("a\nneedles", ["2:1", "needles", "^^^^^^"]),
    ],
)
def test_a_line_is_shown_as_it_begins_and_whole_if_it_is_short(cwd: Path, text: str, shown: list[str]) -> None:
    case = checked("// CHECK-NOT: needle\n", text=text)
    assert case.report.split("\n")[2:] == [f"Matching at: a_llvm-cpu.mlir:{shown[0]}", *shown[1:]]


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        (
            "// VULKAN: a\n// CHECK-VMVX-NEXT: a\n",
            "nothing to check: a.mlir has no directive CHECK:, LLVM-CPU: or CHECK-LLVM-CPU:; it has VULKAN, CHECK-VMVX",
        ),
        ("func.func @f()\n", "nothing to check: a.mlir has no directive CHECK:, LLVM-CPU: or CHECK-LLVM-CPU:"),
        ("// RUN: x | FileCheck\n// COM: CHECK: a\n", None),
    ],
)
def test_a_source_without_directives_for_the_config_fails(cwd: Path, source: str, summary: str | None) -> None:
    found = checked(source).summary
    assert found.startswith("nothing to check: a.mlir has no directive")
    assert summary is None or found == summary


def test_misspelled_directives_fail_though_the_others_hold(cwd: Path) -> None:
    case = checked("// CHECK: @device_a\n// CHECK-NXT: @device_c\n// CHECK_DAG: @device_d\n")
    assert case.summary == "a.mlir:2: CHECK-NXT: is no directive; did you mean CHECK-NEXT:?"
    assert case.report.split("\n") == [
        "a.mlir:2: error: CHECK-NXT: is no directive; did you mean CHECK-NEXT:?",
        "a.mlir:3: error: CHECK_DAG: is no directive; did you mean CHECK-DAG:?",
    ]


@pytest.mark.parametrize(
    ("source", "summary"),
    [
        ("// CHECK: [[VALUE]]\n", "a.mlir:1: Variable VALUE referenced before assignment"),
        ("// CHECK: {{(}}\n", "a.mlir:1: Malformed regex expression: '('"),
        ("// CHECK: [[VALUE\n", "a.mlir:1: Invalid substitution block, no ]]"),
        ("// CHECK:\n", "a.mlir:1: found empty check string with prefix 'CHECK:'"),
        ("// CHECK: @device_[[#N:]]\n// CHECK: [[#N+1]]\n", None),
        ("// CHECK: {{[[:odd:]]}}\n", None),
    ],
)
def test_an_invalid_directive_fails_and_says_where(cwd: Path, source: str, summary: str | None) -> None:
    found = checked(source, text="@device_1 2\n").summary
    assert found
    if summary is not None:
        assert found == summary
    elif "odd" not in source:
        assert "Numerical substitutions not supported!" in found or found.startswith("a.mlir:")


def test_an_empty_text_holds_no_match(cwd: Path) -> None:
    assert checked("// CHECK: a\n", text="").summary == 'a.mlir:1: Couldn\'t match "a".'
    assert checked("// CHECK-NOT: a\n", text="\n").summary == "the compiler's output is empty, expected a text to check"


def test_an_artifact_that_is_no_text_is_refused_with_the_flag_that_gives_text(cwd: Path) -> None:
    with pytest.raises(RetargetError) as raised:
        checked("// CHECK: a\n", text=b"PK\x03\x04\0\0")
    assert str(raised.value) == (
        "the artifact is no text (6 bytes, beginning b'PK\\x03\\x04'): there is nothing to match; "
        'a suite of kind filecheck says up to where to compile: compiler_flags = ["--compile-to=flow"]'
    )


def test_a_source_that_is_no_text_is_refused(cwd: Path) -> None:
    with pytest.raises(
        RetargetError, match=r"^a\.mlir: found no text, so it can hold no directives; expected MLIR as text$"
    ):
        checked(b"ML\xefR\0")


def test_without_the_package_it_says_which_extra_provides_it(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match="the package filecheck is not installed") as raised:
        checked("// CHECK: a\n")
    assert raised.value.hint == install_hint("filecheck")


def test_a_source_that_is_not_there_is_an_error_that_names_it(cwd: Path) -> None:
    request = ArtifactRequest(module="a", source=cwd / "a.mlir", artifact=b"", compiler="cc")
    with pytest.raises(RetargetError, match=r"^a\.mlir: cannot be read: No such file or directory$"):
        FileCheckLoader().check(request)


def test_a_text_has_no_cases_to_run() -> None:
    request: Any = None
    assert FileCheckLoader().load(request) == ()
