"""Suites of kind `filecheck`, with the real compiler."""

from __future__ import annotations

import pytest
from acceptance_support import CPU, Project, suite
from mlir_modules import GOOD
from retarget.cli import main
from session_output import block, commands, shell

FLOW = 'compiler_flags = ["--compile-to=flow"]\n'

HOLDS = """\
// VMVX: hal.executable.target<"vmvx"
// CHECK-LABEL: flow.executable private @add_dispatch_0
// CHECK: arith.addf
// VULKAN: never looked for
func.func @add(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %c = arith.addf %a, %b : tensor<3xf32>
  return %c : tensor<3xf32>
}
"""

DIFFERS = HOLDS.replace("CHECK: arith.addf", "CHECK: arith.mulf %in, %in_0")


def texts(project: Project, flags: str = FLOW, **modules: str) -> None:
    project.write({"matrix.toml": CPU, "suites/suite.toml": suite("text", kind="filecheck") + flags})
    project.write({f"suites/{name}.mlir": text for name, text in modules.items()})


def test_a_text_that_holds_passes_and_there_is_nothing_to_run(project: Project) -> None:
    texts(project, holds=HOLDS)
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 suite, 1 compile target, 0 run targets*"])


@pytest.mark.slow
def test_a_text_that_differs_fails_in_filechecks_words_and_the_command_gives_the_text(project: Project) -> None:
    texts(project, differs=DIFFERS)
    result = project.run()
    result.assert_outcomes(failed=1)
    lines = block(result, "text: differs_vmvx")
    assert lines[0] == 'compare: differs.mlir:3: Couldn\'t match "arith.mulf %in, %in_0".'
    assert lines[2:4] == [
        'suites/differs.mlir:3: error: Couldn\'t match "arith.mulf %in, %in_0".',
        "// CHECK: arith.mulf %in, %in_0",
    ]
    assert lines[4].startswith("Current position at differs_vmvx.mlir:")
    near = lines.index("Possible intended match at:")
    assert lines[near + 2].strip().startswith("%")
    assert "arith.addf %in, %in_0" in lines[near + 2]
    by_hand = commands(lines)
    assert len(by_hand) == 3
    assert "iree-compile" in by_hand[1]
    assert "--compile-to=flow" in by_hand[1]
    path = by_hand[1].split()[-1]
    assert path.endswith("differs_vmvx.mlir")
    assert shell([*by_hand[:2], f"cat {path}"]).stdout.startswith("module")
    assert by_hand[2].endswith(
        "-m retarget.worker.run_case --kind=filecheck --compilers=vmvx --tags=compile,text,vmvx,cpu "
        f"--artifact={path} suites/differs.mlir"
    )
    again = shell(by_hand)
    assert (again.returncode, again.stderr) == (1, "")
    assert again.stdout.splitlines()[0] == (
        "FileCheck CHECK,VMVX,CHECK-VMVX: failed at compare: suites/differs.mlir:3: error: "
        'Couldn\'t match "arith.mulf %in, %in_0".'
    )
    project.write({"suites/differs.mlir": HOLDS})
    assert shell(by_hand).stdout == "FileCheck CHECK,VMVX,CHECK-VMVX: passed\n"


@pytest.mark.slow
def test_a_modules_own_phase_replaces_the_suites(project: Project) -> None:
    override = '[[module_test_suite.module]]\nmatch = "*"\nflags = ["--compile-to=stream"]\n'
    texts(project, FLOW + override, holds=HOLDS.replace("flow.executable", "stream.executable"))
    project.run().assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_suite_that_names_no_phase_is_reported_so(project: Project) -> None:
    texts(project, "", holds=HOLDS)
    result = project.run()
    result.assert_outcomes(failed=1)
    lines = block(result, "text: holds_vmvx")
    assert lines[0].startswith("compare: the artifact is no text (")
    assert lines[0].endswith('compiler_flags = ["--compile-to=flow"]')


@pytest.mark.slow
def test_an_unknown_phase_fails_with_those_there_are(project: Project) -> None:
    texts(project, 'compiler_flags = ["--compile-to=flwo"]\n', holds=HOLDS)
    result = project.run()
    result.assert_outcomes(failed=1)
    head = block(result, "text: holds_vmvx")[0]
    assert head.startswith("compile: --compile-to=flwo: there is no phase 'flwo'; did you mean 'flow'?")
    assert "global-optimization" in head


@pytest.mark.slow
def test_a_source_without_directives_and_a_misspelled_one_fail(project: Project) -> None:
    texts(
        project, none=HOLDS.replace("CHECK", "COM").replace("VMVX", "CUDA"), typo=HOLDS.replace("CHECK:", "CHECK-NXT:")
    )
    result = project.run()
    result.assert_outcomes(failed=2)
    assert block(result, "text: none_vmvx")[0] == (
        "compare: nothing to check: suites/none.mlir has no directive CHECK:, VMVX: or CHECK-VMVX:; it has CUDA, VULKAN"
    )
    assert block(result, "text: typo_vmvx")[0].endswith(
        "typo.mlir:3: CHECK-NXT: is no directive; did you mean CHECK-NEXT:?"
    )


@pytest.mark.slow
def test_a_directive_of_a_config_that_there_is_not_fails_beside_others_that_hold(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    texts(project, typo=HOLDS + "// VMXV-NEXT: never looked for\n", other=HOLDS + "// CUDA-NEXT: likewise\n")
    result = project.run()
    result.assert_outcomes(failed=2)
    printed = [
        "VMXV-NEXT: is the directive of no compiler config; did you mean VMVX-NEXT:?",
        "CUDA-NEXT: is the directive of no compiler config; there is CHECK, VMVX",
    ]
    assert block(result, "text: typo_vmvx")[0] == f"compare: typo.mlir:9: {printed[0]}"
    assert block(result, "text: other_vmvx")[0] == f"compare: other.mlir:9: {printed[1]}"
    assert main(["check", str(project.path)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"suites/other.mlir:9: {printed[1]}",
        f"suites/typo.mlir:9: {printed[0]}",
    ]


@pytest.mark.slow
def test_text_in_a_suite_that_runs_is_refused_at_load(project: Project) -> None:
    project.write({"matrix.toml": CPU, "suites/suite.toml": suite() + FLOW, "suites/good.mlir": GOOD})
    result = project.run()
    result.assert_outcomes(passed=1, failed=2)
    lines = block(result, "linalg: good_vmvx_sync")
    assert lines[0] == "load: this is text and no module that the IREE runtime can load"
    assert any(line.startswith("hint: --compile-to=PHASE among the compiler's flags gives text") for line in lines)


@pytest.mark.slow
def test_directives_hold_under_xdist_too(project: Project) -> None:
    texts(project, holds=HOLDS, differs=DIFFERS)
    project.run("-n", "2").assert_outcomes(passed=1, failed=1)


@pytest.mark.slow
def test_a_text_may_be_expected_to_differ(project: Project) -> None:
    texts(project, holds=HOLDS, differs=DIFFERS)
    rules = """
        [[expectation]]
        match = "differs"
        stage = "compare"
        signature = "Couldn't match \\"arith.mulf %in, %in_0\\""
        reason = "it is written wrong"

        [[expectation]]
        match = "holds"
        stage = "compare"
        reason = "it is not"
    """
    project.write({"suites/expectations.toml": rules})
    result = project.run()
    result.assert_outcomes(xfailed=1, failed=1)
    assert block(result, "text: holds_vmvx")[0] == "expected to fail at compare, but passed"


WITHOUT = """\
import importlib.util

from retarget.extension import hookimpl

find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "filecheck" else find_spec(name, *more)


@hookimpl
def retarget_drivers():
    return ()
"""
"""An extension in whose processes the package `filecheck` is not to be found."""


@pytest.mark.slow
def test_without_the_package_texts_are_skipped_or_fail_where_they_are_required(project: Project) -> None:
    texts(project, holds=HOLDS)
    project.write({"without.py": WITHOUT})
    result = project.run("--retarget-extension", "without", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*the package filecheck is not installed"])
    result = project.run("--retarget-extension", "without", "--retarget-require", "vmvx")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pip install -e '*?filecheck?'*"])
