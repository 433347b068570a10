"""Commands that run in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from retarget.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run `retarget` with these words: its exit status, and what it prints to stdout and stderr."""

    def command(*words: object) -> tuple[int, str, str]:
        try:
            status = main([str(word) for word in words])
        except SystemExit as ended:  # argparse's own
            status = int(ended.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return command
