"""The hooks by which extensions provide compilers, drivers, case loaders and subcommands."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from retarget.extension.cases import CaseLoader
from retarget.extension.commands import Command
from retarget.extension.compilers import Compiler
from retarget.extension.drivers import Driver

__all__ = ["ENTRY_POINT_GROUP", "PROJECT", "HookSpecs", "hookimpl", "hookspec"]

PROJECT = "retarget"
ENTRY_POINT_GROUP = "retarget"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class HookSpecs:
    """The hooks of the project `retarget`. All are called once, when extensions are loaded."""

    @hookspec
    def retarget_compilers(self) -> Iterable[Compiler]:
        """Return the compilers that this extension provides."""
        raise NotImplementedError

    @hookspec
    def retarget_drivers(self) -> Iterable[Driver]:
        """Return the drivers that this extension provides."""
        raise NotImplementedError

    @hookspec
    def retarget_case_loaders(self) -> Iterable[CaseLoader]:
        """Return the case loaders that this extension provides."""
        raise NotImplementedError

    @hookspec
    def retarget_commands(self) -> Iterable[Command]:
        """Return the subcommands of `retarget` that this extension provides."""
        raise NotImplementedError
