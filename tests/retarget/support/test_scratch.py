"""Temporary folders and files that clean up themselves."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from retarget.support.scratch import ScratchFolder, abandoned_folders, sweep_scratch


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_what_a_killed_process_left_is_found_and_removed_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    left, link = tmp_path / "retarget-left", tmp_path / "retarget-link"
    left.mkdir()
    (left / ".retarget-scratch").touch()
    link.symlink_to(left)
    (tmp_path / "retarget-other").mkdir()  # no scratch folder
    with ScratchFolder("used") as used:
        below = used.subfolder()
        assert below.parent == used.path
        assert below != used.subfolder()
        assert list(abandoned_folders()) == [left]
        assert sweep_scratch() == 1
        assert below.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["retarget-link", "retarget-other"]
    assert sweep_scratch() == 0
