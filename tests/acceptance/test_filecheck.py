"""Suites of kind `filecheck`, with the real compiler."""

from __future__ import annotations

from acceptance_support import CPU, Project, suite

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


def texts(project: Project, flags: str = FLOW, **modules: str) -> None:
    project.write({"matrix.toml": CPU, "suites/suite.toml": suite("text", kind="filecheck") + flags})
    project.write({f"suites/{name}.mlir": text for name, text in modules.items()})


def test_a_text_that_holds_passes_and_there_is_nothing_to_run(project: Project) -> None:
    texts(project, holds=HOLDS)
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 suite, 1 compile target, 0 run targets*"])
