"""Which version of its code this process has; and what the values of cases depend on beyond the files that their kind
names, as (sort, name, state) triples.

| sort | name | state |
|---|---|---|
| `file` | a path | its content |
| `entry` | a path | whether a file, a folder or nothing is there |
| `names` | a folder | the names in it |
| `package` | an importable name | the versions of the installed distributions that provide it |
| `variable` | of the environment | its value |
| `unseen` | what was done | none: what it gave may be another the next time |

A worker records them while it reads cases. The engine determines the states again before it reuses a result.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from retarget.support.files import content_digest

__all__ = ["Dependency", "code_digest", "name_of", "state_of", "versions_of_arrays"]

Dependency = tuple[str, str, str]


def name_of(path: str, folder: Path) -> str:
    """Return the name of an absolute path: relative to `folder`, the suite's, where both are in one checkout."""
    return os.path.relpath(path, folder) if Path(path).is_relative_to(_checkout(folder)) else path


def state_of(sort: str, name: str, folder: Path, env: Mapping[str, str]) -> str:
    """Return the state of a dependency, with `env` as the environment; empty where nothing can tell it."""
    if sort == "variable":
        return _digest(env[name]) if name in env else "unset"
    if sort == "package":
        return _versions(name)
    path = folder / name
    if sort == "file":
        return content_digest(path)
    try:
        if sort == "entry":
            return "folder" if path.is_dir() else "file" if path.exists() else "absent"
        return _digest("\0".join(sorted(os.listdir(path)))) if sort == "names" else ""  # noqa: PTH208 (names alone)
    except OSError as error:
        return f"unreadable: {error.strerror}"


@cache
def code_digest(*modules: str) -> str:
    """Return a digest (SHA-256 hex) of the content of modules; of a package, of all files below it.

    Names are as in `import`; the packages that a module lies in are imported, it is not. Each is read once per process.
    Raises `ModuleNotFoundError` for one that is not there.
    """
    digest = hashlib.sha256()
    for module in sorted(set(modules)):
        for name, path in _files(module):
            digest.update(f"{module} {name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


@cache
def versions_of_arrays() -> str:
    """Return the versions of what all cases are made and compared with in the workers of this machine."""
    return f"Python {platform.python_version()} numpy {_version('numpy')} ml_dtypes {_version('ml_dtypes')}"


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


@cache
def _versions(package: str) -> str:
    names = sorted(set(packages_distributions().get(package, ())))
    return " ".join(f"{name} {_version(name)}" for name in names)


@cache
def _checkout(folder: Path) -> Path:
    return next((path for path in (folder, *folder.parents) if (path / ".git").exists()), folder)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of a module by their names in it, without what Python leaves there."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        msg = f"there is no module {module!r}"
        raise ModuleNotFoundError(msg, name=module)
    for folder in map(Path, spec.submodule_search_locations or ()):
        for path in sorted(folder.rglob("*")):
            if "__pycache__" not in path.parts and path.is_file():
                yield path.relative_to(folder).as_posix(), path
    if spec.submodule_search_locations is None and spec.origin is not None:
        yield "", Path(spec.origin)
