"""`retarget cache`: what is kept, its removal, its verification."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import pytest
from data_errors import error_of
from retarget.cli.artifacts import cache as cli_cache
from retarget.model.outcomes import Failure, Stage
from retarget.session.cache.key import digest_of
from retarget.session.cache.store import Store
from retarget.support.scratch import hold_lock

KEY = digest_of(b"key")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = Store(tmp_path / "cache")
    store.put_artifact(KEY, b"x" * 2048, suffix=".up", seconds=1, diagnostics="")
    failure = Failure(stage=Stage.COMPILE, summary="no")
    store.put_failure(digest_of(b"other"), failure, seconds=1, diagnostics="")
    return store.folder


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    cli_cache.add_arguments(parser)
    return cli_cache.run(parser.parse_args(arguments))


def test_clear_empties_the_cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = Store(folder).info().size
    assert run("clear", "--cache-dir", str(folder)) == 0
    assert capsys.readouterr().out == f"{folder}: {size / 1024:.1f} KiB freed\n"
    assert Store(folder).info().entries == 0


def test_verify_passes_a_sound_cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("verify", "--cache-dir", str(folder)) == 0
    assert capsys.readouterr().out == f"{folder}: 3 files checked, 0 removed\n"


def test_verify_names_what_it_removes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (artifact,) = (folder / "v1" / "artifacts").rglob("*.up")
    artifact.write_bytes(b"x")
    assert run("verify", "--cache-dir", str(folder)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{artifact}: its content has SHA-256 {digest_of(b'x')}"
    assert lines[2] == f"{folder}: 3 files checked, 2 removed"
    assert run("verify", "--cache-dir", str(folder)) == 0


def test_generated_modules_and_leftovers_are_shown_and_cleared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = folder / "made"
    for name in ("words-1", "words-2", ".new-words-3"):
        (made / name).mkdir(parents=True)
        (made / name / "a.txt").write_text("x" * 1024)
    run("info", "--cache-dir", str(folder))
    assert (
        "generated    words-1: 1.0 KiB\n"
        "generated    words-2: 1.0 KiB\n"
        "leftovers    1 (files and folders of killed sessions, removed once a day)\n"
        "size         "
    ) in capsys.readouterr().out
    lock = hold_lock(made / ".words-2.lock", shared=True)
    assert lock is not None
    with lock:
        run("clear", "--cache-dir", str(folder))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["leftovers of killed sessions removed: 1", "words-2 is kept: a running session uses it"]
    assert [path.name for path in made.iterdir() if path.is_dir()] == ["words-2"]


@pytest.mark.parametrize(("mode", "said"), [("read", "only read"), ("read-write", "read and written")])
def test_info_says_how_the_shared_store_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mode: str, said: str
) -> None:
    monkeypatch.setenv("RETARGET_REMOTE_STORE", str(folder.parent))
    monkeypatch.setenv("RETARGET_REMOTE_STORE_MODE", mode)
    run("info", "--cache-dir", str(folder))
    assert capsys.readouterr().out.endswith(f"\nshared store {folder.parent} (answers; {said})\n")


@pytest.mark.parametrize("action", ["info", "clear", "verify"])
def test_a_file_in_the_folders_place_is_refused(tmp_path: Path, action: str) -> None:
    (tmp_path / "file").touch()
    expected = "is a file; expected a folder: give another with --cache-dir"
    expected = f"the cache folder {tmp_path / 'file'} {expected}"
    assert error_of(run, action, "--cache-dir", str(tmp_path / "file")) == expected
