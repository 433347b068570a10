"""The kind `onnx`: which files are models, what their cases leave out, and what does not fit a model."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases_support import function, read
from declaration_texts import compiler, suite, target
from jsonschema import Draft202012Validator
from retarget.cli import main
from retarget.extension import Case, CaseRequest, UnavailableError
from retarget.model import Module
from retarget.support import Diagnostic, DiagnosticsError, RetargetError
from retarget_cases.loader import CasesLoader, ModelsLoader
from retarget_cases.worker import reference

onnx = pytest.importorskip("onnx")
WEIGHTS = np.arange(12, dtype=np.float32).reshape(4, 3)


def save(path: Path, *, element: str = "FLOAT", sizes: tuple[int | str, ...] = ("batch", 4), opset: int = 17) -> Path:
    """A model that multiplies `x` by weights."""
    path.parent.mkdir(parents=True, exist_ok=True)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [onnx.helper.make_tensor_value_info("x", getattr(onnx.TensorProto, element), sizes)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 3])],
        [onnx.numpy_helper.from_array(WEIGHTS, "w")],
    )
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def load(
    model: Path, text: str | None = None, *data: Path, folder: Path | None = None, called: str = "product"
) -> list[Case]:
    path = model.with_suffix(".cases.toml")
    if text is not None:
        path.write_text(text)
    request = CaseRequest(
        module=model.stem,
        source=model,
        data=(*([path] if text is not None else []), *data),
        folder=folder or model.parent,
        compiler="cc",
        functions=(function(called),),
    )
    return list(ModelsLoader().load(request))


def errors(case: Case) -> list[str]:
    with pytest.raises(DiagnosticsError) as caught:
        read(case)
    return [str(one).partition(": ")[2] for one in caught.value.diagnostics]


# ---------------------------------------------------------------- which files are models


def test_models_with_and_without_cases_and_cases_that_name_their_model(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    save(folder / "plain.onnx")
    save(folder / "net" / "model.onnx")
    data = folder / "net" / "test_data_set_0" / "input_0.pb"
    data.parent.mkdir()
    data.write_bytes(b"")
    save(folder / "own.onnx").with_name("own.cases.toml").write_text("sizes = { batch = 2 }\n")
    (folder / "far.cases.toml").write_text('model = "../elsewhere/far.onnx"\ninstall = "make far"\n')
    names = ("plain.onnx", "net/model.onnx", "own.onnx", "far.cases.toml", "own.cases.toml")
    found = ModelsLoader().find_modules(folder, [folder / name for name in names])
    assert [(one.name, one.path, [path.name for path in one.data], one.install) for one in found] == [
        ("plain", folder / "plain.onnx", [], ""),
        ("net", folder / "net" / "model.onnx", ["input_0.pb"], ""),
        ("own", folder / "own.onnx", ["own.cases.toml"], ""),
        ("far", tmp_path / "elsewhere" / "far.onnx", ["far.cases.toml"], "make far"),
    ]
    assert [one.entry for one in found] == ["", "", "", "far"]  # of a file that is not the suite's


def test_a_data_set_without_values_is_an_error_once(tmp_path: Path) -> None:
    models = [save(tmp_path / "net" / name) for name in ("model.onnx", "other.onnx")]
    for name in ("test_data_set_0/input_0.pb", "test_data_set_1/values.npz"):
        (tmp_path / "net" / name).parent.mkdir()
        (tmp_path / "net" / name).touch()
    with pytest.raises(DiagnosticsError) as caught:
        ModelsLoader().find_modules(tmp_path, models)
    assert [str(one) for one in caught.value.diagnostics] == [
        f"{tmp_path}/net/test_data_set_1: found no values in this data set, expected files input_N.pb and output_N.pb; "
        "fetch them, or remove the folder"
    ]


@pytest.mark.parametrize(("names", "found"), [((), "no function"), (("f", "g"), "f, g")])
def test_an_artifact_of_a_model_exports_one_function(tmp_path: Path, names: tuple[str, ...], found: str) -> None:
    functions = tuple(map(function, names))
    request = CaseRequest(module="m", source=tmp_path / "m.onnx", folder=tmp_path, compiler="cc", functions=functions)
    with pytest.raises(RetargetError) as caught:
        ModelsLoader().load(request)
    assert str(caught.value) == f"the artifact exports {found}; expected one function, the model's graph"


def test_what_is_no_model_and_what_has_none_are_errors_together(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").touch()
    (tmp_path / "b.cases.toml").write_text("[[case]]\n")
    (tmp_path / "c.cases.toml").write_text(
        "generate.string = { random = 'normal' }\ngenerate.f32 = [1]\n[[case]]\nreference = 'onnxrun'\nsize = 1\n"
    )
    with pytest.raises(DiagnosticsError) as caught:
        ModelsLoader().find_modules(tmp_path, [tmp_path / name for name in ("a.mlir", "b.cases.toml", "c.cases.toml")])
    assert [f"{one.file.name}:{one.line}: {one.key_path}: {one.message}" for one in caught.value.diagnostics][:2] == [
        "a.mlir:0: : found a file that ends with '.mlir', expected .onnx",
        f'b.cases.toml:0: : found cases of no model, expected {tmp_path / "b.onnx"} in srcs, or model = "FILE" in this file',
    ]
    rest = [(one.key_path, one.message.partition(",")[0]) for one in caught.value.diagnostics[2:]]
    assert ("generate.string", "found 'string'") not in rest  # a table that is wrong itself says so alone
    assert ("case[0].size", "found the unknown key 'size'") in rest


def test_generators_of_types_that_have_no_numbers_and_generators_that_are_none_are_errors(tmp_path: Path) -> None:
    (tmp_path / "c.cases.toml").write_text(
        "generate.string = { random = 'normal' }\ngenerate.f32 = [1]\n[[case]]\nreference = 'onnxrun'\n"
    )
    with pytest.raises(DiagnosticsError) as caught:
        ModelsLoader().find_modules(tmp_path, [tmp_path / "c.cases.toml"])
    assert [str(one).partition(":")[2] for one in caught.value.diagnostics] == [
        "1: generate.string: found 'string', expected an element type of numbers, such as f32 or float32",
        "2: generate.f32: found values, expected a generator: a table with random, fill or iota",
        "4: case[0].reference: found 'onnxrun', expected a Python file and a function of it, as in 'ref.py:matmul'; did you mean 'onnxruntime'?",
    ]


# ---------------------------------------------------------------- cases


def test_an_error_of_a_reference_is_one_of_the_file_that_is_there(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    model = save(tmp_path / "m.onnx", element="BFLOAT16", sizes=(2, 4))  # the other operand is f32
    for text, file in ((None, "m.onnx"), ("[[case]]\n", "m.cases.toml")):
        (case,) = load(model, text)
        with pytest.raises(DiagnosticsError) as caught:
            read(case)
        (one,) = caught.value.diagnostics
        assert (one.file, "onnxruntime cannot evaluate" in one.message) == (tmp_path / file, True)


def test_a_model_without_cases_has_one_with_generated_inputs_and_the_results_of_a_reference(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (case,) = load(save(tmp_path / "m.onnx", sizes=(2, 4)))
    data = read(case)
    assert (case.name, case.function) == ("generated", "product")
    assert data.inputs[0].shape == (2, 4)
    assert np.abs(data.inputs[0]).max() <= 1
    assert data.expected is not None
    assert np.allclose(data.expected[0], data.inputs[0] @ WEIGHTS, atol=1e-5)
    assert np.array_equal(data.inputs[0], read(load(tmp_path / "m.onnx")[0]).inputs[0])


def test_sizes_and_generators_of_the_file_are_those_of_cases_that_say_nothing_else(tmp_path: Path) -> None:
    text = """
sizes.batch = 3
generate.f32 = { random = "uniform", low = 5, high = 6 }
[[case]]
reference = "onnx"
[[case]]
sizes.batch = 2
generate.f32 = { fill = 7 }
reference = "onnx"
[[case]]
inputs.x = [[1, 2, 3, 4]]
reference = "onnx"
"""
    first, second, third = (read(case) for case in load(save(tmp_path / "m.onnx"), text))
    assert first.inputs[0].shape == (3, 4)
    assert 5 <= first.inputs[0].min() <= first.inputs[0].max() <= 6
    assert second.inputs[0].tolist() == [[7.0] * 4] * 2
    assert third.expected is not None
    assert third.expected[0].tolist() == [[60.0, 70.0, 80.0]]


def test_data_sets_are_cases(tmp_path: Path) -> None:
    model = save(tmp_path / "net" / "model.onnx")
    files = []
    for name, array in (("input_0", np.ones((2, 4), np.float32)), ("output_0", np.full((2, 3), 9, np.float32))):
        path = model.parent / "test_data_set_1" / f"{name}.pb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
        files.append(path)
    (case,) = load(model, None, *files, folder=tmp_path)  # data sets are beside their model, wherever that is
    assert case.name == "test_data_set_1"
    assert read(case).inputs[0].tolist() == [[1.0] * 4] * 2
    assert read(case).expected[0].tolist() == [[9.0] * 3] * 2  # type: ignore[index]
    files[0].write_bytes(b"\xff")
    with pytest.raises(RetargetError, match=r"input_0\.pb holds no tensor of ONNX"):
        read(case)


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (("input_0", "output_0", "output_2"), "found output_2.pb in test_data_set_0, expected output_1.pb"),
        (("input_1", "output_0"), "found input_1.pb in test_data_set_0, expected input_0.pb"),
        (("input_0", "output_0", "output_00"), "found output_00.pb in test_data_set_0, expected output_1.pb"),
    ],
)
def test_a_gap_in_the_numbers_of_a_data_set_is_an_error_of_its_case(
    tmp_path: Path, names: tuple[str, ...], wrong: str
) -> None:
    model = save(tmp_path / "net" / "model.onnx")
    folder = model.parent / "test_data_set_0"
    folder.mkdir()
    for name in names:
        array = np.ones((2, 4 if "input" in name else 3), np.float32)
        (folder / f"{name}.pb").write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
    (case,) = load(model, None, *sorted(folder.iterdir()), folder=tmp_path)
    assert errors(case) == [wrong]


def test_the_schema_for_editors_takes_inputs_by_name_only_for_models() -> None:
    by_place = {"case": [{"function": "f", "inputs": [1, {"fill": 2}], "reference": "r.py:f"}]}
    by_name = {"case": [{"inputs": {"x": {"fill": 2}}, "reference": "onnx"}]}
    of_models = Draft202012Validator(ModelsLoader().file_schema())
    of_others = Draft202012Validator(CasesLoader().file_schema())
    assert [of_models.is_valid(one) for one in (by_place, by_name)] == [True, True]
    assert [of_others.is_valid(one) for one in (by_place, by_name)] == [True, False]


# ---------------------------------------------------------------- what does not fit


def test_unknown_sizes_and_inputs_and_sizes_that_nobody_gives_are_errors_with_their_place(tmp_path: Path) -> None:
    text = "sizes.batsch = 1\n[[case]]\ninputs.X = { fill = 1 }\nreference = 'onnx'\n"
    (case,) = load(save(tmp_path / "m.onnx"), text)
    assert errors(case) == [
        "sizes.batsch: found the size 'batsch', expected a dynamic size that the model names: batch; did you mean 'batch'?",
        "case[0].inputs.X: found the input 'X', expected one of the model: x",
        "case[0].inputs.x: found no size 'batch' for the input 'x' (tensor<?x4xf32>), expected sizes = { batch = … }",
    ]


@pytest.mark.parametrize(
    ("element", "sizes", "message"),
    [
        (
            "FLOAT",
            ("", 4),
            "inputs.x: found no shape for the input 'x' (tensor<?x4xf32>), expected inputs.x = { …, shape = […] }",
        ),
        (
            "STRING",
            (2, 4),
            "inputs.x: found the input 'x', a tensor of string; expected a model that takes tensors of numbers",
        ),
    ],
)
def test_inputs_that_cannot_be_generated_are_errors(
    tmp_path: Path, element: str, sizes: tuple[int | str, ...], message: str
) -> None:
    (case,) = load(save(tmp_path / "m.onnx", element=element, sizes=sizes), "[[case]]\nreference = 'onnx'\n")
    assert errors(case) == [f"case[0].{message}"]


def test_a_newer_opset_and_files_that_are_no_model_are_errors(tmp_path: Path) -> None:
    newest = onnx.defs.onnx_opset_version()
    with pytest.raises(
        RetargetError, match=f"m.onnx: found opset 99, onnx .* knows those up to {newest}; expected one of"
    ):
        load(save(tmp_path / "m.onnx", opset=99))
    (tmp_path / "m.onnx").write_bytes(b"no model")
    with pytest.raises(RetargetError, match=r"m\.onnx: not an ONNX model: "):
        load(tmp_path / "m.onnx")


def test_a_reference_that_is_not_installed_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        UnavailableError, match="the package onnxruntime, which computes what models are expected"
    ) as caught:
        load(save(tmp_path / "m.onnx", sizes=(2, 4)))
    assert "[models]" in caught.value.hint


def test_a_model_that_the_reference_refuses_names_the_other(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", sizes=(2, 4))
    (case,) = load(model, "[[case]]\nreference = 'onnx'\ninputs.x = { fill = 1 }\n")
    model.write_bytes(b"no model")
    with pytest.raises(
        DiagnosticsError,
        match=r"case\[0\]\.reference: onnx cannot evaluate .*m\.onnx: .*; try reference = 'onnxruntime'",
    ):
        read(case)


def test_check_reports_what_does_not_fit_and_nothing_of_models_that_are_not_there(
    cwd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (cwd / "matrix.toml").write_text("root = true\n")
    declared = compiler("cc") + target("all", "cc", []) + suite("models", "*.onnx", "onnx")
    (cwd / "suite.toml").write_text(declared.replace('"*.onnx"', '"*.onnx", "far.cases.toml"'))
    save(cwd / "m.onnx")
    (cwd / "far.cases.toml").write_text('model = "no/far.onnx"\ninstall = "make far"\n')
    assert main(["check", "."]) == 1
    out, err = capsys.readouterr()
    assert "m.onnx: inputs.x: found no size 'batch'" in out + err
    assert "expected sizes = { batch = … } in m.cases.toml beside it" in out + err
    assert "far" not in err


@pytest.mark.parametrize(
    ("is_there", "install", "checked"),
    [(True, "", True), (True, "make m", True), (False, "", True), (False, "make m", False)],
)
def test_a_model_that_is_yet_to_be_installed_is_not_held_against_its_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool, install: str, checked: bool
) -> None:
    found = Diagnostic(file=tmp_path, message="checked")
    monkeypatch.setattr(CasesLoader, "data_diagnostics", lambda *_: (found,))
    if is_there:
        (tmp_path / "m.onnx").touch()
    module = Module(name="m", path=tmp_path / "m.onnx", install=install)
    suite: Any = None
    assert ModelsLoader().data_diagnostics(module, suite) == ((found,) if checked else ())
