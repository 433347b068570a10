"""Each Python with this folder on its PYTHONPATH imports this: a changed module takes the place of the one on disk.

MUTANT_OF is the module's path, MUTANT the path of the changed text.
"""

from __future__ import annotations

import os
from importlib.machinery import FileFinder, ModuleSpec, SourcelessFileLoader
from pathlib import Path
from types import CodeType, ModuleType

_original = FileFinder.find_spec
_read_bytes = Path.read_bytes


class _Changed(SourcelessFileLoader):
    """No `SourceFileLoader`: what has one, pytest reads from the disk itself where it rewrites assertions, as in its
    plugins."""

    def get_code(self, fullname: str) -> CodeType:
        with open(os.environ["MUTANT"], encoding="utf-8") as text:  # noqa: PTH123  each process of a test passes here
            return compile(text.read(), self.path, "exec")


def _find_spec(finder: FileFinder, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
    spec = _original(finder, fullname, target)
    if spec is not None and spec.origin is not None and spec.origin == os.environ.get("MUTANT_OF"):
        spec.loader = _Changed(fullname, spec.origin)
    return spec


def _changed_bytes(path: Path) -> bytes:
    """Read the changed text, for the digests of code that are in the keys of caches."""
    return _read_bytes(Path(os.environ["MUTANT"]) if str(path) == os.environ.get("MUTANT_OF") else path)


FileFinder.find_spec = _find_spec  # type: ignore[method-assign]
Path.read_bytes = _changed_bytes  # type: ignore[method-assign]
