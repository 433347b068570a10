"""What moved, and the history of a ladder file in git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from retarget.model import Rung
from retarget_bringup.ladder.files import Line, ladder_text
from retarget_bringup.status.text import log, moves_since_commit


def line(target: str, rung: Rung, digest: str = "0123456789ab") -> Line:
    return Line(target=target, rung=rung, digest=digest)


@pytest.fixture
def ladder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ladder file that git does not have yet, in a repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    subprocess.run(["git", "init", "--quiet"], check=True)
    (tmp_path / "bringup").mkdir()
    return tmp_path / "bringup" / "gpu.ladder"


def commit(ladder: Path, subject: str, *lines: Line) -> None:
    ladder.write_text(ladder_text("gpu", lines))
    by = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", *by, "commit", "--quiet", "--message", subject], check=True)


def test_what_moved_is_against_the_last_commit_whatever_is_in_the_file(ladder: Path) -> None:
    commit(ladder, "first ladder", line("a", Rung.LOADS))
    ladder.write_text(ladder_text("gpu", [line("a", Rung.MATCHES)]))
    found = moves_since_commit(ladder, [line("a", Rung.MATCHES)])
    assert found.subject == "first ladder"
    assert [one.target for one in found.up] == ["a"]


def test_without_a_commit_of_the_ladder_it_says_so(ladder: Path) -> None:
    assert moves_since_commit(ladder, []).unknown == "git has no committed bringup/gpu.ladder"


def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert moves_since_commit(tmp_path / "gpu.ladder", []).unknown == "git has no committed gpu.ladder"
    assert log(tmp_path / "gpu.ladder", 10, {}) == ()


def test_the_log_has_each_commit_with_what_it_moved_the_newest_first(ladder: Path) -> None:
    driver = line("driver:gpu::fills", Rung.TRANSFERS)
    commit(ladder, "first ladder", line("a", Rung.LOADS), line("b", Rung.MATCHES), driver)
    commit(ladder, "a rises", line("a", Rung.MATCHES), line("c", Rung.NONE), driver)
    newest, oldest = log(ladder, 10, {})
    assert (oldest.subject, oldest.new, oldest.targets, oldest.percentage) == ("first ladder", 2, 2, 50.0)
    assert (newest.subject, newest.up, newest.down, newest.new, newest.gone) == ("a rises", 1, 0, 1, 1)
    assert log(ladder, 1, {}) == (newest,)
    assert log(ladder, 1, {"c": Rung.NONE})[0].percentage == 100.0


def test_a_commit_whose_ladder_cannot_be_read_is_named_and_the_others_are_shown(ladder: Path) -> None:
    commit(ladder, "first ladder", line("a", Rung.LOADS))
    ladder.write_text("nonsense\n")
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "damage"], check=True)
    commit(ladder, "mended", line("a", Rung.MATCHES))
    mended, damaged, _ = log(ladder, 10, {})
    assert damaged.error.startswith("bringup/gpu.ladder:1: found 'nonsense'")
    assert (mended.subject, mended.up) == ("mended", 1)
