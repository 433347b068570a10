"""What git knows of a folder and of its files."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from retarget.support.checkout import Checkout

Git = Callable[..., None]


@pytest.fixture
def git(cwd: Path) -> Git:
    """A repository in the current folder, whose index has `suites/a.mlir` and `suites/deep/b.mlir`."""

    def run(*words: str) -> None:
        subprocess.run(["git", *words], check=True, capture_output=True)

    run("init")
    for name in ("suites/a.mlir", "suites/deep/b.mlir"):
        file = cwd / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    run("add", ".")
    return run


@pytest.mark.parametrize(
    ("revision", "text"),
    [
        ("", ""),
        ("0123456789ab", "0123456789ab"),
        ("0123456789abcdef", "0123456789ab"),
        ("0123456789abcdef+", "0123456789ab+"),
        ("0123456789a+", "0123456789a+"),
    ],
)
def test_a_revision_is_shown_with_twelve_digits_and_its_plus(revision: str, text: str) -> None:
    assert Checkout.short(revision) == text


def test_the_commits_of_a_file_and_what_it_held(git: Git) -> None:
    file = Path.cwd() / "suites/a.mlir"
    suites = Checkout(file.parent)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    assert (Checkout(Path.cwd()).revision, suites.commits("a.mlir", 2), suites.content("a.mlir", "HEAD")) == (
        "",
        (),
        None,
    )
    for text in ("one", "two", "three"):
        file.write_text(text)
        git("add", ".")
        git(*identity, "commit", "-m", f"{text}: more\n\nnot this")
    assert [one.subject for one in suites.commits("a.mlir", 2)] == ["three: more", "two: more"]
    newest, before = suites.commits("a.mlir", 2)
    assert (len(newest.revision), len(newest.date), newest.date[4::3]) == (40, 10, "--")
    assert Checkout(Path.cwd()).revision == newest.revision
    assert (suites.content("a.mlir", before.revision), suites.content("a.mlir", "HEAD")) == ("two", "three")
    assert suites.content("none", "HEAD") is None
    assert Checkout(file.parent / "deep").commits("b.mlir", 9)[0].subject == "one: more"
    file.write_text("four")
    assert Checkout(Path.cwd()).revision == f"{newest.revision}+"


def test_where_git_cannot_be_run_nothing_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    assert Checkout(tmp_path).revision == ""
