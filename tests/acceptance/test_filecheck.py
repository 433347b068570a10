"""Suites of kind `filecheck`, with the real compiler."""

from __future__ import annotations

import pytest
from acceptance_support import CPU, Project, suite
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
