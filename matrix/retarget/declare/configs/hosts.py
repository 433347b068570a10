"""The hosts of a file: what each kind of connection needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from retarget.support.toml.keypaths import KeyPath, Problem
from retarget.targets.availability import HOST_KINDS, word_error

if TYPE_CHECKING:
    from retarget.declare.schema.tables import HostTable

__all__ = ["host_problems"]

_NEEDED = {"ssh": ("address",), "adb": (), "command": ("push", "pull", "run")}
_TAKEN = {"ssh": ("address", "options"), "adb": ("address", "options"), "command": ("push", "pull", "run")}
_PLACEHOLDERS = {"push": ("{local}", "{remote}"), "pull": ("{local}", "{remote}"), "run": ("{command}",)}


def host_problems(table: HostTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what is wrong with a host: words, and keys that its kind needs or does not take."""
    if message := word_error(table.kind, HOST_KINDS):
        yield Problem((*path, "kind"), message)
        return
    given = {key: getattr(table, key) for key in ("address", "options", "push", "pull", "run")}
    for key, value in given.items():
        if not value and key in _NEEDED[table.kind]:
            yield Problem((*path, key), f"found no {key}, which a host of the kind {table.kind!r} needs")
        elif value and key not in _TAKEN[table.kind]:
            kinds = " or ".join(repr(kind) for kind in HOST_KINDS if key in _TAKEN[kind])
            yield Problem(
                (*path, key), f"found {key} in a host of the kind {table.kind!r}, expected it for {kinds} only"
            )
        elif value:
            missing = [word for word in _PLACEHOLDERS.get(key, ()) if not any(word in one for one in value)]
            if missing:
                yield Problem((*path, key), f"found no {' and no '.join(missing)} in the command, expected them in it")
    for key in ("folder", "lease_folder"):
        if "~" in getattr(table, key):
            expected = "expected an absolute path, or one relative to the home folder"
            yield Problem((*path, key), f"found {getattr(table, key)!r}, {expected}")
