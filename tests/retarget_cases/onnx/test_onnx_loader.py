"""The kind `onnx-backend`: what is generated of a manifest, and the cases that a worker reads of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ml_dtypes import bfloat16, float8_e4m3fn
from node_tests import TESTS
from retarget.extension import Case, CaseRequest, FunctionInfo
from retarget.model import Module
from retarget.support import RetargetError
from retarget_cases.onnx.loader import OnnxBackendLoader
from retarget_cases.onnx.manifest_file import Manifest, manifest_text
from retarget_cases.onnx.stored import installed_manifest, installed_tests, installed_version

pytestmark = pytest.mark.usefixtures("node_tests")


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("suite") / "nodes.toml"
    tests = {name: tuple(tags.split()) for name, tags in TESTS.items()}
    path.write_text(manifest_text(Manifest(package="onnx 99.0.0", tests=tests), path.name))
    return path


@pytest.fixture(scope="module")
def generated(node_tests: object, description: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    OnnxBackendLoader().make(description, folder)
    return folder


def cases(generated: Path, name: str, functions: Sequence[str] = ("main",)) -> Sequence[Case]:
    module = OnnxBackendLoader().made(Module(name=name, path=generated / "nodes.toml", entry=name), generated)
    request = CaseRequest(
        module=name,
        source=module.path,
        data=module.data,
        entry=name,
        folder=generated,
        compiler="cpu",
        functions=tuple(FunctionInfo(name=function, arguments=None) for function in functions),
    )
    return OnnxBackendLoader().load(request)


def only_case(generated: Path, name: str) -> Case:
    (case,) = cases(generated, name)
    return case


def test_the_installed_tests_have_tags_of_operator_opset_and_types() -> None:
    found = installed_manifest()
    assert found.package == installed_version()
    opset = re.compile(r"opset-\d+")  # onnx raises those of some operators in each release
    tags = {name: opset.sub("opset", " ".join(words)) for name, words in found.tests.items()}
    assert all(opset.search(tag) for words in found.tests.values() for tag in words[1:2])
    assert tags == {name: opset.sub("opset", tags) for name, tags in TESTS.items() if name != "test_of_a_later_onnx"}


ANOTHER_FORM = "keeps its node tests in another form; expected one that generates them, such as onnx 1.23"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (OSError("no folder"), "does not make its node tests: no folder"),
        ([], ANOTHER_FORM),
        ([SimpleNamespace(model=None, data_sets=())], ANOTHER_FORM),
        ([SimpleNamespace(model=(), data_sets=None)], ANOTHER_FORM),
    ],
    ids=["an error", "none", "no model", "no data"],
)
def test_an_onnx_that_makes_no_tests_is_refused(
    monkeypatch: pytest.MonkeyPatch, made: Exception | list[object], message: str
) -> None:
    def load_model_tests(*, kind: str) -> list[object]:
        if isinstance(made, Exception):
            raise made
        return made

    monkeypatch.setattr("onnx.backend.test.loader.load_model_tests", load_model_tests)
    with pytest.raises(RetargetError) as caught:
        installed_tests()
    assert str(caught.value) == f"{installed_version()} {message}"


def test_the_version_names_all_that_the_data_come_from() -> None:
    version = OnnxBackendLoader().version()
    assert version.startswith(installed_version())
    assert f"numpy {np.__version__}" in version


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("test_add_uint8", [np.uint8, np.uint8], [np.uint8]),
        ("test_and2d", [np.bool_, np.bool_], [np.bool_]),
        ("test_cast_FLOAT_to_BFLOAT16", [np.float32], [bfloat16]),
        ("test_cast_FLOAT_to_FLOAT8E4M3FN", [np.float32], [float8_e4m3fn]),
        ("test_constant", [], [np.float32]),
    ],
)
def test_element_types_survive(generated: Path, name: str, inputs: list[type], expected: list[type]) -> None:
    case = only_case(generated, name)
    assert case.read is not None
    data = case.read()
    assert [array.dtype for array in data.inputs] == [np.dtype(one) for one in inputs]
    assert [array.dtype for array in data.expected or ()] == [np.dtype(one) for one in expected]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("test_sequence_insert_at_back", "input 'sequence' is of type sequence"),
        ("test_optional_has_element_empty_optional_input", "input 'optional_input' is of type optional"),
        ("test_string_split_basic", "input 'x' is a tensor of strings"),
    ],
)
def test_what_no_buffer_view_holds_fails_when_it_is_read(generated: Path, name: str, message: str) -> None:
    case = only_case(generated, name)
    assert case.read is not None
    with pytest.raises(RetargetError) as caught:
        case.read()
    assert str(caught.value) == f"{message}, which no array holds; expected a tensor of numbers"


def test_an_entry_that_the_installed_onnx_lacks_fails_by_itself(generated: Path, description: Path) -> None:
    module = Module(name="test_of_a_later_onnx", path=description, entry="test_of_a_later_onnx")
    with pytest.raises(RetargetError) as caught:
        OnnxBackendLoader().made(module, generated)
    assert str(caught.value) == (
        f"{installed_version()} has no test test_of_a_later_onnx; the manifest {description} was written by "
        "onnx 99.0.0: install that, or write the manifest again with "
        f"`python3 -m retarget_cases.onnx.manifest -o {description}`"
    )


@pytest.mark.parametrize(
    ("functions", "found"), [((), "no function"), (("first", "second"), "first, second")], ids=["none", "two"]
)
def test_an_artifact_must_export_one_function(generated: Path, functions: tuple[str, ...], found: str) -> None:
    with pytest.raises(RetargetError) as caught:
        cases(generated, "test_abs", functions)
    assert str(caught.value) == f"the artifact exports {found}; expected one function, the model's graph"


def test_what_is_generated_is_the_same_each_time(generated: Path, description: Path, tmp_path: Path) -> None:
    OnnxBackendLoader().make(description, tmp_path)
    files = sorted(path.relative_to(generated) for path in generated.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert all((generated / file).read_bytes() == (tmp_path / file).read_bytes() for file in files)


def test_a_generated_test_that_is_gone_or_cut_short_is_not_missing_from_onnx(generated: Path, tmp_path: Path) -> None:
    folder = tmp_path / "generated"
    shutil.copytree(generated, folder)
    module = OnnxBackendLoader().made(Module(name="test_abs", path=tmp_path / "n.toml", entry="test_abs"), folder)
    (case,) = OnnxBackendLoader().load(
        CaseRequest(
            module="test_abs",
            source=module.path,
            data=module.data,
            folder=folder,
            compiler="c",
            functions=(FunctionInfo(name="f", arguments=1),),
        )
    )
    assert case.read is not None
    (folder / "test_abs/input_0.bin").write_bytes(b"abc")
    with pytest.raises(RetargetError) as caught:
        case.read()
    assert str(caught.value) == (
        f"data file {folder}/test_abs/input_0.bin is short: expected 240 bytes for 3x4x5xf32, found 3; "
        "it was generated by the package onnx and is damaged: run `retarget cache clear`"
    )
    (folder / "test_abs/model.onnx").unlink()
    with pytest.raises(RetargetError) as caught:
        OnnxBackendLoader().made(Module(name="test_abs", path=tmp_path / "n.toml", entry="test_abs"), folder)
    assert str(caught.value) == (
        f"{folder}: the folder of generated ONNX tests is damaged; clear the cache with `retarget cache clear`"
    )


def test_a_damaged_file_of_cases_is_named(generated: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "cases.json"
    damaged.write_text(json.dumps({"rtol": 0.001}))
    request = CaseRequest(
        module="test_abs",
        source=generated,
        data=(damaged,),
        folder=generated,
        compiler="cpu",
        functions=(FunctionInfo(name="main", arguments=1),),
    )
    with pytest.raises(RetargetError) as caught:
        OnnxBackendLoader().load(request)
    assert str(caught.value) == (f"{damaged}: a damaged file of cases (KeyError: 'atol'); run `retarget cache clear`")
