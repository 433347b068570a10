"""Packages that plugins import from, whatever modules they consist of.

The stub beside such a package's `__init__.py` (`__init__.pyi`) is the list of what is public: type checkers and editors
read it, and here each name is imported when somebody first asks for it, as SPEC 1 of Scientific Python has it. So a
process pays for what it uses, and a module of the core moves without a change of a plugin. What a stub has under
`TYPE_CHECKING` is for annotations alone.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


def door(package: str, file: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose `__file__` this is."""

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name == "__all__":  # for `import *`
            return [*_public(file)]
        if (module := _public(file).get(name)) is None:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__


@cache
def _public(file: str) -> dict[str, str]:
    """Return the modules of a package's public names."""
    text = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"(?m)^from (\S+) import \(?\s*(\w+) as \2\b", text)}
