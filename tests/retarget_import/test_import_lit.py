"""Lit tests of BUILD files become suites of the kind `filecheck`; others are named and left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from build_files import FIRST, MODULE, import_here, targets, write
from retarget.model import RunTarget

LIT = """
iree_lit_test_suite(
    name = "lit",
    srcs = {sources},
    cfg = "//tests:lit.cfg.py",
    tags = ["hostonly"],
    tools = ["//tools:iree-opt", "@llvm-project//llvm:FileCheck"],
)
"""
OPT = "// RUN: iree-opt --split-input-file {} %s | FileCheck %s\n// CHECK: @f\n" + MODULE


def test_lit_tests_become_filecheck_suites(cwd: Path) -> None:
    write(cwd, LIT.format(sources='["cse.mlir", "flow.mlir", "fold.mlir"]') + FIRST, "a.mlir", "b.mlir")
    Path("cse.mlir").write_text(OPT.replace("{}", "--pass-pipeline='builtin.module(func.func(cse))'"))
    Path("fold.mlir").write_text(OPT.replace("{}", "\\\n// RUN:   --canonicalize"))
    flags = "--compile-to=flow --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu"
    Path("flow.mlir").write_text(f"// RUN: iree-compile {flags} %s -o - | FileCheck %s --check-prefix=CHECK\n")
    assert import_here() == 0
    assert {t.name: t.flags for t in targets(cwd) if not isinstance(t, RunTarget) and t.kind == "filecheck"} == {
        "cse_iree-opt": ("--split-input-file", "--pass-pipeline=builtin.module(func.func(cse))"),
        "fold_iree-opt": ("--split-input-file", "--canonicalize"),
        "flow_llvm-cpu": (*flags.split()[1:], "--compile-to=flow"),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MODULE, "it has 0 RUN lines; one is taken over"),
        (OPT.replace("{}", "") * 2, "it has 2 RUN lines; one is taken over"),
        (
            OPT.replace("iree-opt", "iree-run-mlir"),
            "its RUN line is iree-run-mlir …; iree-opt or iree-compile piped into FileCheck is taken over",
        ),
        ("// RUN: iree-opt %s 2>&1 | FileCheck %s\n", "its RUN line has 2; flags and one %s are taken over"),
        ("// RUN: iree-opt %s > %t | FileCheck %s\n", "its RUN line has >; flags and one %s are taken over"),
        ("// RUN: iree-opt 'x %s | FileCheck %s\n", "its RUN line cannot be split into words: No closing quotation"),
        ("// RUN: iree-opt --x=%S/a %s | FileCheck %s\n", "its RUN line has --x=%S/a; flags and one %s are taken over"),
        (
            "// RUN: iree-opt --x=$HOME %s | FileCheck %s\n",
            "its RUN line has --x=$HOME; flags and one %s are taken over",
        ),
        ("// RUN: iree-opt a.mlir | FileCheck %s\n", "its RUN line has a.mlir; flags and one %s are taken over"),
        (
            "// RUN: iree-opt %s | FileCheck %s --check-prefix=OTHER\n",
            "its FileCheck has --check-prefix=OTHER; the prefix CHECK and no other option is taken over",
        ),
        (
            "// RUN: iree-compile %s | FileCheck %s\n",
            "its RUN line is iree-compile without --compile-to=PHASE, whose output is no text",
        ),
        ("// XFAIL: *\n" + OPT.replace("{}", ""), "it has the line XFAIL: *, which is not taken over"),
        ("// REQUIRES: gpu\n" + OPT.replace("{}", ""), "it has the line REQUIRES: gpu, which is not taken over"),
    ],
)
def test_other_run_lines_are_named_and_left_out(
    cwd: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    write(cwd, LIT.format(sources='["cse.mlir"]') + FIRST, "a.mlir", "b.mlir")
    Path("cse.mlir").write_text(text)
    assert import_here() == 0
    assert f"left out: BUILD.bazel:10: cse.mlir of lit: {reason}\n" in capsys.readouterr().out


def test_arguments_of_lit_rules_without_a_place_and_calls_without_sources_are_named(
    cwd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lit = LIT.format(sources='glob(["*.mlirr"])').replace("    cfg", '    args = ["-v"],\n    cfg')
    write(cwd, lit + FIRST, "a.mlir", "b.mlir")
    assert import_here() == 0
    assert (
        "left out: BUILD.bazel:10: all of lit: it has no sources, as of a glob that matches nothing\n"
        "left out: BUILD.bazel:10: the arguments args of lit: they are not taken over\n"
    ) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"// \xff\n", "it is no text"), (None, "No such file or directory")],
    ids=["binary", "gone"],
)
def test_a_module_that_cannot_be_read_is_left_out_with_the_reason(
    cwd: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, reason: str
) -> None:
    write(cwd, LIT.format(sources='["cse.mlir"]') + FIRST, "a.mlir", "b.mlir")
    if content is not None:
        Path("cse.mlir").write_bytes(content)
    assert import_here() == 0
    assert f"left out: BUILD.bazel:10: cse.mlir of lit: it cannot be read: {reason}\n" in capsys.readouterr().out
