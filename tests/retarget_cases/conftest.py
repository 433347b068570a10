"""The folder in which tests write cases files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(cwd: Path) -> Path:
    """A suite's folder, which messages name `suite`."""
    path = cwd / "suite"
    path.mkdir()
    return path
