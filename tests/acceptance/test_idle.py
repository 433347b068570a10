"""A project without matrix files pays nothing; what is heavy comes in only where it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from acceptance_support import Project
from mlir_modules import GOOD

HEAVY = ("iree", "jinja2", "ml_dtypes", "numpy", "onnx", "pydantic", "pyopencl", "tree_sitter")


def modules(project: Project, *arguments: str) -> set[str]:
    """The modules in pytest's process when it has collected."""
    program = "import pytest, sys; code = pytest.main(sys.argv[1:]); print(*sys.modules, sep='\\n'); sys.exit(code)"
    argv = [sys.executable, "-c", program, "-q", "--co", *arguments]
    done = subprocess.run(argv, cwd=project.path, capture_output=True, text=True, check=False)
    assert done.returncode in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}, done.stdout + done.stderr
    return set(done.stdout.split())


def test_a_project_without_matrix_files_imports_the_options_and_nothing_else(project: Project) -> None:
    project.write({"test_it.py": "def test_it():\n    pass\n", "data.mlir": "", "suites/readme.toml": ""})
    loaded = modules(project, "-p", "no:xdist")
    assert {name for name in loaded if name.partition(".")[0] in HEAVY} == set()
    assert {name for name in loaded if name.startswith(("retarget", "pytest_retarget"))} == {
        "pytest_retarget",
        "pytest_retarget.internals",  # what it imports of pytest, pytest has imported
        "pytest_retarget.options",
        "pytest_retarget.plugin",
        "retarget",
        "retarget.session",
        "retarget.session.limits",  # the defaults that --help shows
        "retarget.support",
        "retarget.support.doors",  # these import nothing else of retarget's
    }


def test_collecting_a_matrix_imports_no_compiler_runtime_or_array_library(project: Project) -> None:
    project.cpu(one=GOOD)
    loaded = modules(project)
    assert "retarget.declare.load" in loaded
    assert {name for name in loaded if name.partition(".")[0] in HEAVY} <= {
        name for name in loaded if name.partition(".")[0] == "pydantic"
    }
