"""Names that are not public are used in modules that list them: what a release of another package may take away."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("kernels", "matrix", "plugin")
LISTED = {
    "kernels/retarget_opencl/compile/constants.py",  # MLIR's bindings, which IREE's package carries
    "kernels/retarget_opencl/internals.py",
    "matrix/retarget/extension/products.py",  # its own
    "matrix/retarget/support/dependencies.py",  # the frame that lists a folder
    "plugin/pytest_retarget/internals.py",
    "plugin/retarget_iree/compiler/library.py",  # IREE's library, behind its Python package
    "plugin/retarget_iree/toolchain.py",
}


def test_private_attributes_are_used_in_the_listed_modules_alone() -> None:
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--ignore-noqa", "--select=SLF001"]
    done = subprocess.run(
        [*ruff, "--output-format=json", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    found = {Path(one["filename"]).relative_to(ROOT).as_posix() for one in json.loads(done.stdout)}
    argparse = {
        "matrix/retarget/cli/main.py",
        "plugin/retarget_bringup/command.py",
    }  # it gives no public name to subparsers
    assert found - argparse == LISTED


def test_pytests_own_modules_are_imported_in_one() -> None:
    imports = re.compile(r"^\s*(?:from|import) _pytest\b", re.MULTILINE)
    files = [path for source in SOURCES for path in (ROOT / source).rglob("*.py")]
    found = [path.relative_to(ROOT).as_posix() for path in files if imports.search(path.read_text(encoding="utf-8"))]
    assert found == ["plugin/pytest_retarget/internals.py"]
