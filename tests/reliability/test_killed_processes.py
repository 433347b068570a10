"""Kills at random moments: a sample of what `make reliability` does two hundred times each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_KILLS = Path(__file__).with_name("kills.py")


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("sessions", "--kills", "6"), ("workers", "--kills", "6", "--modules", "30")])
def test_kills_lose_no_target_tear_no_artifact_and_share_no_device(arguments: tuple[str, ...]) -> None:
    killed = subprocess.run([sys.executable, str(_KILLS), *arguments], capture_output=True, text=True, check=False)

    assert killed.returncode == 0, killed.stdout + killed.stderr
