"""ONNX modules of the kind `cases`: types are those of the model, and `retarget check` holds cases to them."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cases_support import function, read
from declaration_texts import compiler, suite, target
from retarget.cli import main
from retarget.extension import CaseRequest, FunctionInfo
from retarget.support import DiagnosticsError, RetargetError
from retarget_cases.loader import CasesLoader
from retarget_cases.onnx.models import element_name, model_function
from retarget_cases.starters import onnx_functions

onnx = pytest.importorskip("onnx")

SUITE = compiler("cc") + target("all", "cc", []) + suite("models", "*.onnx", "cases")


def tensor(name: str, element: str, shape: list[int | str] | None) -> object:
    return onnx.helper.make_tensor_value_info(name, getattr(onnx.TensorProto, element), shape)


def save(folder: Path, inputs: list[object], outputs: list[object]) -> Path:
    weights = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    nodes = [onnx.helper.make_node("Add", ["x", "w"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "scale", inputs, outputs, [weights])
    path = folder / "m.onnx"
    onnx.save(onnx.helper.make_model(graph), str(path))
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of a batch of three floats and two integers. That `w` is an input too is how old models write it."""
    inputs = [tensor("x", "FLOAT", ["batch", 3]), tensor("w", "FLOAT", [3]), tensor("n", "INT64", [2])]
    (tmp_path / "matrix.toml").write_text("root = true\n")
    (tmp_path / "suite.toml").write_text(SUITE)
    return save(tmp_path, inputs, [tensor("y", "FLOAT", ["batch", 3])])


def test_each_type_of_integers_has_its_bits_and_its_sign() -> None:
    codes = {name: code for name, code in onnx.TensorProto.DataType.items() if "INT" in name}
    assert codes.keys() > {f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
    for name, code in codes.items():
        assert element_name(code) == name.replace("UINT", "ui").replace("INT", "i")


def test_types_that_are_no_tensor_of_numbers_are_named(tmp_path: Path) -> None:
    sequence = onnx.helper.make_tensor_sequence_value_info("s", onnx.TensorProto.FLOAT, [2])
    inputs = [tensor("t", "STRING", [1]), sequence, tensor("u", "UINT8", None), tensor("b", "BOOL", [])]
    found = model_function(save(tmp_path, inputs, [tensor("out", "FLOAT", [1])]))
    assert found is not None
    assert found.argument_types == ("tensor of string t", "sequence s", "tensor<*xui8>", "tensor<i1>")


def load(model: Path, text: str, found: FunctionInfo) -> object:
    path = model.with_name("m.cases.toml")
    path.write_text(text)
    request = CaseRequest(
        module="m", source=model, data=(path,), folder=model.parent, compiler="cc", functions=(found,)
    )
    return CasesLoader().load(request)


UNTYPED = FunctionInfo(name="scale", arguments=2)
GOOD = "[[case]]\ninputs = [[[0, 1, 2]], [7, 8]]\nexpected = [[[1, 3, 5]]]\n"


def test_a_case_without_a_name_has_that_of_the_graph_whatever_the_compiler_calls_the_function(model: Path) -> None:
    (case,) = load(model, GOOD, FunctionInfo(name="main", arguments=2))  # type: ignore[misc]
    assert (case.name, case.function) == ("scale", "main")


def test_what_the_artifact_declares_counts_more_than_the_model(model: Path) -> None:
    declared = function("scale", ["tensor<1x3xf16>", "tensor<2xi32>"], ["tensor<1x3xf16>"])
    (case,) = load(model, GOOD, declared)  # type: ignore[misc]
    assert [array.dtype for array in read(case).inputs] == [np.float16, np.int32]


def test_a_written_dtype_wins_over_the_model(model: Path) -> None:
    text = GOOD.replace("[[0, 1, 2]]", '{ values = [[0, 1, 2]], dtype = "f64" }')
    (case,) = load(model, text, UNTYPED)  # type: ignore[misc]
    assert [array.dtype for array in read(case).inputs] == [np.float64, np.int64]


def test_without_the_package_the_types_have_to_be_written(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (case,) = load(model, GOOD, UNTYPED)  # type: ignore[misc]
    with pytest.raises(DiagnosticsError, match="found no element type, expected dtype = …"):
        read(case)


def test_without_the_package_a_file_of_onnx_says_what_installs_it(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (model.parent / "x.pb").write_bytes(b"")
    (case,) = load(model, GOOD.replace("[[0, 1, 2]]", "'x.pb'"), UNTYPED)  # type: ignore[misc]
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(RetargetError, match=r"x\.pb needs the package onnx, which is not installed; .*pip install"):
        read(case)


def test_no_starter_is_written_for_a_model_with_its_tensors_in_other_files(model: Path) -> None:
    (function_of_model,) = onnx_functions(model)
    assert function_of_model.name == "scale"
    whole = onnx.load(str(model))
    weights = whole.graph.initializer[0]
    weights.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weights), "w"))  # as bytes
    onnx.save_model(whole, str(model), save_as_external_data=True, size_threshold=0)
    with pytest.raises(RetargetError, match=r"^has its tensors in other files; save it with onnx\.save_model"):
        onnx_functions(model)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "changed",
    [
        ("[[0, 1, 2]]", "[0, 1, 2]", "2: case[0].inputs[0]: argument 0 of scale: found 3xf32, expected tensor<?x3xf32>"),
        ("[[[1, 3, 5]]]", "[[[1, 3]]]", "3: case[0].expected[0]: result 0 of scale: found 1x2xf32, expected tensor<?x3xf32>"),
        (
            "[[0, 1, 2]]",
            "{ random = 'normal' }",
            "2: case[0].inputs[0]: argument 0 of scale: found no shape, expected shape = […]: "
            "the function declares tensor<?x3xf32>, which leaves a size open",
        ),
        (
            "inputs",
            "function = 'scala'\ninputs",
            "2: case[0].function: found the function 'scala', expected one that the module exports: scale; "
            "did you mean 'scale'?",
        ),
    ],
    ids=["rank", "result", "open size", "function"],
)  # fmt: skip
def test_check_reports_what_does_not_fit_the_model(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], changed: tuple[str, str, str]
) -> None:
    old, new, diagnostic = changed
    monkeypatch.chdir(model.parent)
    path = model.with_name("m.cases.toml")
    path.write_text(GOOD)
    assert main(["check"]) == 0
    path.write_text(GOOD.replace(old, new, 1))
    capsys.readouterr()

    assert main(["check"]) == 1
    assert capsys.readouterr().err == f"m.cases.toml:{diagnostic}\n"


def test_check_reports_a_file_that_is_no_model(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(model.parent)
    model.with_name("m.cases.toml").write_text(GOOD)
    for content, problem in ((b"no protobuf", ""), (b"", "the file is empty\n"), (b"\x08\x08", "it has no graph with")):
        model.write_bytes(content)
        assert main(["check"]) == 1
        assert capsys.readouterr().err.startswith(f"m.onnx: not an ONNX model: {problem}")
