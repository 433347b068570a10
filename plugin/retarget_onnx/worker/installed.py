"""The node tests of the installed package onnx: models, data and what the manifest says of them.

It takes some seconds to have the package make its tests, so pytest's process never
imports it.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retarget.model.element_types import ELEMENT_TYPES, Kind
from retarget.support.errors import RetargetError
from retarget.support.installing import install_hint

from retarget_onnx.manifest_file import Entry, Manifest
from retarget_onnx.models import element_name

_DEFAULT_DOMAINS = ("", "ai.onnx")
_EXPANDED = "_expanded"
"""ONNX's suffix of a test's name for the test of the operator's function body."""


def installed_version() -> str:
    """Return `onnx VERSION`. Imports nothing of it. Raises `RetargetError` where it is not installed."""
    try:
        return f"onnx {importlib.metadata.version('onnx')}"
    except importlib.metadata.PackageNotFoundError as error:
        msg = f"the package onnx is not installed; {install_hint('onnx')}"
        raise RetargetError(msg) from error


def installed_tests() -> Sequence[Any]:
    """Have onnx make its node tests and return them (`onnx.backend.test.case.test_case.TestCase`), in its order.

    Some seconds. Their random data come from seeds, the same each time. Raises `RetargetError` where onnx is not
    installed or keeps its tests in another form.
    """
    version = installed_version()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about the infinities that some tests make on purpose
        try:
            from onnx.backend.test.loader import load_model_tests

            tests: Sequence[Any] = load_model_tests(kind="node")
        except (ImportError, OSError, ValueError) as error:
            msg = f"{version} does not make its node tests: {error}"
            raise RetargetError(msg) from error
    if not tests or any(test.model is None or test.data_sets is None for test in tests):
        msg = f"{version} keeps its node tests in another form; expected one that generates them, such as onnx 1.23"
        raise RetargetError(msg)
    return tests


def installed_manifest() -> Manifest:
    """Return the manifest of the installed package. Raises `RetargetError` as `installed_tests` does."""
    tests = installed_tests()
    operators = {test.name: test.model.graph.node[0].op_type for test in tests}
    entries = tuple(Entry(name=test.name, tags=tuple(_tags(test, operators))) for test in tests)
    return Manifest(package=installed_version(), entries=entries)


def _tags(test: Any, operators: Mapping[str, str]) -> Iterator[str]:
    tested, expanded, _ = test.name.rpartition(_EXPANDED)
    yield f"op-{operators.get(tested, operators[test.name])}"
    for opset in test.model.opset_import:
        yield f"opset-{opset.version}" if opset.domain in _DEFAULT_DOMAINS else f"{opset.domain}-{opset.version}"
    graph = test.model.graph
    yield from dict.fromkeys(word for value in (*graph.input, *graph.output) for word in _type_words(value.type))
    if expanded and tested in operators:
        yield "expanded"


def _type_words(declared: Any) -> Iterator[str]:
    """Yield the words of a declared type: element types, and `sequence`, `optional`, `map` around them."""
    form = declared.WhichOneof("value")
    inner = getattr(declared, form)
    if form in {"tensor_type", "sparse_tensor_type"}:
        yield _element_word(element_name(inner.elem_type))
        return
    yield form.removesuffix("_type")
    if form != "map_type":
        yield from _type_words(inner.elem_type)


def _element_word(name: str) -> str:
    """Return an element type as a tag: MLIR's name, but without the sign of integers and without brackets."""
    known = ELEMENT_TYPES.get(name)
    if known is not None and known.kind in {Kind.BOOLEAN, Kind.COMPLEX}:
        return known.dtype
    return name.replace("ui", "u")
