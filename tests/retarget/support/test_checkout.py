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


def test_the_commit_of_a_checkout_and_what_it_has_of_a_file(git: Git) -> None:
    file = Path.cwd() / "suites/a.mlir"
    suites = Checkout(file.parent)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    assert (Checkout(Path.cwd()).revision, suites.content("a.mlir")) == ("", None)
    for text in ("one", "two"):
        file.write_text(text)
        git("add", ".")
        git(*identity, "commit", "-m", text)
    revision = Checkout(Path.cwd()).revision
    assert (len(revision), suites.content("a.mlir"), suites.content("none")) == (40, "two", None)
    file.write_text("four")
    assert Checkout(Path.cwd()).revision == f"{revision}+"


def test_where_git_cannot_be_run_nothing_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    assert Checkout(tmp_path).revision == ""
