"""What moved since the committed ladder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from retarget.model import Rung
from retarget_bringup.ladder.files import Line, ladder_text
from retarget_bringup.status.text import moves_since_commit


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
