"""Processes that end with the process that started them, whatever ends that: `local:N`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

__all__ = ["end_with_parent"]


def end_with_parent(clean_up: Callable[[], None]) -> None:
    """End this process at the end of standard input, a pipe from who started it."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        try:
            clean_up()
        finally:
            os._exit(0)

    threading.Thread(target=watch, name="retarget-parent", daemon=True).start()
