"""The generated modules are what the generator writes, and its references use nothing but NumPy."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SUITES = Path(__file__).resolve().parents[2] / "suites"
SOURCES = [SUITES / "generate.py", *sorted((SUITES / "generator").rglob("*.py"))]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="older NumPy rounds otherwise")
def test_the_modules_in_the_tree_are_what_the_generator_writes() -> None:
    command = [sys.executable, str(SUITES / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_module_says_that_it_was_generated_without_a_generator_that_writes_it() -> None:
    code = "from generator import modules; print(*(module.path for module in modules()), sep='\\n')"
    listed = subprocess.run([sys.executable, "-c", code], cwd=SUITES, capture_output=True, text=True, check=True).stdout
    marked = {
        path.relative_to(SUITES).with_suffix("").as_posix()
        for path in SUITES.rglob("*.mlir")
        if "Written by suites/generate.py" in path.read_text(encoding="utf-8")
    }
    assert marked == set(listed.split())


@pytest.mark.parametrize("path", sorted((SUITES / "stablehlo").glob("*.mlir")), ids=lambda path: path.name)
def test_another_compiler_of_stablehlo_can_take_the_suite_of_that_name(path: Path) -> None:
    code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    used = set(re.findall(r"(?:= |^\s*)\"?([a-z_]+\.\w+)", code, re.MULTILINE))
    hides = {"util.unfoldable_constant", "util.optimization_barrier"}
    checks = {"check.expect_eq_const", "check.expect_almost_eq_const"}
    assert {name for name in used if not name.startswith("stablehlo.")} <= {"func.func", *hides, *checks}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_references_import_numpy_ml_dtypes_and_the_standard_library_only(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add((node.module or "").partition(".")[0])
    allowed = {"numpy", "ml_dtypes", "generator"} | ({"onnx"} if path.name == "transformer.py" else set())
    assert imported - sys.stdlib_module_names <= allowed
