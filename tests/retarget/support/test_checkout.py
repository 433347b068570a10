"""What git knows of a folder: whether all that belongs to it is there."""

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


def sources() -> list[Path]:
    return sorted((Path.cwd() / "suites").rglob("*.mlir"))


@pytest.mark.usefixtures("git")
def test_a_tracked_file_that_is_not_there_is_named() -> None:
    Path("suites/deep/b.mlir").unlink()
    expected = "1 tracked file is not checked out, such as suites/deep/b.mlir"
    assert Checkout(Path.cwd() / "suites").incomplete(sources()) == expected
    Path("suites/a.mlir").unlink()
    assert (
        Checkout(Path.cwd() / "suites")
        .incomplete(())
        .startswith("2 tracked files are not checked out, such as suites/a.mlir")
    )


def test_a_removed_file_does_not_belong_there_any_more(git: Git) -> None:
    git("rm", "--quiet", "-f", "suites/deep/b.mlir")
    assert Checkout(Path.cwd() / "suites").incomplete(sources()) == ""


def test_a_submodule_is_there_once_its_folder_has_something(git: Git) -> None:
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},suites/sub")
    Path("suites/sub").mkdir()
    assert "not checked out, such as suites/sub" in Checkout(Path.cwd() / "suites").incomplete(sources())
    Path("suites/sub/file").touch()
    assert Checkout(Path.cwd() / "suites").incomplete(sources()) == ""


def test_a_sparse_checkout_is_not_complete(git: Git) -> None:
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-m", "all")
    git("sparse-checkout", "set", "--no-cone", "/suites/a.mlir")
    assert [source.name for source in sources()] == ["a.mlir"]
    assert "not checked out, such as suites/deep/b.mlir" in Checkout(Path.cwd() / "suites").incomplete(sources())


@pytest.mark.usefixtures("git")
def test_modules_that_git_does_not_track_come_from_elsewhere_and_others_may_be_missing() -> None:
    Path("suites/new.mlir").write_text("")
    expected = "git does not track all modules, such as suites/new.mlir"
    assert Checkout(Path.cwd() / "suites").incomplete(sources()) == expected


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
    assert Checkout(tmp_path).incomplete(()).startswith("git does not know which files belong to ")
