"""Which suites `retarget init` writes for modules with directives, and what `retarget check` says of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import compiler, suite, target
from retarget.cli import main
from retarget.extension import ModulesRequest, Suggestions
from retarget_cases.filecheck.loader import FileCheckLoader

RUN = "// RUN: iree-compile %s --compile-to="


def suggested(folder: Path, **modules: str) -> Suggestions:
    """Return what is suggested for modules; `a_mlir` is the file `a.mlir`."""
    files = [folder / name.replace("_", ".") for name in modules]
    for path, text in zip(files, modules.values(), strict=True):
        path.write_text(text)
    return FileCheckLoader().suggest_suites(ModulesRequest(folder=folder, files=tuple(files)))


def test_modules_with_directives_become_a_suite_for_each_phase(tmp_path: Path) -> None:
    found = suggested(
        tmp_path,
        flow_mlir=f"{RUN}flow | FileCheck %s\n// CHECK: stream.a\n",
        dialect_mlir="// CHECK: a\n// CHECK-NEXT: = flow.dispatch\n// CHECK: hal.device\n",
        vm_mlir=f"{RUN}vm \\\n// RUN: | FileCheck %s --check-prefixes=CHECK,VM\n// CHECK: vm.call\n",
        plain_mlir="func.func @f()\n",
        notes_txt="// CHECK: flow.dispatch\n",
    )
    assert found.left_out == ()
    assert [[path.name for path in one.files] for one in found.suites] == [["flow.mlir", "dialect.mlir"], ["vm.mlir"]]
    assert [(one.label, one.compiler_flags, one.compiles_only) for one in found.suites] == [
        ("flow", ("--compile-to=flow",), True),
        ("vm", ("--compile-to=vm",), True),
    ]
    assert [one.label for one in suggested(tmp_path, only_mlir="// CHECK: vm.call\n").suites] == [""]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            f"{RUN}flow | FileCheck %s --check-prefix=MINE\n// CHECK: a\n",
            "is checked with the prefix MINE; here it is CHECK or the compiler config's name",
        ),
        ("// CHECK: a\n// CHECK-NXT: b\n", "line 2: CHECK-NXT: is no directive; did you mean CHECK-NEXT:?"),
        (
            "// CHECK: vm.call\n// -----\n",
            "has several modules in one file (// -----); a suite takes one module per file",
        ),
        (
            "// CHECK: a\n",
            "has CHECK lines that do not show the phase to compile to; a suite needs one: --compile-to=PHASE",
        ),
        (
            "// RUN: iree-opt %s | FileCheck %s\n// CHECK: vm.call\n",
            "has a RUN line of iree-opt without one --compile-to=PHASE; a suite of kind filecheck needs a phase",
        ),
        (
            f"// RUN:\n{RUN}vm\n{RUN}flow\n// CHECK: a\n",
            "has a RUN line of iree-compile without one --compile-to=PHASE; a suite of kind filecheck needs a phase",
        ),
    ],
)
def test_a_module_whose_phase_or_prefix_is_not_known_is_left_out(tmp_path: Path, text: str, reason: str) -> None:
    found = suggested(tmp_path, a_mlir=text)
    assert found.suites == ()
    assert found.left_out == ((tmp_path / "a.mlir", reason),)


def test_a_module_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directive = "// CHECK: vm.call\n"
    monkeypatch.setattr("retarget_cases.filecheck.loader._LARGEST", len(directive))  # 16 MiB take seconds
    assert len(suggested(tmp_path, a_mlir=directive).suites) == 1
    assert suggested(tmp_path, a_mlir=directive + "\n").suites == ()


def test_check_reports_misspelled_directives_with_their_lines(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cwd / "matrix.toml").write_text("root = true\n" + compiler("cc") + target("all", "cc", []))
    (cwd / "suite.toml").write_text(suite("texts", "*.mlir", "filecheck"))
    (cwd / "a.mlir").write_text("func.func @f()\n// CHECK-NXT: a\n")
    (cwd / "b.mlir").write_bytes(b"ML\xefR\0")
    assert main(["check", "."]) == 1
    said = capsys.readouterr().err
    assert "a.mlir:2: CHECK-NXT: is no directive; did you mean CHECK-NEXT:?\n" in said
    assert "b.mlir: found no text, so it can hold no directives; expected MLIR as text\n" in said
