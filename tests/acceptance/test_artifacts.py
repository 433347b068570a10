"""Compile on a build host, run on a device host."""

from __future__ import annotations

import shutil

import pytest
from acceptance_support import DOUBLES, Project
from mlir_modules import DIFFERS, GOOD, REFUSED
from session_output import block, commands


@pytest.fixture
def exported(project: Project) -> Project:
    """`one` and `two` compiled and `three` refused on the build host; its cache does not come along."""
    project.cpu(one=GOOD, two=DIFFERS, three=REFUSED)
    result = project.run("-m", "compile", "--retarget-export", "out", "--retarget-cache-dir", "build-host")
    result.assert_outcomes(passed=2, failed=1, deselected=6)
    assert "artifacts exported to ~/out, for --retarget-artifacts" in result.outlines
    shutil.rmtree(project.path / "build-host")
    return project


@pytest.mark.slow
def test_artifacts_made_elsewhere_run_and_nothing_is_compiled(exported: Project) -> None:
    result = exported.run("--retarget-artifacts", "out", "--retarget-cache-dir", "device-host", "-rs")
    result.stdout.fnmatch_lines(["*2 failed, 2 passed, 3 skipped, 2 blocked in *"])
    folder = exported.path / "out"
    reason = f"not compiled: --retarget-artifacts takes artifacts from {folder}"
    assert f"SKIPPED [3] suites/suite.toml:1: {reason}" in result.outlines
    result.stdout.fnmatch_lines(["blocked: it was not compiled where the artifacts come from: compile: *arith.addi*"])
    assert not (exported.path / "device-host" / "v1" / "artifacts").exists()
    pasted = commands(block(result, "linalg: two_vmvx_sync"))
    assert len(pasted) == 2
    assert pasted[0] == f"cd {exported.path}"
    assert "--artifact=out/linalg/two_vmvx.vmfb" in pasted[1]


@pytest.mark.slow
def test_what_was_not_compiled_elsewhere_is_an_error_where_it_is_required(exported: Project) -> None:
    result = exported.run("--retarget-artifacts", "out", "-m", "local-sync", "--retarget-require", "local-sync")
    result.assert_outcomes(passed=1, failed=2, deselected=6)
    first, last = block(result, "linalg: three_vmvx_sync")
    assert first.startswith("it was not compiled where the artifacts come from: compile: error: 'arith.addi'")
    assert last == "--retarget-require 'local-sync' does not let this target be skipped"


@pytest.mark.slow
def test_a_missing_artifact_is_an_error_that_names_the_file_and_how_to_make_it(exported: Project) -> None:
    (exported.path / "out" / "linalg" / "one_vmvx.json").unlink()
    result = exported.run("--retarget-artifacts", "out", "suites/one.mlir", "-m", "local-sync")
    result.assert_outcomes(failed=1, deselected=2)
    text = "\n".join(block(result, "linalg: one_vmvx_sync"))
    assert str(exported.path / "out" / "linalg" / "one_vmvx.json") in text
    assert "--retarget-export" in text


@pytest.mark.parametrize("behaviour", ["fail-1", "crash-1"])
@pytest.mark.slow
def test_a_compile_that_passes_when_it_is_tried_again_is_exported(project: Project, behaviour: str) -> None:
    project.doubles(shaky=f"compile: {behaviour}\nf: pass")
    stage = "crash" if behaviour.startswith("crash") else "compile"
    rule = f'[[expectation]]\nmatch = "shaky"\nstage = "{stage}"\noutcome = "flaky"\nretries = 1\nreason = "known"\n'
    project.write({"suites/expectations.toml": rule})
    doubles = DOUBLES
    assert project.run(*doubles, "-m", "compile", "--retarget-export", "out").ret == 0
    result = project.run(*doubles, "--retarget-artifacts", "out")
    result.assert_outcomes(passed=1, skipped=1)


@pytest.mark.slow
def test_an_artifact_of_other_flags_is_an_error_that_names_them(exported: Project) -> None:
    matrix = exported.path / "matrix.toml"
    matrix.write_text(matrix.read_text().replace("flags = [", 'flags = ["--iree-opt-level=O3", '))
    result = exported.run("--retarget-artifacts", "out", "suites/one.mlir", "-m", "local-sync")
    result.assert_outcomes(failed=1, deselected=2)
    [line] = block(result, "linalg: one_vmvx_sync")
    assert line == (
        f"the artifact of one_vmvx in {exported.path / 'out'} was compiled with other flags (here, not there: "
        "--iree-opt-level=O3); export it again with --retarget-export"
    )


@pytest.mark.slow
def test_exporting_under_xdist_writes_what_one_process_writes(exported: Project) -> None:
    expected = {path.relative_to(exported.path / "out") for path in (exported.path / "out").rglob("*")}
    exported.run("-n2", "-m", "compile", "--retarget-export", "again")
    assert {path.relative_to(exported.path / "again") for path in (exported.path / "again").rglob("*")} == expected
