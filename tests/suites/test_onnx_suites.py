"""The ONNX node tests that ship: the two suites hold what they say. `make suites` runs the fast one."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import load_all
from retarget.model import Suite
from retarget.session import load_extensions

ONNX = Path(__file__).resolve().parents[2] / "suites" / "onnx"


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
    assert (whole.compiler_flags, whole.timeout) == (fast.compiler_flags, fast.timeout)
    assert whole.targets == fast.targets[: len(whole.targets)]
