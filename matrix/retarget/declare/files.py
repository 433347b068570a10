"""The files that hold declarations: what they are called, finding them below folders, and adding one to them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import tomli

from retarget.support.errors import RetargetError, display_path
from retarget.support.toml.read import read_toml

__all__ = ["DECLARATION_FILES", "EXPECTATIONS_FILE", "MATRIX_FILE", "SUITE_FILE", "discover", "fitted"]

MATRIX_FILE = "matrix.toml"
SUITE_FILE = "suite.toml"
EXPECTATIONS_FILE = "expectations.toml"
DECLARATION_FILES = frozenset({MATRIX_FILE, SUITE_FILE, EXPECTATIONS_FILE})
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})
_NAMED = ("toolchain", "host", "compiler_config", "runtime_config", "target_config")
"""The tables whose entries have names that files below see."""


def discover(paths: Sequence[Path], *, name: str = SUITE_FILE) -> tuple[Path, ...]:
    """Return all `suite.toml` (or files called `name`) at and below `paths`, sorted and without repetition.

    A path that is a file itself counts, whatever its name, but only as a `suite.toml`. Hidden folders, `__pycache__`,
    `node_modules` and virtual environments are ignored. Raises `RetargetError` for a path that does not exist.
    """
    found: set[Path] = set()
    for path in paths:
        if not os.path.lexists(path):
            msg = f"{display_path(path)}: found no such file or folder, expected a folder with {SUITE_FILE} files"
            raise RetargetError(msg)
        absolute = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
        if absolute.is_dir() and absolute.name != name:
            found.update(_below(absolute, name))
        elif name in {SUITE_FILE, absolute.name}:
            found.add(absolute)
    return tuple(sorted(found))


def _below(folder: Path, name: str) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        # A folder of that name is found too, so that it is reported and not silently ignored.
        if name in files or name in folders:
            yield Path(at) / name
        folders[:] = [
            below
            for below in folders
            if not below.startswith(".") and below not in _SKIPPED_FOLDERS and below != name
            if not os.path.lexists(f"{at}/{below}/pyvenv.cfg")
        ]


def fitted(file: Path, text: str, beside: Collection[Path] = ()) -> tuple[str, tuple[str, ...]]:
    """Return the text of a new `matrix.toml` as it fits among the files that are there, and notes on what was added:
    `root = true` where it declares a name that a file above it has.

    Raises `RetargetError` where a file below it has a name that it declares; those `beside` are replaced with it.
    """
    own = _names(tomli.loads(text))
    replaced = {_absolute(path) for path in (file, *beside)}
    below = [
        f"  {display_path(path)} declares {_shown(names)}"
        for path in _declaring_below(_absolute(file).parent)
        if path not in replaced and (names := own & _names(_tables(path)))
    ]
    if below:
        expected = (
            f"expected other names there, a {MATRIX_FILE} with `root = true` in their folders, which sees no file"
        )
        first = f"{display_path(file)} would declare names that files below it have:"
        last = f"{expected} above it, or another folder to write to; nothing was written"
        raise RetargetError("\n".join([first, *below, last]))
    for folder in _above(_absolute(file).parent):
        if names := own & _names(_tables(folder / MATRIX_FILE)):
            above = f"{display_path(folder / MATRIX_FILE)} declares {_shown(names)} already"
            comment, separator, tables = text.partition("\n\n")
            note = f"{display_path(file)} has `root = true` and sees no file above it, because {above}"
            return f"{comment}\n\nroot = true{separator}{tables}", (note,)
    return text, ()


def _above(folder: Path) -> Iterator[Path]:
    """Yield the folders whose `matrix.toml` a file in a folder sees, without that of the folder itself."""
    while folder.parent != folder and not os.path.lexists(folder / ".git"):
        folder = folder.parent
        yield folder
        if _tables(folder / MATRIX_FILE).get("root"):
            return


def _declaring_below(folder: Path) -> Iterator[Path]:
    """Yield the files at and below a folder that may declare names and see a `matrix.toml` in it."""
    if folder.is_dir():
        for path in sorted({*discover([folder]), *discover([folder], name=MATRIX_FILE)}):
            is_root = path.parent != folder and _tables(path.parent / MATRIX_FILE).get("root")
            if path.parent == folder or (not is_root and folder in _above(path.parent)):
                yield path


def _tables(path: Path) -> Mapping[str, object]:
    """Return what a file has; nothing where there is none, and of one that cannot be read, as its targets report it."""
    return read_toml(path)[1]


def _names(tables: Mapping[str, object]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for key in _NAMED:
        entries = tables.get(key)
        if isinstance(entries, list):
            found |= {(key, str(one.get("name"))) for one in entries if isinstance(one, dict)}
    return found


def _shown(names: Collection[tuple[str, str]]) -> str:
    return ", ".join(f"{key} {name!r}" for key, name in sorted(names))


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
