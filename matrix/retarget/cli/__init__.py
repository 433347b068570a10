"""The command `retarget`: one module per subcommand; and what the subcommands of other packages share with it."""

from __future__ import annotations

from retarget.cli.main import main as main
from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
