"""Processes that `local:N` starts: they end with the process that started them, whatever ends that."""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable

__all__ = ["PARENT_OPTION", "add_parent_argument", "end_with_parent"]

PARENT_OPTION = "--with-parent"
"""Standard input is a pipe from who started the process: its end is the end of the process."""


def add_parent_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option, which is nobody's to type."""
    parser.add_argument(PARENT_OPTION, action="store_true", help=argparse.SUPPRESS)


def end_with_parent(clean_up: Callable[[], None]) -> None:
    """End this process at the end of standard input."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        try:
            clean_up()
        finally:
            os._exit(0)

    threading.Thread(target=watch, name="retarget-parent", daemon=True).start()
