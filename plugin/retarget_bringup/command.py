"""The subcommand `bringup`: one module per action, which has `add(subparsers)` and sets `act`.

`retarget bringup NAME …` is the action `status`; no ladder may be called as an action is. Without a name it lists the
ladders.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from retarget_bringup import driver, start
from retarget_bringup.ladder.files import ACTIONS, ladder_names
from retarget_bringup.status import command as status

_ACTIONS: tuple[Any, ...] = (driver, start, status)


class _Actions(argparse._SubParsersAction):  # type: ignore[type-arg]  # noqa: SLF001 (it has no public name)
    """Subparsers whose first word may be left out: what is no action is the name of a ladder."""

    def __init__(self, *arguments: Any, **known: Any) -> None:
        super().__init__(*arguments, **known)
        self.choices = None  # type: ignore[assignment]

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        words = list(values or ())
        named = words if words[0] in ACTIONS else ["status", *words]
        super().__call__(parser, namespace, named, option_string)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    subparsers = parser.add_subparsers(dest="action", metavar="NAME", action=_Actions)
    for action in _ACTIONS:
        action.add(subparsers)


def run(_: argparse.Namespace) -> int:
    """List the ladders, where no action is named. Returns 0."""
    names = ladder_names(Path.cwd())
    print(*(f"retarget bringup {name}" for name in names), sep="\n") if names else print("there is no ladder yet")
    print("retarget bringup start NAME  # a new one; retarget bringup --help has examples")
    return 0
