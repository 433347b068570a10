"""ONNX models: the import, and `python3 -m retarget_iree.compile_for` that compiles one by hand."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from iree_support import VMVX
from onnx import TensorProto, helper
from retarget.extension import CompilerError, UnavailableError
from retarget.support import install_hint
from retarget_iree import compile_for
from retarget_iree.builds import CompilerBuild
from retarget_iree.modules import onnx_import
from retarget_iree.modules.onnx_import import _run_importer, import_onnx, onnx_version
from retarget_iree.toolchain import VARIABLE


def onnx_model() -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "ab"]
    output = helper.make_tensor_value_info("c", TensorProto.FLOAT, [3])
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "add", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_what_imports_models_is_named_by_its_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"1 of {name}")
    own = CompilerBuild(folder=tmp_path, package=tmp_path)
    assert onnx_version(own) == "1 of onnx"
    assert onnx_version(CompilerBuild(folder=tmp_path)) == "1 of onnx 1 of iree-base-compiler"


def test_the_importer_is_that_of_the_build_and_without_one_the_environments_in_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from iree.compiler.tools.import_onnx import __main__ as importer

    files, done = (tmp_path / "in.onnx", tmp_path / "out.mlir"), []
    monkeypatch.setattr(onnx_import, "compiler_api", lambda: done.append("the library is loaded"))
    monkeypatch.setattr(importer, "main", lambda options: done.append((str(options.input_file), options.output_file)))
    monkeypatch.setattr(onnx_import, "find_compiler", lambda: CompilerBuild(folder=tmp_path, package=tmp_path))
    _run_importer(*files)
    assert done == ["the library is loaded", tuple(map(str, files))]

    def run(argv: list[str], *, env: dict[str, str], **_: bool) -> subprocess.CompletedProcess[str]:
        assert argv[1:] == ["-P", "-m", "iree.compiler.tools.import_onnx", str(files[0]), "-o", str(files[1])]
        assert (env.get(VARIABLE), env.get("OTHER")) == (None, "kept")
        return subprocess.CompletedProcess(argv, *answers.pop(0))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(onnx_import, "find_compiler", lambda: CompilerBuild(folder=tmp_path))
    monkeypatch.setenv(VARIABLE, "/a/toolchain")
    monkeypatch.setenv("OTHER", "kept")
    missing = "ModuleNotFoundError: No module named 'iree'"
    answers = [(0, "", ""), (1, "", "more\nTypeError: no\n"), (3, "", ""), (1, "", missing)]
    _run_importer(*files)
    for error, said in ((ValueError, "TypeError: no"), (ValueError, "exit status 3"), (ImportError, missing)):
        with pytest.raises(error, match=f"^{said}$"):
            _run_importer(*files)


@pytest.mark.parametrize("content", [b"not a model", b""])
def test_bytes_that_are_no_onnx_model_are_refused(content: bytes) -> None:
    with pytest.raises(CompilerError, match=r"^bad\.onnx: not an ONNX model: "):
        import_onnx(content, "bad.onnx")


@pytest.mark.parametrize("empty", [("node",), ("output",), ("node", "output")])
def test_a_model_without_ops_and_without_outputs_is_none(
    monkeypatch: pytest.MonkeyPatch, empty: tuple[str, ...]
) -> None:
    model = onnx_model()
    for name in empty:
        model.graph.ClearField(name)
    monkeypatch.setattr(onnx_import, "_run_importer", lambda _, output: output.write_bytes(b"imported"))
    if len(empty) < 2:
        assert import_onnx(model.SerializeToString(), "m.onnx") == b"imported"
    else:
        with pytest.raises(CompilerError, match=r"^m.onnx: not an ONNX model: it holds no graph$"):
            import_onnx(model.SerializeToString(), "m.onnx")


def test_an_invalid_onnx_model_is_reported_in_the_importers_words() -> None:
    model = onnx_model()
    model.graph.node[0].op_type = "NoSuchOperator"
    with pytest.raises(CompilerError, match=r"^m\.onnx: the ONNX importer refused the model: ") as caught:
        import_onnx(model.SerializeToString(), "m.onnx")
    assert "NoSuchOperator" in caught.value.diagnostics


def test_an_onnx_model_with_tensors_in_other_files_is_refused() -> None:
    model = onnx_model()
    tensor = model.graph.initializer.add(name="b", data_type=TensorProto.FLOAT, dims=[3])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    with pytest.raises(CompilerError, match=r"^m\.onnx: tensors lie in other files \(weights\.bin\)"):
        import_onnx(model.SerializeToString(), "m.onnx")


def test_without_the_package_onnx_the_hint_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UnavailableError) as caught:
        import_onnx(b"", "m.onnx")
    assert caught.value.hint == install_hint("onnx")


@pytest.mark.slow
def test_a_model_is_compiled_by_hand(tmp_path: Path) -> None:
    model, output = tmp_path / "add.onnx", tmp_path / "add.vmfb"
    onnx.save(onnx_model(), model)
    argv = [sys.executable, "-m", "retarget_iree.compile_for", str(model), *VMVX, "-o", str(output)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert output.stat().st_size > 1000


def test_the_tool_compiles_what_the_importer_gives_with_all_other_words(
    cwd: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(argv: list[str], *, input: bytes, check: bool) -> subprocess.CompletedProcess[str]:  # noqa: A002
        assert (input, check) == (b"imported", False)
        asked.append(argv)
        return subprocess.CompletedProcess(argv, 3)

    def refuse(_content: bytes, name: str) -> bytes:
        msg = f"{name}: no model"
        raise CompilerError(msg)

    asked: list[list[str]] = []
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(compile_for, "import_onnx", lambda content, name: b"imported" * (content == b"model"))
    (cwd / "m.onnx").write_bytes(b"model")
    for tool in (Path("own/iree-compile"), None):
        monkeypatch.setattr(compile_for, "find_compiler", lambda tool=tool: CompilerBuild(folder=Path(), tool=tool))
        assert compile_for.main(["m.onnx", "--flag=x.onnx", "-o", "out"]) == 3
        assert asked.pop() == [str(tool or "iree-compile"), "-", "--flag=x.onnx", "-o", "out"]
    for words in ([], ["m.mlir"]):
        assert compile_for.main(words) == 2
        assert capsys.readouterr().err.startswith("`python3 -m retarget_iree.compile_for ")
    assert compile_for.main(["n.onnx", "-o", "out"]) == 1
    assert capsys.readouterr().err == "error: [Errno 2] No such file or directory: 'n.onnx'\n"
    monkeypatch.setattr(compile_for, "import_onnx", refuse)
    assert compile_for.main(["m.onnx", "-o", "out"]) == 1
    assert (capsys.readouterr().err, asked) == ("error: m.onnx: no model\n", [])
