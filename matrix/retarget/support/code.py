"""Code as data: which version of it this process has."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["code_digest"]


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
