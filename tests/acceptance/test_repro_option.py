"""`pytest --retarget-repro DIR`: bundles of what failed."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist

TYPO = """\
func.func @typo() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.addi %a, %a : tensor<2xf32>
  return
}
"""
RULE = """
[[expectation]]
match = "known"
stage = "compile"
reason = "a typo"
"""


@pytest.mark.slow
@alone_and_xdist()
def test_each_signature_has_a_bundle_of_its_smallest_failure(project: Project, arguments: tuple[str, ...]) -> None:
    project.cpu(typo=TYPO, again=TYPO, known=TYPO.replace("addi", "subi"))
    with (project.path / "suites" / "suite.toml").open("a") as file:
        file.write(RULE)
    result = project.run("--retarget-repro", "out", "-m", "compile", *arguments)
    assert result.ret == 1
    names = [path.name for path in (project.path / "out").iterdir()]
    assert names in (["linalg-typo_vmvx.tar.zst"], ["linalg-again_vmvx.tar.zst"])
    result.stdout.fnmatch_lines(
        [
            "bundles of 1 signature, in out:",
            f"  {names[0]}  reproduced once from the bundle alone: compile: 'arith.addi' op * (2 targets)",
        ]
    )


def test_a_folder_that_cannot_be_created_is_an_error_before_anything_runs(project: Project) -> None:
    project.doubles(bad="f: fail")
    result = project.run(*DOUBLES, "--retarget-repro", "matrix.toml/out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --retarget-repro: found */matrix.toml/out, expected a folder that can be written; *"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--retarget-repro", "matrix.toml"], "--retarget-repro: *matrix.toml is a file, expected a folder"),
        (
            ["--retarget-repro", "out", "--retarget-artifacts", "."],
            "--retarget-repro and --retarget-artifacts were both given; expected a session that compiles",
        ),
    ],
)
def test_wrong_use_is_refused_before_anything_runs(project: Project, arguments: list[str], message: str) -> None:
    project.doubles(good="f: pass")
    result = project.run(*DOUBLES, *arguments)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert not (project.path / "out").exists()
