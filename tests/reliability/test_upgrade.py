"""What the release before wrote is read, or refused with what to do: a cache, results, a history, a plan, a ladder,
exported artifacts, a bundle.

`release-0.2.0.tar.xz` is a project in which commit 85dc725 did this, with paths in the results replaced::

    retarget ci plan --event pr -o plan.json
    pytest --retarget-plan plan.json --retarget-leg build-linux-1 --retarget-results results --retarget-export out
    pytest --retarget-plan plan.json --retarget-leg run-linux-1 --retarget-results results --retarget-artifacts out
    pytest -k double --retarget-results all
    pytest -k double --retarget-changed --retarget-results all
    retarget history add --to history results
    retarget bringup vmvx --raise --results results
    retarget repro suite.toml::arithmetic::wrong_vmvx_local-sync -o wrong.tar.zst
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.results import Sessions
from retarget.results.export import ctrf, junit
from retarget.session import Store

ARCHIVE = Path(__file__).with_name("release-0.2.0.tar.xz")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_cache_is_used_on(project: Path) -> None:
    store = Store(project / "cache")
    keys = [path.name for path in (project / "cache/v1/entries").glob("*/*")]
    found = [store.lookup(key) for key in keys]
    sizes = [one.artifact.size for one in found if one is not None and one.artifact is not None]
    assert (sorted(sizes), store.notes) == ([7481, 7546], ())
    (resolution,) = (project / "cache/v1/resolutions").glob("*/*")
    assert store.read_resolution(resolution.name) is not None
    assert store.verify().removed == ()
    info = store.info()
    assert (info.entries, info.failures, info.artifacts, info.resolutions, info.results) == (2, 0, 2, 1, 0)


def test_results_are_read_those_of_targets_that_were_unchanged_too(project: Path) -> None:
    sessions = Sessions.read([project / "results", project / "all"])
    records = [record for session in sessions for record in session.records]
    assert len(sessions) == 4
    assert [(one.target, one.outcome) for one in records if one.unchanged] == [
        ("double_vmvx", "passed"),
        ("double_vmvx_local-sync", "passed"),
    ]
    assert b"wrong_vmvx_local-sync" in ctrf(sessions)
    assert b"values differ" in junit(sessions) or b"elements differ" in junit(sessions)


@pytest.mark.usefixtures("project")
def test_a_plan_is_to_be_written_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ci", "verify", "--plan", "plan.json", "--results", "results"]) == 1
    printed = capsys.readouterr().err
    assert "plan.json: found a plan of version 1, expected 2; write it again with `retarget ci plan`" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("project")
def test_a_ladder_holds_by_results_of_its_release(capsys: pytest.CaptureFixture[str]) -> None:
    """The digests of what is tried are those of that release: else every committed ladder would be stale."""
    assert main(["bringup", "vmvx", "--check", "--results", "results"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "bringup/vmvx.ladder holds"


@pytest.mark.usefixtures("project")
def test_a_history_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "list", "--from", "history"]) == 0
    assert "20261122T175444Z-4a4feacdcc97d2c7  2026-11-22 17:54  3     1" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_a_bundle_is_opened(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repro", "--open", "wrong.tar.zst"]) == 0
    assert "reproduced in 2 of 2 runs from the bundle alone: compare: values differ" in capsys.readouterr().out


@pytest.mark.slow
def test_exported_artifacts_run(project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    done = pytester.runpytest_subprocess(
        f"--rootdir={project}", project, "-m", "run", f"--retarget-artifacts={project / 'artifacts'}", timeout=300
    )
    done.assert_outcomes(passed=1, failed=1, deselected=2)


def test_a_line_of_a_store_in_another_form_counts_as_not_there(project: Path) -> None:
    """As a later release may write it: sealed, and of another form."""
    store = Store(project / "cache")
    key = "ab" * 32
    store.write_resolution(key, {"outcome": "of another form"})
    (project / "cache/v1/entries/ab").mkdir()
    (project / "cache/v1/resolutions/ab" / key).rename(project / "cache/v1/entries/ab" / key)
    assert store.lookup(key) is None
    lacks = "Object missing required field `diagnostics`"
    assert store.notes == (f"entry {key} is damaged: {lacks}; it was dropped and is created again",)
