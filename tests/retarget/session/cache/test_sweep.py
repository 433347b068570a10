"""What killed sessions leave behind is removed by a later one, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from retarget.session.cache.folder import leftovers, sweep, sweep_daily
from retarget.session.cache.store import Store
from retarget.support.scratch import ScratchFolder, abandoned_folders, hold_lock, sweep_scratch


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def abandon() -> Path:
    """Leave a scratch folder behind, as a killed process does."""
    code = (
        "import os, signal; from retarget.support.scratch import ScratchFolder; folder = ScratchFolder('cache')\n"
        "(folder.path / 'file').touch(); print(folder.path, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return Path(done.stdout.strip())


def test_only_folders_of_killed_processes_are_swept(temporary: Path) -> None:
    left = abandon()
    (temporary / "retarget-checkout").mkdir()
    (temporary / "retarget-link").symlink_to(left)
    with ScratchFolder("cache") as folder:
        assert list(abandoned_folders()) == [left]
        assert sweep_scratch() == 1
        assert folder.path.is_dir()
    assert sorted(path.name for path in temporary.iterdir()) == ["retarget-checkout", "retarget-link"]


def test_a_cache_is_swept_once_a_day(tmp_path: Path, temporary: Path) -> None:
    store = Store(tmp_path / "cache")
    sweep_daily(store)
    assert not store.folder.exists()
    store.folder.mkdir()
    abandon()
    sweep_daily(store)
    assert list(temporary.iterdir()) == []
    left = abandon()
    sweep_daily(store)
    assert list(leftovers(store)) == [left]
    marker = store.folder / "v1" / "swept"
    os.utime(marker, (1, 1))
    lock = hold_lock(marker)
    assert lock is not None
    with lock:  # another process sweeps
        sweep_daily(store)
        assert left.is_dir()
    sweep_daily(store)
    assert not left.exists()


def test_sweeping_a_cache_counts_what_it_removes(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    store.put_artifact("ab" * 32, b"x", suffix=".up", seconds=0, diagnostics="")
    half = store.folder / "v1" / "entries" / "ab" / ".new-1-half"
    half.touch()
    os.utime(half, (1, 1))
    (store.folder / "made" / ".gone-words-1").mkdir(parents=True)
    assert sweep(store) == 2
    assert leftovers(store) == ()
    assert store.info().entries == 1


def test_a_cache_that_cannot_be_written_is_nobodys_error(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    sweep_daily(Store(tmp_path / "cache"))


def test_a_lock_is_shared_or_exclusive_and_ends_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        hold_lock(path, shared=True) or pytest.fail("not free"),
        hold_lock(path, shared=True) or pytest.fail("not shared"),
    ):
        assert hold_lock(path, wait=False) is None
    exclusive = hold_lock(path, wait=False)
    assert exclusive is not None
    assert hold_lock(path, shared=True, wait=False) is None
    exclusive.delete()
    exclusive.release()
    assert not path.exists()
    with hold_lock(path, wait=False) or pytest.fail("not free"):
        assert path.exists()


def test_a_lock_whose_file_was_deleted_meanwhile_is_taken_anew(tmp_path: Path) -> None:
    """The waiter must not hold the lock of a file that nobody else can find."""
    path = tmp_path / "lock"
    first = hold_lock(path)
    assert first is not None
    code = "import sys; from pathlib import Path; from retarget.support.scratch import hold_lock\n"
    code += "print('waits', flush=True)\n"
    code += "lock = hold_lock(Path(sys.argv[1])); print(Path(sys.argv[1]).exists(), flush=True)"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as waiter:
        assert waiter.stdout is not None
        assert waiter.stdout.readline() == "waits\n"
        first.delete()
        assert waiter.stdout.readline() == "True\n"
