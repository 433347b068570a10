"""The folder that BUILD files are written to."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(cwd: Path) -> Path:
    return cwd
