"""`--since REV`: which targets can have another result than at a revision, by their fingerprints and never by paths.

A target that is there under another name or in another file, with the same content, is the same. One whose fingerprint
is not known counts as changed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct
from retarget.support.errors import RetargetError
from retarget.support.files import content_digest, is_inside, read_regular
from retarget.support.text import first_line
from retarget.support.toml import read_toml

from retarget_ci.model import CI_FILE, LOCK_FILE
from retarget_ci.planning.fingerprints import Fingerprints

_OF_A_HOOK = frozenset({"GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE"})
"""The variables by which git tells its hooks of their checkout. A worktree is another one."""

_OF_PYTEST = ("pyproject.toml", "*pytest.ini", "*pytest.toml", "setup.cfg", "setup.py", "tox.ini")
_OF_PACKAGES = (
    "*.lock",
    "*requirements*.txt",
    "*constraints*.txt",
    "conda-lock*",
    "environment*.y*ml",
    "Pipfile",
    "*.nix",
)
_OF_VERSIONS = ("uv.toml", "pixi.toml", "*mise.toml", ".python-version", ".tool-versions")
_UNNAMED = (*_OF_PYTEST, *_OF_PACKAGES, *_OF_VERSIONS)
"""Files that pytest and installers find by themselves in the folder where they start, or above."""

_OF_COMMANDS = {
    "make": "*akefile",
    "just": "*ustfile",
    "task": "Taskfile*",
    "nox": "noxfile.py",
    "docker": "Dockerfile*",
}
"""What commands that `ci.toml` names find there."""

_OF_PLANNING = ("branches", "budget", "capacity", "compiles", "on", "only_changed", "schedule", "timeout", "verify")
"""The keys of runners and events that change no target's result, nor which targets are run."""

_LARGEST = 1 << 16
"""Bytes of a file whose words may name others."""

_WORD = re.compile(r"""[^\s"'=,;()<>|&\[\]{}]+""")


class Changes(Struct, frozen=True, kw_only=True):
    """`unchanged` are ids of targets that the revision has, too. `warnings` say what is not known."""

    unchanged: frozenset[str]
    warnings: tuple[str, ...] = ()


def changes_since(
    revision: str, folder: Path, paths: Sequence[str], extensions: Sequence[str] = (), select: str = ""
) -> Changes:
    """Compare what pytest collects from paths below a folder with what it collects there at a revision, as far as
    `select` (as with `-m`) selects it.

    Where the declarations of the revision cannot be read, everything has changed. Raises `RetargetError` for a folder
    that is in no git checkout, a revision that git does not know, and invalid declarations of the folder.
    """
    top, commit = _located(revision, folder)
    with _worktree(top, commit) as tree, ThreadPoolExecutor() as pool:
        here = folder.resolve().relative_to(top)
        before = tree / here
        both_say = all((one / CI_FILE).is_file() for one in (before, folder))
        files = _found((tree, top), here, paths) | _named((top, tree), here, paths)
        changed = (name for name in sorted(files) if content_digest(tree / name) != content_digest(top / name))
        if both_say and _legs(before) != _legs(folder):
            said = f"setup, env, a runner or an event in {CI_FILE} is another"
        else:
            said = next((f"{os.path.relpath(name, here)} is another" for name in changed), "")
        if said:
            warning = f"{said} than in {revision}, so that all count as changed"
            return Changes(unchanged=frozenset(), warnings=(warning,))
        there = _paths_at(before, paths)
        old = pool.submit(_fingerprints, before, there, extensions, select) if there else None
        new = pool.submit(_fingerprints, folder, paths, extensions, select).result()
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


def _legs(folder: Path) -> Sequence[object]:
    """Return what the `ci.toml` of a folder says of which targets are run, where, and how."""
    tables = _tables(folder)
    return [{key: one for key, one in table.items() if key not in _OF_PLANNING} for table in tables]


def _words(folder: Path) -> Sequence[str]:
    """Return the words by which the `ci.toml` of a folder says how targets are run."""
    return _WORD.findall(str([table.get(key) for table in _tables(folder) for key in ("setup", "env", "pytest")]))


def _tables(folder: Path) -> Sequence[dict[str, object]]:
    """Return the tables of a `ci.toml`; of what is at the top only what is for every leg."""
    _, data, _ = read_toml(folder / CI_FILE)  # the rest may be wrong, or of another version
    lists = [one for name in ("runner", "event") if isinstance(one := data.get(name), list)]
    found = [{key: data.get(key) for key in ("setup", "env")}, *(table for one in lists for table in one)]
    return [one for one in found if isinstance(one, dict)]


def _listed(top: Path, *below: str) -> Sequence[PurePath]:
    """Return the files of a checkout, without those that git ignores."""
    listed = _git(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *below)
    return [*map(PurePath, filter(None, listed.split("\0")))]


def _found(trees: Iterable[Path], here: PurePath, paths: Sequence[str]) -> set[PurePath]:
    """Return which files of checkouts pytest and installers find by themselves when they start in the folder `here`:
    each `conftest.py` that pytest reads for the paths, and what has a name of theirs."""
    places = [_normal(here / path.partition("::")[0]) for path in paths]
    found = set()
    for file in {one for tree in trees for one in _listed(tree, "*conftest.py", *(f"*{like}" for like in _UNNAMED))}:
        if file.name == "conftest.py":
            is_found = any(one.is_relative_to(file.parent) or file.is_relative_to(one) for one in places)
        else:
            is_found = here.is_relative_to(file.parent) and any(fnmatchcase(file.name, like) for like in _UNNAMED)
        if is_found and file.name != LOCK_FILE:
            found.add(file)
    return found


def _named(trees: Sequence[Path], here: PurePath, paths: Sequence[str]) -> set[PurePath]:
    """Return the files of checkouts, the first of which is today's, that `setup`, `env` and `pytest` of `ci.toml` name,
    such as scripts, or as folders, such as packages, and what these and the files of named commands name. Below the
    paths are declarations, which have fingerprints: what lies there must be named by `ci.toml`, or by a file there."""
    top, named = trees[0], set[PurePath]()
    declared = [place for path in paths if (place := _normal(here / path.partition("::")[0])) != here]
    said = _words(top / here) if (top / here / CI_FILE).is_file() else []
    waiting = [(here.joinpath(*PurePath(word).parts[at:]), True) for word in said for at in range(word.count("/") + 1)]
    while waiting:
        place, counts = waiting.pop()
        name = _normal(place.parent if "*" in place.name else place)
        is_declared = any(map(name.is_relative_to, declared))
        if name in named or ".." in name.parts or (is_declared and not counts):
            continue
        if name.parent == here and (like := _OF_COMMANDS.get(name.name)) is not None:
            waiting += [(base / one.name, True) for base in (here, *here.parents) for one in (top / base).glob(like)]
        with suppress(OSError, ValueError):  # no file, or no text
            if (top / name).is_dir():
                is_above = any(one.is_relative_to(name) for one in (here, *declared))
                if counts and not is_above and not is_declared:
                    named |= {one for tree in trees for one in _listed(tree, str(name))}
            elif is_inside(top / name, top):
                text = read_regular(top / name)
                named.add(name)
                words = _WORD.findall(text.decode()) if len(text) <= _LARGEST else []
                waiting += [(base / word, is_declared) for word in words for base in {here, name.parent}]
    return named


def _normal(path: PurePath) -> PurePath:
    return PurePath(os.path.normpath(path))


def _paths_at(folder: Path, paths: Sequence[str]) -> Sequence[str]:
    """Return the paths of a folder's own `ci.toml`, those of today's where it has none, as far as they are there."""
    written: object = paths
    if (file := folder / CI_FILE).is_file():
        _, data, _ = read_toml(file)  # only where to look: the rest may be wrong, or of another version
        written = data.get("paths", ["."])
    own = [path for path in written if isinstance(path, str)] if isinstance(written, list | tuple) else []
    return [path for path in dict.fromkeys(own) if (folder / path.partition("::")[0]).exists()]


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


def _fingerprints(folder: Path, paths: Sequence[str], extensions: Sequence[str], select: str) -> Fingerprints:
    """Collect in a folder, in a separate process: its imports stay there."""
    loaded = [f"--retarget-extension={one}" for one in extensions]
    options = ["--format=json", f"--select={select}"]
    command = [sys.executable, "-P", "-m", "retarget.cli", "ci", *loaded, "fingerprints", *options, "--", *paths]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if ran.returncode:
        raise RetargetError(ran.stderr.decode(errors="replace").strip() or f"exit status {ran.returncode}")
    try:
        return msgspec.json.decode(ran.stdout, type=Fingerprints)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        msg = f"`{shlex.join(command[3:])}` printed something else than fingerprints; does an extension print?"
        raise RetargetError(msg) from error
