"""The node tests of the installed package onnx, and the files of one, written by `make` and read when its cases run.

A folder per test, laid out so that a person can use the tools on it:

    model.onnx       the program
    input_0.bin …    raw little-endian elements, row-major, 4-bit ones a byte each; `iree-run-module` takes them as
    output_0.bin …   `--input=2x3xf32=@input_0.bin`; data sets after the first have `set_1_` and so on in front
    cases.json       names, element types, shapes, tolerances

A value that is no tensor of numbers (a sequence, an optional, a tensor of strings) has no file; `cases.json` says what
it is, and a case with one fails when it is read: no array holds it.

It takes some seconds to have the package make its tests, so pytest's process
never imports it.
"""

from __future__ import annotations

import importlib.metadata
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from retarget.arrays import Elements, RawFile
from retarget.extension import Case, CaseData, Tolerance
from retarget.model import ELEMENT_TYPES
from retarget.support import RetargetError, install_hint

from retarget_cases.onnx.manifest_file import CASES_FILE, MODEL_FILE, Manifest
from retarget_cases.onnx.models import element_name

if TYPE_CHECKING:
    from retarget.extension import Array

_BFLOAT16_RTOL = 2.0**-6
"""Two units in the last place of bfloat16: the least relative tolerance that onnx's own runner gives its results
(`assert_similar_outputs` in `onnx/backend/test/runner`)."""


# ---------------------------------------------------------------- writing, with onnx


def write_test(test: Any, folder: Path) -> None:
    """Write one of onnx's test cases into the new folder `folder`."""
    folder.mkdir()
    (folder / MODEL_FILE).write_bytes(test.model.SerializeToString(deterministic=True))
    cases = []
    for number, (inputs, outputs) in enumerate(test.data_sets):
        before = f"set_{number}_" if number else ""
        graph = test.model.graph
        cases.append(
            {
                "name": f"test_data_set_{number}",
                "inputs": _write_values(folder, f"{before}input", graph.input, inputs),
                "expected": _write_values(folder, f"{before}output", graph.output, outputs),
            }
        )
    document = {"rtol": test.rtol, "atol": test.atol, "cases": cases}
    (folder / CASES_FILE).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _write_values(folder: Path, stem: str, declared: Sequence[Any], values: Sequence[Any]) -> list[dict[str, object]]:
    written: list[dict[str, object]] = []
    for number, (value_info, value) in enumerate(zip(declared, values, strict=True)):
        form = value_info.type.WhichOneof("value")
        if form != "tensor_type":
            written.append({"name": value_info.name, "is": f"of type {form.removesuffix('_type')}"})
            continue
        array = _array(value)
        if array.dtype.kind in "OSU":
            written.append({"name": value_info.name, "is": "a tensor of strings"})
            continue
        file = f"{stem}_{number}.bin"
        (folder / file).write_bytes(Elements.pack(array).tobytes())
        written.append({"name": value_info.name, "dtype": array.dtype.name, "shape": list(array.shape), "file": file})
    return written


def _array(value: Any) -> Array:
    if hasattr(value, "SerializeToString"):
        from onnx import numpy_helper

        return np.asarray(numpy_helper.to_array(value))
    return np.asarray(value)


# ---------------------------------------------------------------- reading, without onnx


def read_cases(path: Path, function: str) -> tuple[Case, ...]:
    """Return the cases of a `cases.json`, each a call of `function`; their values are read when they run.

    Raises `RetargetError` for a damaged file.
    """
    try:
        document = json.loads(path.read_bytes())
        rtol, atol = float(document["rtol"]), float(document["atol"])
        tolerances = {
            "": Tolerance(atol=atol, rtol=rtol),
            "bfloat16": Tolerance(atol=atol, rtol=max(rtol, _BFLOAT16_RTOL)),
        }
        return tuple(_case(path.parent, one, function, tolerances) for one in document["cases"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{path}: a damaged file of cases ({type(error).__name__}: {error}); run `retarget cache clear`"
        raise RetargetError(msg) from error


def _case(folder: Path, written: Any, function: str, tolerances: Mapping[str, Tolerance]) -> Case:
    inputs = [(f"input {value['name']!r}", value) for value in written["inputs"]]
    expected = [(f"output {value['name']!r}", value) for value in written["expected"]]

    def read() -> CaseData:
        return CaseData(
            inputs=tuple(_read_value(folder, what, value) for what, value in inputs),
            expected=tuple(_read_value(folder, what, value) for what, value in expected),
        )

    return Case(name=str(written["name"]), function=function, read=read, tolerances=tolerances)


def _read_value(folder: Path, what: str, value: Mapping[str, Any]) -> Array:
    if "is" in value:
        msg = f"{what} is {value['is']}, which no array holds; expected a tensor of numbers"
        raise RetargetError(msg)
    try:
        return RawFile(path=folder / value["file"]).only(
            dtype=Elements.named(value["dtype"]).dtype, shape=value["shape"]
        )
    except RetargetError as error:
        msg = f"{error}; it was generated by the package onnx and is damaged: run `retarget cache clear`"
        raise RetargetError(msg) from error


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
    return Manifest(package=installed_version(), tests={test.name: tuple(_tags(test, operators)) for test in tests})


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
        name = element_name(inner.elem_type)
        known = ELEMENT_TYPES.get(name)
        if known is not None and known.kind in {"b", "c"}:
            yield known.dtype
        else:  # without the sign of integers
            yield name.replace("ui", "u")
        return
    yield form.removesuffix("_type")
    if form != "map_type":
        yield from _type_words(inner.elem_type)
