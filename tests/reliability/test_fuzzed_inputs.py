"""Whatever is in a file: an error with its place, no path outside of its folder, bounded memory and time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_FUZZ = Path(__file__).with_name("fuzz.py")


@pytest.mark.parametrize(
    "inputs", [100, pytest.param(3_000, marks=pytest.mark.slow), pytest.param(20_000, marks=pytest.mark.exhaustive)]
)
def test_mutated_files_are_taken_or_refused_with_an_error_that_names_the_file(inputs: int) -> None:
    # In a process of its own, whose paths are watched and whose memory is bounded.
    command = [sys.executable, str(_FUZZ), "--inputs", str(inputs), "--seed", str(inputs)]
    fuzzed = subprocess.run(command, capture_output=True, text=True, check=False)

    assert fuzzed.returncode == 0, fuzzed.stdout + fuzzed.stderr


@pytest.mark.slow
def test_mutated_artifacts_cost_their_own_run_and_no_other() -> None:
    command = [sys.executable, str(_FUZZ.with_name("fuzz_artifacts.py")), "--inputs", "5"]
    fuzzed = subprocess.run(command, capture_output=True, text=True, check=False)

    assert fuzzed.returncode == 0, fuzzed.stdout + fuzzed.stderr
