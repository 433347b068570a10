"""Which suites `retarget init` gets for modules with and without cases, and what it says of files left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.extension import FunctionInfo, ModulesRequest, Suggestions
from retarget.support import RetargetError
from retarget_cases import starters
from retarget_cases.starters import cases_suites, model_suites, onnx_functions

ONE = "func.func @f(%a: tensor<?x3xf32>) -> tensor<?x3xf32> { return %a : tensor<?x3xf32> }\n"
TWO = ONE + "func.func @g(%a: i32, %b: !torch.vtensor<[2,?],f16>) -> i32 { return %a : i32 }\n"
NONE = "func.func @h() -> f32 { return %a : f32 }\n"


def suites(folder: Path, reference: str = "vmvx", **texts: str) -> Suggestions:
    files = []
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_mlir", ".mlir").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        files.append(path)
    return cases_suites(ModulesRequest(folder=folder, files=tuple(files), reference=reference))


def left_out(found: Suggestions) -> list[tuple[str, str]]:
    return [(path.name, reason) for path, reason in found.left_out]


def test_modules_with_cases_and_modules_that_get_some_are_suites_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.cases.toml").write_text("")
    found = suites(tmp_path, a_mlir=ONE, b_mlir=ONE, c_txt="")
    present, starter = found.suites
    assert ([path.name for path in present.files], present.label, present.compares) == (["a.mlir"], "", False)
    assert (present.used, present.writes) == ((tmp_path / "a.cases.toml",), ())
    assert ([path.name for path in starter.files], starter.label, starter.compares) == (["b.mlir"], "starter", True)
    assert [path.name for path, _ in starter.writes] == ["b.cases.toml"]
    assert "vmvx on generated inputs" in starter.comment[1]
    assert (found.left_out, found.data) == ((), ())
    (alone,) = suites(tmp_path, b_mlir=ONE).suites
    assert alone.label == ""


@pytest.mark.parametrize(
    ("cases", "agree"),
    [("inputs = [1]\n", "majority"), ("expected = [1]\n", ""), ("agree_with = 'vmvx'\n", ""), ("nonsense = 1\n", "")],
)
def test_a_suite_of_cases_without_values_has_to_agree(tmp_path: Path, cases: str, agree: str) -> None:
    (tmp_path / "a.cases.toml").write_text(f"[[case]]\n{cases}")
    (suite,) = suites(tmp_path, a_mlir=ONE).suites
    assert suite.agree == agree


def test_each_function_has_a_case_that_names_it_where_there_are_several(tmp_path: Path) -> None:
    (suite,) = suites(tmp_path, one_mlir=ONE, two_mlir=TWO, none_mlir=NONE).suites
    one, two, none = (text.partition("(NumPy).\n\n")[2] for _, text in suite.writes)
    value = '{ random = "uniform", low = -1, high = 1, shape = [4, 3] }'
    assert one == f'[[case]]\ninputs = [{value}]\nagree_with = "vmvx"\n'
    assert two == (
        f'[[case]]\nfunction = "f"\ninputs = [{value}]\nagree_with = "vmvx"\n\n'
        '[[case]]\nfunction = "g"\ninputs = [\n'
        '    { random = "integers", low = 1, high = 5, shape = [], dtype = "i32" },\n'
        '    { random = "uniform", low = -1, high = 1, shape = [2, 4], dtype = "f16" },\n]\nagree_with = "vmvx"\n'
    )
    assert none == '[[case]]\ninputs = []\nagree_with = "vmvx"\n'


@pytest.mark.parametrize(
    ("text", "reference", "reason"),
    [
        ("func.func @f(%a: f32) { return }\n", "vmvx", "has no public function that returns something"),
        ("func.func private @f(%a: f32) -> f32\n", "vmvx", "has no public function that returns something"),
        (ONE, "", "needs expected results in m.cases.toml: there is no second compiler config to compare with"),
        (
            "func.func @f(%a: f32, %b: !opaque) -> f32 { return %a : f32 }\n",
            "vmvx",
            "takes an argument of type !opaque (f, argument 1), for which no values can be generated",
        ),
        (
            "func.func @f(%a: tensor<*xf32>) -> f32 { return %a : f32 }\n",
            "vmvx",
            "takes an argument of type tensor<*xf32> (f, argument 0), for which no values can be generated",
        ),
    ],
)
def test_a_module_that_can_have_no_starter_is_left_out(tmp_path: Path, text: str, reference: str, reason: str) -> None:
    found = suites(tmp_path, reference, m_mlir=text)
    assert (found.suites, left_out(found)) == ((), [("m.mlir", reason)])


def test_a_module_that_is_too_large_to_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starters, "_LARGEST", 2 << 20)
    padded = ONE + "//" + "x" * ((2 << 20) - len(ONE) - 2)
    assert left_out(suites(tmp_path, m_mlir=padded)) == []
    reason = "has more than 2 MiB, too much to look for functions; write its .cases.toml file by hand"
    assert left_out(suites(tmp_path, m_mlir=f"{padded}x")) == [("m.mlir", reason)]


def test_modules_that_would_share_cases_are_named_and_files_of_values_are_advised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starters, "onnx_functions", lambda _: (FunctionInfo(name="g", arguments=0),))
    found = suites(tmp_path, a_mlir=ONE, a_onnx="", b_onnx="", x_npy="", y_npz="", z_pb="", w_bin="", v_txt="")
    assert left_out(found) == [("a.onnx", "would share a.cases.toml with another module; give it another name")]
    assert [path.name for path in found.suites[0].files] == ["a.mlir", "b.onnx"]
    assert [path.name for path, _ in found.data] == ["x.npy", "y.npz", "z.pb", "w.bin"]
    others = suites(tmp_path, a_mlir=ONE, x_npy="", p_gguf="", c_csv="").data
    assert [(path.name, advice.partition("; ")[2].removesuffix(" (docs/cases.md)")) for path, advice in others] == [
        ("x.npy", "name it as inputs or expected in the cases of a module"),
        ("p.gguf", "name it as parameters in the cases of a module"),
        ("c.csv", "cases read .npy, .npz, .pb and .bin"),
    ]
    (tmp_path / "a.cases.toml").write_text("")
    assert left_out(suites(tmp_path, a_mlir=ONE, a_onnx=""))[0][0] == "a.onnx"


def test_models_with_data_sets_that_hold_results_are_a_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def functions(path: Path) -> tuple[FunctionInfo, ...]:
        if path.parent.name == "broken":
            msg = "is broken"
            raise RetargetError(msg)
        return ()

    monkeypatch.setattr(starters, "onnx_functions", functions)
    files = []
    for name, values in (("whole", ("input_0", "output_12")), ("inputs", ("input_0",)), ("broken", ("output_0",))):
        sets = tmp_path / name / "test_data_set_0"
        sets.mkdir(parents=True)
        files += [tmp_path / name / "model.onnx", tmp_path / name / "x.mlir"]
        for value in values:
            (sets / f"{value}.pb").touch()
    found = model_suites(ModulesRequest(folder=tmp_path, files=tuple(files), reference="vmvx"))
    (suite,) = found.suites
    assert suite.files == (files[0],)
    sets = tmp_path / "whole/test_data_set_0"
    assert suite.used == (sets / "input_0.pb", sets / "output_12.pb", tmp_path / "whole/model.cases.toml")
    assert found.left_out == ((files[4], "is broken"),)
    found = model_suites(ModulesRequest(folder=tmp_path, files=tuple(files[2:]), reference="vmvx"))
    assert (found.suites, len(found.left_out)) == ((), 1)


@pytest.mark.parametrize(
    ("known", "elsewhere", "message"),
    [
        (RetargetError("x"), False, "is not an ONNX model that the package onnx can read"),
        (None, False, "is an ONNX model, and the package onnx is not installed; "),
        ("function", True, "has its tensors in other files; save it with onnx.save_model("),
        ("function", False, ""),
    ],
)
def test_a_model_that_cannot_be_read_whole_is_an_error(
    monkeypatch: pytest.MonkeyPatch, known: object, elsewhere: bool, message: str
) -> None:
    def function(_: Path) -> object:
        if isinstance(known, Exception):
            raise known
        return known and FunctionInfo(name="g", arguments=1, argument_types=("tensor<2xf32>",))

    monkeypatch.setattr(starters, "model_function", function)
    monkeypatch.setattr(starters, "has_tensors_elsewhere", lambda _: elsewhere)
    if message:
        with pytest.raises(RetargetError) as caught:
            onnx_functions(Path("m.onnx"))
        assert str(caught.value).startswith(message)
    else:
        (found,) = onnx_functions(Path("m.onnx"))
        assert (found.name, found.argument_types) == ("g", ("tensor<2xf32>",))
