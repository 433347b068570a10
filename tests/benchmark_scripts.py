"""The scripts in `benchmarks/` whose functions tests call."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

__all__ = ["BENCHMARKS", "benchmark_script"]

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def benchmark_script(name: str) -> ModuleType:
    """Import a script by its name; it is no module of a package."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module
