"""The base class of the subcommands of `retarget`."""

from __future__ import annotations

import argparse
import importlib
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from retarget.extension.products import Product


class Command(Product, is_base=True):
    """A subcommand. `name` is what is typed after `retarget`; `help` is one line, without a full stop.

    `examples` are command lines, each with what it does; `--help` shows them.
    """

    name: str
    help: str
    examples: Sequence[tuple[str, str]] = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare options and arguments. Called for the subcommand that runs only."""

    @abstractmethod
    def run(self, arguments: argparse.Namespace) -> int:
        """Run and return the exit status. Raises `RetargetError`, whose text is printed (exit status 1), and
        `argparse.ArgumentError` for wrong usage (2)."""


@dataclass(eq=False, kw_only=True)
class CommandModule(Command):
    """A `Command` whose module is imported when it runs: it has the functions `add_arguments(parser)` and
    `run(arguments)`, in place of which the parser of an action may set `act`.

    With `takes_extensions` the command has the option `--retarget-extension`, a list in
    `arguments.retarget_extension`. `statuses` are its exit statuses with what each says, where they are not the usual.
    """

    name: str
    help: str
    module: str
    examples: Sequence[tuple[str, str]] = ()
    takes_extensions: bool = False
    statuses: Sequence[tuple[int, str]] = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments of the module."""
        self._imported().add_arguments(parser)
        if self.takes_extensions:
            parser.add_argument(
                "--retarget-extension",
                action="append",
                default=[],
                metavar="MODULE",
                help="load an extension that no entry point names; may be repeated",
            )

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the action, or else the module."""
        act = getattr(arguments, "act", None) or self._imported().run
        status: int = act(arguments)
        return status

    def _imported(self) -> Any:
        return importlib.import_module(self.module)
