"""The inputs that commands to paste name."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest
from retarget_iree.runtime import tool
from retarget_iree.runtime.tool import keep_input


def test_a_kept_file_stays_for_a_week_after_its_last_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used, unused = keep_input(b"used"), keep_input(b"unused")
    assert used.name == "f839161355091fcd.bin"
    long_ago = time.time() - 8 * 24 * 3600
    for path in (used, unused):
        os.utime(path, (long_ago, long_ago))
    tool._remove_old.cache_clear()  # as in another process
    assert keep_input(b"used") == used
    assert used.read_bytes() == b"used"
    assert not unused.exists()
