"""Each Python with this folder on its PYTHONPATH imports this: a changed module takes the place of the one on disk.

MUTANT_OF is the module's path, MUTANT the path of the changed text.
"""

from __future__ import annotations

import os
from importlib.machinery import SourceFileLoader
from types import CodeType

_original = SourceFileLoader.get_code


def _get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
    if loader.path != os.environ.get("MUTANT_OF"):
        return _original(loader, name)
    with open(os.environ["MUTANT"], encoding="utf-8") as text:  # noqa: PTH123  each process of a test passes here
        return compile(text.read(), loader.path, "exec")


SourceFileLoader.get_code = _get_code  # type: ignore[method-assign]
