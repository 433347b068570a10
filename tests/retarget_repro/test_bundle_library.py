"""What a bundle holds copies of: enough for itself, word for word, and without the packages that they come from."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import retarget_repro.bundle
from retarget_repro.bundle.write import copy_library

_ALONE = """
import sys
sys.path[:0] = [{lib!r}]
sys.modules["iree"] = sys.modules["pluggy"] = sys.modules["msgspec"] = None
import numpy as np
from retarget.arrays.comparison import failing_checks, failing_results
from retarget.model.calls import Check, Tolerance
from retarget.model.outcomes import Failure, Stage
from retarget_iree.noise import clean_diagnostics, first_error

mismatch, = failing_results([np.array([1.0, 2.5])], [np.array([1.0, 2.0])], {{"": Tolerance(atol=0.1)}})
print(Failure(stage=Stage.COMPARE, summary=mismatch.summary).observation)
print(len(failing_checks([Check(kind="true", actual=np.array(0))])))
print(first_error(clean_diagnostics("m.mlir:3:4: error: failed to legalize operation 'x.y'\\n")))
outside = [name for name, module in sys.modules.items() if name.startswith("retarget")
           and module is not None and not str(module.__file__).startswith({lib!r})]
print(outside)
"""


def test_the_copies_compare_and_judge_without_retarget_on_the_path(tmp_path: Path) -> None:
    copy_library(tmp_path / "lib")

    argv = [sys.executable, "-I", "-c", _ALONE.format(lib=str(tmp_path / "lib"))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Observation(stage='compare', signature='values differ', case='', also=())",
        "1",
        "m.mlir:3:4: error: failed to legalize operation 'x.y'",
        "[]",
    ]


def test_the_copies_are_word_for_word_and_import_nothing_else_of_the_project(tmp_path: Path) -> None:
    copy_library(tmp_path / "lib")
    files = sorted(path for path in (tmp_path / "lib").rglob("*.py") if path.name != "__init__.py")
    names = {".".join(path.relative_to(tmp_path / "lib").with_suffix("").parts) for path in files}

    for path in files:
        name = ".".join(path.relative_to(tmp_path / "lib").with_suffix("").parts)
        spec = importlib.util.find_spec(name)
        assert path.read_bytes() == Path(getattr(spec, "origin", "")).read_bytes()
    imported = {
        _module_of(node.module, one.name)
        for path in [*files, Path(retarget_repro.bundle.__file__).with_name("repro.py")]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("retarget")
        for one in node.names
    }
    elsewhere = {
        "retarget.model.declared": "for type checkers",
        "retarget_repro.bundle.archive": "where retarget is needed anyway",
        "retarget_iree.runtime.tool": "to measure the time on the device",
        "retarget_iree.runtime.transfers": "to check drivers",
        "retarget_iree.toolchain": "to measure the time on the device",
    }
    assert imported - names == set(elsewhere)


def _module_of(package: str, name: str) -> str:
    """The module that a copy gets a name from: packages have stubs that say it."""
    stub = Path(str(importlib.import_module(package).__file__)).with_suffix(".pyi")
    found = re.search(rf"from (\S+) import {name} as", stub.read_text()) if stub.is_file() else None
    return found[1] if found else package
