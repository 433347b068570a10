"""Tests of onnx."""

from __future__ import annotations

from collections.abc import Iterator

import node_tests as some
import pytest


@pytest.fixture(scope="module")
def node_tests() -> Iterator[None]:
    """The package onnx has the tests of some operators only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onnx.backend.test.loader.load_model_tests", some.load_model_tests)
        yield
