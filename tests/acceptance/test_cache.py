"""A damaged cache mends itself and says so."""

from __future__ import annotations

import pytest
from acceptance_support import Project, alone_and_xdist
from mlir_modules import GOOD


@alone_and_xdist(1, in_ci=False)
@pytest.mark.slow
def test_a_damaged_artifact_is_compiled_again_with_a_note(project: Project, arguments: tuple[str, ...]) -> None:
    project.cpu(one=GOOD)
    project.run("--retarget-cache-dir", "kept", "-m", "compile").assert_outcomes(passed=1, deselected=2)
    [artifact] = (project.path / "kept").rglob("*.vmfb")
    artifact.write_bytes(artifact.read_bytes()[:50])
    result = project.run("--retarget-cache-dir", "kept", *arguments)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["note: *", "compiled 1, reused 0; *"])


def test_a_bound_of_the_cache_that_is_no_size_is_a_usage_error(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETARGET_CACHE_SIZE", "much")
    project.cpu(one=GOOD)
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: found RETARGET_CACHE_SIZE='much', expected a number of bytes, or one with K*"])


@pytest.mark.slow
def test_an_unusable_cache_folder_is_reported_once_and_blocks_what_needs_the_artifact(project: Project) -> None:
    project.cpu(one=GOOD)
    (project.path / "file").touch()
    result = project.run("--retarget-cache-dir", "file/below")
    assert result.parseoutcomes() == {"failed": 1, "blocked": 2}
    printed = "the cache folder */file/below cannot be used (Not a directory: *); give one that can be written with *"
    result.stdout.fnmatch_lines([printed])
