"""Sessions on several machines with a store that they share."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist


@pytest.fixture
def share(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = project.path / "share"
    folder.mkdir()
    monkeypatch.setenv("RETARGET_REMOTE_STORE", str(folder))
    return folder


def entries(share: Path) -> int:
    return len(list((share / "v1").glob("entries/*/*")))


@pytest.mark.slow
@alone_and_xdist(in_ci=False)
def test_a_second_machine_compiles_nothing(project: Project, share: Path, arguments: tuple[str, ...]) -> None:
    project.doubles(one="f: pass", two="f: pass", no="compile: fail")
    first = project.run(*DOUBLES, *arguments, "--retarget-cache-dir", "first")
    first.stdout.fnmatch_lines(["compiled 3, reused 0; *", "0 *outcomes from the shared store, * uploaded (* KiB)"])
    assert entries(share) == 3

    second = project.run(*DOUBLES, *arguments, "--retarget-cache-dir", "second")

    second.stdout.fnmatch_lines(["compiled 0, reused 3 *", "* outcomes from the shared store (*)"])
    assert second.parseoutcomes() == first.parseoutcomes()
    second.stdout.no_fnmatch_line("note: *")


@pytest.mark.slow
def test_a_store_that_is_not_there_is_noted_once_and_costs_no_result(project: Project, share: Path) -> None:
    share.rmdir()
    project.doubles(one="f: pass", two="f: pass", three="f: pass", four="f: pass")

    result = project.run(*DOUBLES)

    result.assert_outcomes(passed=8)
    [note] = [line for line in result.outlines if line.startswith("note: ")]
    assert note.startswith(f"note: the shared store {share} was n")
    assert f": there is no folder {share}: create it, or mount what it is on; what it may have was made here" in note
    assert note.endswith("; 8 outcomes not uploaded; `retarget cache info` asks it again")


def test_a_mode_that_is_none_is_a_usage_error(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETARGET_REMOTE_STORE_MODE", "readonly")
    project.doubles(one="f: pass")

    result = project.run(*DOUBLES)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = "found RETARGET_REMOTE_STORE_MODE='readonly', expected 'read' or 'read-write'"
    result.stderr.fnmatch_lines([f"ERROR: {expected}"])
