"""Kills at random moments: a sample of what `make reliability` does two hundred times each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("kills.py", ("sessions", "--kills", "2")),
        ("kills.py", ("workers", "--kills", "2", "--modules", "10")),
        ("kills.py", ("devices", "--kills", "2", "--modules", "10")),
        ("cluster_kills.py", ("workers", "--kills", "2", "--modules", "8")),
    ],
)
def test_kills_lose_no_target_tear_no_artifact_and_share_no_device(script: str, arguments: tuple[str, ...]) -> None:
    killed = subprocess.run(
        [sys.executable, str(_FOLDER / script), *arguments], capture_output=True, text=True, check=False
    )

    assert killed.returncode == 0, killed.stdout + killed.stderr
