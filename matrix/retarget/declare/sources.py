"""Which files a suite's `srcs` name, and which files hold declarations.

A glob is a path with `/` between its parts. `*`, `?` and `[…]` match within one part, `**` as a part of its own
matches any number of folders. Parts that start with a dot are found only by a part of a glob that starts with one. `**`
does not follow links to folders, so that a link to a folder above does not go round for ever. No glob finds the files
of declarations, `suite.toml`, `matrix.toml` and `expectations.toml`.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from retarget.model import Module
from retarget.support.errors import DiagnosticsError, RetargetError, did_you_mean, display_path, nearest
from retarget.support.toml import KeyPath, Problem

if TYPE_CHECKING:
    from retarget.extension import CaseLoader

_MAGIC = re.compile(r"[*?\[]")
_NAME_RULE = "name without blanks and : * ? [ ] \\, because it becomes the name of targets"
_NOT_IN_MODULE_NAMES = re.compile(r"[\s\x00-\x1f\x7f:*?\[\]\\\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Among them what turns the direction of text: a name must read as what it is."""


def find_modules(
    folder: Path, srcs: Sequence[str], exclude: Sequence[str], *, allow_empty: bool, finder: CaseLoader | None = None
) -> tuple[tuple[Module, ...], tuple[Problem, ...]]:
    """Return the modules in the order of `srcs`, sorted within each glob, and what is wrong with either list.

    With a `finder` it says which modules the files contain; else each is one. Raises `DiagnosticsError` for errors
    that the finder finds in the files themselves.
    """
    problems = [
        Problem(("exclude", index), error) for index, glob in enumerate(exclude) if (error := _glob_error(glob))
    ]
    patterns: dict[KeyPath, tuple[str, ...]] = {
        ("exclude", index): tuple(glob.split("/")) for index, glob in enumerate(exclude) if not _glob_error(glob)
    }
    unused = dict(patterns)
    matched_any = incomplete = False
    by_name: dict[str, str] = {}
    around = _Folder(folder)
    for index, glob in enumerate(srcs):
        path: KeyPath = ("srcs", index)
        found, error = _find(folder, glob, allow_empty=allow_empty)
        if error:
            incomplete = True
            problems.append(Problem(path, error))
        for relative in found:
            matched_any = True
            parts = tuple(relative.split("/"))
            if leaving := [where for where, pattern in patterns.items() if _matches(parts, pattern)]:
                unused = {where: pattern for where, pattern in unused.items() if where not in leaving}
                continue
            error = around.diagnostic(relative, is_literal=not _MAGIC.search(glob))
            if error:
                problems.append(Problem(path, error))
            if error or around.is_folder(relative):
                continue
            name = relative if finder is not None else relative.removesuffix(PurePosixPath(relative).suffix)
            other = by_name.setdefault(name, relative)
            if other != relative:
                expected = "expected one source for each module name"
                problems.append(Problem(path, f"found {other!r} and {relative!r}, {expected}"))
    if matched_any and not incomplete:
        leaves_none = not (by_name or problems or allow_empty)
        expected = "which matches none of the srcs; expected one that does"
        problems += [Problem(where, f"found {'/'.join(parts)!r}, {expected}") for where, parts in unused.items()]
        if leaves_none:
            message = "found nothing left, expected to leave a file, or allow_empty = true"
            problems.append(Problem(("exclude",), message))
    if finder is None:
        return tuple(Module(name=name, path=folder / relative) for name, relative in by_name.items()), tuple(problems)
    if problems or not by_name:
        return (), tuple(problems)
    return _found(finder, folder, [folder / relative for relative in by_name.values()])


def name_problem(relative: str) -> str | None:
    """Return why a file cannot be a module because of its path below the suite's folder, or None."""
    bad = _NOT_IN_MODULE_NAMES.search(relative)
    return f"found {bad.group()!r} in {relative!r}, expected a file {_NAME_RULE}" if bad else None


def select_modules(
    modules: Sequence[Module], only: Sequence[str], without: Sequence[str]
) -> tuple[tuple[Module, ...], tuple[Problem, ...]]:
    """Return the modules whose name or a tag matches one of `only` (empty: all) and none of `without`.

    A glob that matches nothing is a problem.
    """
    problems: list[Problem] = []
    words = {module.name: (module.name, *module.tags) for module in modules}
    matching: dict[str, set[str]] = {}
    for key, globs in (("only", only), ("without", without)):
        matching[key] = set()
        for index, glob in enumerate(globs):
            matches = re.compile(fnmatch.translate(glob)).match
            found = {name for name, among in words.items() if any(matches(word) for word in among)}
            if modules and not found:
                hint = did_you_mean(glob, dict.fromkeys(word for among in words.values() for word in among))
                expected = f"expected a glob that matches the name or a tag of a module{hint}"
                problems.append(Problem((key, index), f"found {glob!r}, {expected}"))
            matching[key] |= found
    kept = tuple(
        module
        for module in modules
        if (not only or module.name in matching["only"]) and module.name not in matching["without"]
    )
    if modules and not kept and not problems:
        problems.append(Problem(("without",), "found nothing left, expected to leave a module"))
    return kept, tuple(problems)


def _found(finder: CaseLoader, folder: Path, srcs: Sequence[Path]) -> tuple[tuple[Module, ...], tuple[Problem, ...]]:
    """Return the modules that a finder finds in the files. `DiagnosticsError` goes through: it knows the locations in
    these files."""
    problems: list[Problem] = []
    try:
        modules = tuple(finder.find_modules(folder, srcs))
    except DiagnosticsError:
        raise
    except RetargetError as error:
        return (), (Problem(("srcs",), str(error)),)
    seen: dict[str, Module] = {}
    for module in modules:
        bad = _NOT_IN_MODULE_NAMES.search(module.name)
        if bad or not module.name:
            what = repr(bad.group()) if bad else "nothing"
            message = f"found {what} in the module name {module.name!r}, expected a {_NAME_RULE}"
            problems.append(Problem(("srcs",), message))
        if seen.setdefault(module.name, module) is not module:
            expected = "expected one source for each module name"
            problems.append(Problem(("srcs",), f"found two modules of the name {module.name!r}, {expected}"))
    if not modules:
        problems.append(Problem(("srcs",), "found no module in the files, expected one"))
    return modules, tuple(problems)


def _find(folder: Path, glob: str, *, allow_empty: bool) -> tuple[Sequence[str], str | None]:
    """Return what a glob finds, sorted, and what is wrong with it."""
    if error := _glob_error(glob):
        return (), error
    try:
        found = sorted(set(_walk(str(folder), "", tuple(glob.split("/")))))
    except OSError as unread:
        return (), f"found the folder {unread.filename!r}, which cannot be read: {unread.strerror or unread}"
    if _MAGIC.search(glob):
        found = [relative for relative in found if PurePosixPath(relative).name not in {*FileName}]
    is_needed = not found and (not _MAGIC.search(glob) or not allow_empty)
    return found, _nothing_found(folder, glob) if is_needed else None


def _glob_error(glob: str) -> str | None:
    parts = glob.split("/")
    if glob.startswith("/") or "\\" in glob or re.match(r"[A-Za-z]:", glob) or ".." in parts:
        return f"found {glob!r}, expected a path below this file's folder, with '/' between its parts and no '..'"
    if "" in parts or "." in parts or "\0" in glob:
        return f"found {glob!r}, expected a path without empty parts and '.'"
    if any("**" in part and part != "**" for part in parts):
        return f"found {glob!r}, expected '**' as a part of its own, as in '**/*.mlir'"
    return None


def _nothing_found(folder: Path, glob: str) -> str:
    if _MAGIC.search(glob):
        return f"found no file that matches {glob!r}; expected one, or allow_empty = true"
    below, _, name = glob.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = [other for other, is_folder in _entries(str(folder), f"{below}/" if below else "") if not is_folder]
    # Names are near when their stems are: equal suffixes make all files look alike.
    near = nearest(stem, (other.removesuffix(dot + suffix) for other in names))
    hint = f"; did you mean {near + dot + suffix!r}?" if near + dot + suffix in names else ""
    return f"found no file {glob!r}, expected one{hint}"


class _Folder:
    """The folder of a suite; knows what lies in it without asking the file system more than once per folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._real = os.path.realpath(path)
        self._is_inside: dict[str, bool] = {}

    def diagnostic(self, relative: str, *, is_literal: bool) -> str | None:
        """Return why a path that a glob found cannot be a module."""
        if self.is_folder(relative):
            # A folder without a suffix is ignored: `*` need not mean it.
            is_meant = is_literal or PurePosixPath(relative).suffix
            return f"found the folder {relative!r}, expected a file" if is_meant else None
        path = f"{self.path}/{relative}"
        if not self._holds(path):
            real = os.path.realpath(path)
            return f"found {relative!r}, which links to {real!r}; expected a file below this file's folder"
        if not os.path.exists(path):  # noqa: PTH110  called for each source
            return f"found {relative!r}, a link to nothing; expected a file"
        if not os.path.isfile(path):  # noqa: PTH113  as above
            return f"found {relative!r}, which is no regular file; expected one"
        return name_problem(relative)

    def is_folder(self, relative: str) -> bool:
        return os.path.isdir(f"{self.path}/{relative}")  # noqa: PTH112  called for each source

    def _holds(self, path: str) -> bool:
        if os.path.islink(path):  # noqa: PTH114  called for each source
            return self._is_real_inside(os.path.realpath(path))
        parent = path.rpartition("/")[0]
        if parent not in self._is_inside:
            self._is_inside[parent] = self._is_real_inside(f"{os.path.realpath(parent)}/")
        return self._is_inside[parent]

    def _is_real_inside(self, real: str) -> bool:
        return real.startswith(f"{self._real.rstrip('/')}/")


def _walk(folder: str, below: str, parts: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths, relative to the suite's folder, that `parts` match at and below `below`."""
    part, rest = parts[0], parts[1:]
    if part == "**":
        yield from _walk(folder, below, rest) if rest else ()
        for name, is_folder in _entries(folder, below):
            is_link = is_folder and os.path.islink(f"{folder}/{below}{name}")  # noqa: PTH114  called for each source
            if is_folder and not is_link and not name.startswith("."):
                yield from _walk(folder, f"{below}{name}/", parts)
            elif not rest and not name.startswith("."):
                yield f"{below}{name}"
        return
    if _MAGIC.search(part):
        matches = re.compile(fnmatch.translate(part)).match
        hidden = part.startswith(".")
        names = [
            name
            for name, is_folder in _entries(folder, below)
            if matches(name) and (hidden or not name.startswith(".")) and (is_folder or not rest)
        ]
    else:
        names = [part] if os.path.lexists(f"{folder}/{below}{part}") else []
    for name in names:
        if rest:
            yield from _walk(folder, f"{below}{name}/", rest)
        else:
            yield f"{below}{name}"


def _entries(folder: str, below: str) -> list[tuple[str, bool]]:
    """Return what a folder holds, nothing where it is none. Raises `OSError`, with `below` as its `filename`."""
    try:
        with os.scandir(f"{folder}/{below}") as entries:
            return [(entry.name, _is_folder(entry)) for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        error.filename = below.rstrip("/") or "."
        raise


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[start:], pattern[1:]) for start in range(len(parts) + 1))
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


class FileName(StrEnum):
    """The names of the files that declare something."""

    MATRIX = "matrix.toml"
    SUITE = "suite.toml"
    EXPECTATIONS = "expectations.toml"

    def below(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Return all files of this name at and below `paths`, sorted and without repetition.

        A path that is a file itself counts, whatever its name, but only as a `suite.toml`. Hidden folders,
        `__pycache__`, `node_modules` and virtual environments are ignored. Raises `RetargetError` for a path that does
        not exist.
        """
        found: set[Path] = set()
        for path in paths:
            if not os.path.lexists(path):
                where = display_path(path)
                msg = f"{where}: found no such file or folder, expected a folder with {FileName.SUITE} files"
                raise RetargetError(msg)
            absolute = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
            if absolute.is_dir() and absolute.name != self:
                found.update(_below(absolute, self))
            elif self in {FileName.SUITE, absolute.name}:
                found.add(absolute)
        return tuple(sorted(found))


_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})


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
