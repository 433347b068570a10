"""Types of the fixtures in `conftest.py`."""

from __future__ import annotations

from collections.abc import Callable

from retarget_opencl.run.program import OpenClProgram

__all__ = ["Compile", "Load"]

Compile = Callable[[str], bytes]
Load = Callable[[str], OpenClProgram]
