"""Temporary folders and files that clean up themselves."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from retarget.support import scratch
from retarget.support.scratch import ScratchFolder, keep_file, shared_folder


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_kept_file_stays_for_a_week_after_its_last_use() -> None:
    used, unused = keep_file("inputs", b"used"), keep_file("inputs", b"unused")
    long_ago = time.time() - 8 * 24 * 3600
    for path in (used, unused):
        os.utime(path, (long_ago, long_ago))
    scratch._remove_old.cache_clear()  # as in another process
    assert keep_file("inputs", b"used") == used
    assert used.read_bytes() == b"used"
    assert not unused.exists()


def test_processes_that_share_a_token_share_a_folder() -> None:
    with ScratchFolder("progress", token="abc") as folder:  # noqa: S106
        assert folder.path == shared_folder("progress", "abc")
        assert folder.path.stat().st_mode & 0o777 == 0o700
        with pytest.raises(FileExistsError):
            ScratchFolder("progress", token="abc")  # noqa: S106
    assert not folder.path.exists()
