"""The folder in which tests write cases files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite's folder, which messages name `suite`."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "suite"
    path.mkdir()
    return path
