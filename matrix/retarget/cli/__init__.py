"""The command `retarget`: one module per subcommand; and what further subcommands are made with."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
