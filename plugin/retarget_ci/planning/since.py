"""`--since REV`: which targets can have another result than at a revision, by their fingerprints and never by paths.

A target that is there under another name or in another file, with the same content, is the same. One whose fingerprint
is not known counts as changed.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct
from retarget.support.errors import RetargetError
from retarget.support.files import content_digest, is_inside, read_regular
from retarget.support.text import first_line
from retarget.support.toml import read_toml

from retarget_ci.model import CI_FILE
from retarget_ci.planning.fingerprints import Fingerprints

_OF_A_HOOK = frozenset({"GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE"})
"""The variables by which git tells its hooks of their checkout. A worktree is another one."""

_CONFIGURATION = ("pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini")
_OPTIONS = re.compile(r"(?ms)^(?:addopts|pythonpath)\s*=(.*?)(?=^[\w\[]|\Z)")
_WORD = re.compile(r"""[^\s"'=,;()<>|&\[\]{}]+""")


class Changes(Struct, frozen=True, kw_only=True):
    """`unchanged` are ids of targets that the revision has, too. `warnings` say what is not known."""

    unchanged: frozenset[str]
    warnings: tuple[str, ...] = ()


def changes_since(revision: str, folder: Path, paths: Sequence[str], extensions: Sequence[str] = ()) -> Changes:
    """Compare what pytest collects from paths below a folder with what it collects there at a revision.

    Where the declarations of the revision cannot be read, everything has changed. Raises `RetargetError` for a folder
    that is in no git checkout, a revision that git does not know, and invalid declarations of the folder.
    """
    top, commit = _located(revision, folder)
    with _worktree(top, commit) as tree, ThreadPoolExecutor() as pool:
        before = tree / folder.resolve().relative_to(top)
        both_say = all((one / CI_FILE).is_file() for one in (before, folder))
        files = _named((before, folder), paths)
        changed = (name for name in files if _state(before, name) != _state(folder, name))
        if both_say and _surroundings(before) != _surroundings(folder):
            said = f"setup, env or pytest in {CI_FILE} are others"
        else:
            said = next((f"{name} is another" for name in changed), "")
        if said:
            warning = f"{said} than in {revision}, so that all count as changed"
            return Changes(unchanged=frozenset(), warnings=(warning,))
        there = _paths_at(before, paths)
        old = pool.submit(_fingerprints, before, there, extensions) if there else None
        new = pool.submit(_fingerprints, folder, paths, extensions).result()
        warnings = [
            f"{count} without a fingerprint, which count as changed: {why}" for why, count in new.unknown.items()
        ]
        try:
            known = frozenset(old.result().of.values()) if old is not None else frozenset()
        except RetargetError as error:
            said = str(error).replace(f"{tree}{os.sep}", "")
            return Changes(
                unchanged=frozenset(),
                warnings=(
                    *warnings,
                    f"the declarations of {revision} cannot be read, so that all count as changed: {said}",
                ),
            )
    return Changes(unchanged=frozenset(name for name, one in new.of.items() if one in known), warnings=tuple(warnings))


def _surroundings(folder: Path) -> object:
    """Return what the `ci.toml` of a folder says of how targets are run, wherever it says it."""
    _, data, _ = read_toml(folder / CI_FILE)  # the rest may be wrong, or of another version

    def kept(table: object) -> object:
        return [table.get(key) for key in ("name", "setup", "env", "pytest")] if isinstance(table, dict) else table

    lists = [data.get(name) for name in ("runner", "event")]
    return kept(data), *([*map(kept, one)] if isinstance(one, list) else one for one in lists)


def _conftests(trees: Iterable[Path], paths: Sequence[str]) -> Iterator[str]:
    """Yield the names of the `conftest.py` in the trees that pytest reads for the paths."""
    places = [PurePath(path.partition("::")[0]) for path in paths]
    for file in map(PurePath, _files(trees, "*conftest.py")):
        near = (place.is_relative_to(file.parent) or file.is_relative_to(place) for place in places)
        if file.name == "conftest.py" and any(near):
            yield str(file)


def _files(trees: Iterable[Path], pattern: str) -> Iterator[str]:
    """Yield the files in the trees that git has, or would have."""
    for tree in trees:
        listed = _git(tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern)
        yield from filter(None, listed.split("\0"))


def _state(tree: Path, name: str) -> str:
    """Return what a file in a tree holds; of a submodule the commit that git has for it."""
    is_submodule = (tree / name).is_dir()
    return _git(tree, "ls-files", "--stage", "--", name) if is_submodule else content_digest(tree / name)


def _named(trees: Sequence[Path], paths: Sequence[str]) -> Iterator[str]:
    """Yield the files on which it depends how targets are run: the configuration of pytest and what its options name,
    each `conftest.py`, what `ci.toml` names in `setup`, `env` and `pytest`, such as files of requirements, scripts and
    folders of packages, and what these name; of Python code what it imports. Below the paths are declarations, which
    have fingerprints."""
    folder = trees[-1]
    yield from _CONFIGURATION
    said = str(_surroundings(folder)) if (folder / CI_FILE).is_file() else ""
    waiting = [(name, True) for word in _WORD.findall(said) for name in _candidates(word, PurePath(), trees)]
    waiting += [(name, False) for name in (*_plugins(trees), *_conftests(trees, paths))]
    declared = [path for path in paths if PurePath(path).parts]
    seen: set[str] = set()
    while waiting:
        name, is_whole = waiting.pop()  # whether all that it says counts, or what it imports alone
        name = os.path.normpath(name)
        is_declared = any(map(PurePath(name).is_relative_to, declared))
        if name in seen or (is_declared and not name.endswith(".py")):
            continue
        seen.add(name)
        with suppress(OSError, ValueError):  # no file, or no text
            if not is_inside(folder / name, folder):
                continue
            if any((tree / name).is_dir() for tree in trees):
                takes_all = is_whole and name != "."
                files = (file for file in _files(trees, name) if takes_all or file.endswith(".py"))
                yield from (file for file in files if not any(map(PurePath(file).is_relative_to, declared)))
                continue
            yield name
            text, place = read_regular(folder / name).decode(), PurePath(name).parent
            if name.endswith(".py"):
                waiting += [(one, False) for word in _imported(text) for one in _modules(word, place, trees)]
            if is_whole:
                waiting += [(one, True) for word in _WORD.findall(text) for one in _candidates(word, place, trees)]


def _plugins(trees: Sequence[Path]) -> Iterator[str]:
    """Yield the folders and modules from which pytest's own configuration has plugins."""
    for name in _CONFIGURATION:
        with suppress(OSError, ValueError):
            for options in _OPTIONS.findall(read_regular(trees[-1] / name).decode()):
                for word in _WORD.findall(options):
                    yield from _candidates(word, PurePath(), trees)


def _candidates(word: str, place: PurePath, trees: Sequence[Path]) -> Iterator[str]:
    """Yield what a word in a file of a folder may name: a file, a folder, or a module that is there."""
    yield from dict.fromkeys((word, str(place / word)))
    yield from _modules(word, place, trees)


def _modules(name: str, place: PurePath, trees: Sequence[Path]) -> Iterator[str]:
    """Yield the files of a module that code in a folder imports, as far as they are there."""
    if all(map(str.isidentifier, parts := name.split("."))):
        for module in (PurePath(above, *parts) for above in (place, *place.parents)):
            for file in (f"{module}.py", f"{module}/__init__.py"):
                if any((tree / file).is_file() for tree in trees):
                    yield file


def _imported(code: str) -> Iterator[str]:
    """Yield the names of what code imports, and of the packages that these are in."""
    try:
        nodes = [*ast.walk(ast.parse(code))]
    except (SyntaxError, RecursionError):
        return
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            above = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for alias in node.names:
                parts = ".".join([*above, alias.name]).split(".")
                yield from (".".join(parts[:at]) for at in range(1, len(parts) + 1))


def _paths_at(folder: Path, paths: Sequence[str]) -> Sequence[str]:
    """Return the paths of a folder's own `ci.toml` and those of today's, as far as they are there."""
    written: object = []
    if (file := folder / CI_FILE).is_file():
        _, data, _ = read_toml(file)  # only where to look: the rest may be wrong, or of another version
        written = data.get("paths", ["."])
    own = [path for path in written if isinstance(path, str)] if isinstance(written, list) else []
    return [path for path in dict.fromkeys((*own, *paths)) if (folder / path.partition("::")[0]).exists()]


def _located(revision: str, folder: Path) -> tuple[Path, str]:
    """Return the checkout that a folder is in, and the commit that a revision means."""
    try:
        top = Path(_git(folder, "rev-parse", "--show-toplevel").strip())
    except RetargetError as error:
        msg = f"--since {revision}: {error}; expected {folder} in a git checkout"
        raise RetargetError(msg) from error
    try:
        return top.resolve(), _git(
            folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        ).strip()
    except RetargetError as error:
        known = "expected a branch, a tag or a commit that this checkout has; a shallow one is deepened by `git fetch`"
        msg = f"--since: found the unknown revision {revision!r}, {known}"
        raise RetargetError(msg) from error


@contextmanager
def _worktree(top: Path, commit: str) -> Iterator[Path]:
    """Check a commit out into a new folder, which is removed at the end. The checkout is not changed."""
    with tempfile.TemporaryDirectory(prefix="retarget-since-", ignore_cleanup_errors=True) as temporary:
        tree = Path(temporary).resolve() / "tree"
        try:
            _git(top, "worktree", "add", "--detach", "--force", str(tree), commit)
            yield tree
        finally:
            with suppress(RetargetError):
                _git(top, "worktree", "remove", "--force", "--force", str(tree))


def _git(folder: Path, *arguments: str) -> str:
    try:
        ran = subprocess.run(
            ["git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", *arguments],  # noqa: S607
            env={name: value for name, value in os.environ.items() if name not in _OF_A_HOOK},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        msg = f"git cannot be run: {error.strerror or error}"
        raise RetargetError(msg) from error
    if ran.returncode:
        raise RetargetError(first_line(ran.stderr, f"git {arguments[0]} failed"))
    return ran.stdout


def _fingerprints(folder: Path, paths: Sequence[str], extensions: Sequence[str]) -> Fingerprints:
    """Collect in a folder, in a separate process: its imports stay there."""
    loaded = [f"--retarget-extension={one}" for one in extensions]
    command = [sys.executable, "-P", "-m", "retarget.cli", "ci", *loaded, "fingerprints", "--format=json", "--", *paths]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if ran.returncode:
        raise RetargetError(ran.stderr.decode(errors="replace").strip() or f"exit status {ran.returncode}")
    try:
        return msgspec.json.decode(ran.stdout, type=Fingerprints)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        msg = f"`{shlex.join(command[3:])}` printed something else than fingerprints; does an extension print?"
        raise RetargetError(msg) from error
