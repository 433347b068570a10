"""The command `retarget`: one module per subcommand."""

from __future__ import annotations

from retarget.cli.main import main

__all__ = ["main"]
