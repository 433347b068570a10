"""Locks of files: who holds one, who waits, and what is removed."""

from __future__ import annotations

import errno
import fcntl
from pathlib import Path

import pytest
from retarget.support.scratch import hold_existing, hold_lock, remove_unheld


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_only_one_holds_a_lock_alone_and_several_share_one(path: Path) -> None:
    with hold_lock(path) as first:  # type: ignore[union-attr]
        assert hold_lock(path, wait=False) is None
        assert hold_lock(path, shared=True, wait=False) is None
        assert hold_lock(path, wait=False, is_needed=False) is None
        first.release()
        first.release()
        with hold_lock(path, shared=True) as one, hold_lock(path, shared=True, wait=False) as two:  # type: ignore[union-attr]
            assert one is not two
            assert hold_lock(path, wait=False) is None
    found = hold_lock(path, is_needed=False)
    assert found is not None
    found.delete()
    assert not path.exists()


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        hold_lock(path)
    assert not (tmp_path / "elsewhere").exists()


def test_what_is_held_stays_and_what_is_not_is_removed(path: Path) -> None:
    assert hold_existing(path) is None
    assert remove_unheld(path)
    path.touch()
    with hold_existing(path):  # type: ignore[union-attr]
        assert not remove_unheld(path)
        assert path.exists()
    assert remove_unheld(path)
    assert not path.exists()


def test_without_locks_of_the_file_system_nothing_is_held(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.touch()
    error = errno.ENOLCK

    def refuse(*_: object) -> None:
        raise OSError(error, "no locks")

    monkeypatch.setattr(fcntl, "flock", refuse)
    found = hold_lock(path, is_needed=False)
    assert found is not None
    found.release()
    with pytest.raises(OSError, match="no locks"):
        hold_lock(path)
    existing = hold_existing(path)
    assert existing is not None
    existing.release()
    error = errno.EIO
    for take in (hold_lock, hold_existing, remove_unheld):
        with pytest.raises(OSError, match="no locks"):
            take(path)
    error = errno.ENOLCK
    assert remove_unheld(path)
    assert not path.exists()
