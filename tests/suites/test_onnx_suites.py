"""The ONNX node tests that ship: the fast ones run as expected, and the two suites hold what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from retarget.declarations import load_all
from retarget.extensions import load_extensions
from retarget.model import Suite

ROOT = Path(__file__).resolve().parents[2]
ONNX = ROOT / "suites" / "onnx"


@pytest.fixture(scope="module")
def suites() -> dict[str, Suite]:
    return {suite.name: suite for suite in load_all([ONNX], registry=load_extensions())}


def test_the_conformance_suite_holds_all_tests_and_the_fast_one_some_fifty(suites: dict[str, Suite]) -> None:
    assert len(suites["onnx"].modules) > 1800
    assert 40 <= len(suites["onnx-fast"].modules) <= 60


def test_only_the_conformance_suite_is_left_out_by_its_tag(suites: dict[str, Suite]) -> None:
    assert "conformance" in suites["onnx"].tags
    assert "conformance" not in suites["onnx-fast"].tags


def test_the_fast_ones_are_of_many_operators(suites: dict[str, Suite]) -> None:
    operators = {module.tags[0] for module in suites["onnx-fast"].modules}
    assert len(operators) >= len(suites["onnx-fast"].modules) - 5


def test_both_suites_compile_alike(suites: dict[str, Suite]) -> None:
    whole, fast = suites["onnx"], suites["onnx-fast"]
    assert (whole.compiler_flags, whole.targets, whole.timeout) == (fast.compiler_flags, fast.targets, fast.timeout)


def test_the_fast_ones_run_as_expected(tmp_path: Path) -> None:
    """With the real compiler, on llvm-cpu, VMVX, Vulkan and OpenCL, as far as there are devices."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not conformance", str(ONNX)],
        cwd=ROOT,
        env=os.environ | {"RETARGET_CACHE_DIR": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b\d{3} passed\b", done.stdout)
    assert re.search(r"\b\d+ xfailed\b", done.stdout)
