"""The command lines that reproduce by hand: `run_check`, `compile_onnx`; and the ONNX import behind the latter."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from iree_support import VMVX, Compile, OpenDevice, driver_named, runtime_config
from onnx import TensorProto, helper
from retarget.extension import Check, CompilerError, UnavailableError
from retarget.model.outcomes import Stage
from retarget.support.installing import install_hint
from retarget_iree import run_check
from retarget_iree.compiler.onnx_import import import_onnx
from retarget_iree.reproduce import RUN_CHECK_TELLS


def onnx_model() -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "ab"]
    output = helper.make_tensor_value_info("c", TensorProto.FLOAT, [3])
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "add", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def module_file(arithmetic: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("modules") / "a.vmfb"
    file.write_bytes(arithmetic)
    return file


def test_run_check_passes_what_holds(module_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_check.main(["--device=local-sync", f"--module={module_file}", "--function=passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("PASS passes (1 check, ")
    assert lines[1:] == ["1 passed, 0 failed on local-sync:// (CPU, in the calling thread)"]


def test_run_check_fails_what_differs_or_checks_nothing_and_goes_on(
    module_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_check.main(["--device=local-task://0", f"--module={module_file}", "--task_topology_group_count=1"]) == 1
    output = capsys.readouterr().out
    verdicts = [line.split(" (")[0] for line in output.splitlines() if line.startswith(("PASS", "FAIL"))]
    assert verdicts == [
        "PASS passes",
        "FAIL differs: 1 of 3 elements differ, first at [2]: actual 3, expected 4",
        "FAIL checks_nothing: function 'checks_nothing' made no check",
    ]
    assert output.endswith("1 passed, 2 failed on local-task:// (CPU, in a pool of threads)\n")


def test_run_check_tells_the_modules_own_failure(
    failing: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.vmfb"
    file.write_bytes(failing)
    assert run_check.main(["--device=local-sync", f"--module={file}", "--function=asserts"]) == 1
    output = capsys.readouterr().out
    assert output.startswith("FAIL asserts at run: FAILED_PRECONDITION; must be zero (0 checks, ")
    assert "\n    FAILED_PRECONDITION; must be zero\n" in output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--function=asserts"], (Stage.RUN, "FAILED_PRECONDITION; must be zero")),
        (["--function=g"], (Stage.RUN, "the module exports no function 'g'")),
        (["--no_such_flag"], (Stage.LOAD, "the IREE runtime refuses --no_such_flag: INVALID_ARGUMENT; flag 'no_such_")),
    ],
)
def test_what_run_check_prints_tells_the_stage(
    failing: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: tuple[Stage, str],
) -> None:
    file = tmp_path / "f.vmfb"
    file.write_bytes(failing)
    assert run_check.main(["--device=local-sync", f"--module={file}", *arguments]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    stage, said = next((stage, found[1]) for stage, line in RUN_CHECK_TELLS if (found := re.match(line, first)))
    assert (stage, said[: len(told[1])]) == told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--device=metal", "--module=x"],
            "expected devices of one of these drivers: local-sync, local-task, vulkan, cuda",
        ),
        (["--device=local-sync", "--device=vulkan", "--module=x"], "expected devices of one of these drivers"),
        (["--device=local-sync", "--module=missing.vmfb"], "cannot read the module missing.vmfb: No such file"),
        (["--device=local-sync", "--module=x", "stray"], "unexpected argument 'stray'"),
    ],
)
def test_run_check_refuses_a_wrong_command_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        run_check.main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device=local-sync://7"], "error: the driver local-sync has no device 'local-sync://7'"),
        (["--device=local-sync", "--no_such_flag"], "error: the IREE runtime refuses"),
        (["--device=local-sync", "--function=g"], "the module exports no function 'g'"),
    ],
)
def test_run_check_tells_what_is_missing(
    arguments: list[str], message: str, module_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_check.main([*arguments, f"--module={module_file}"]) == 1
    assert message in capsys.readouterr().out


@pytest.mark.parametrize(("function", "status"), [("passes", 0), ("differs", 1)])
def test_the_command_of_run_outside_tells_pass_from_fail(function: str, status: int, module_file: Path) -> None:
    plan = driver_named("local-sync").run_outside(runtime_config("local-sync"), module_file, function, "check")
    assert plan is not None
    argv = [sys.executable, *plan.argv[1:]]
    done = subprocess.run(argv, env={**os.environ, **dict(plan.env)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")


def test_an_onnx_model_is_imported_compiled_and_called(compile_module: Compile, open_device: OpenDevice) -> None:
    artifact = compile_module(onnx_model().SerializeToString(), *VMVX, name="add.onnx")
    program = open_device("local-sync").load(artifact)
    assert [(function.name, function.arguments) for function in program.functions] == [("add", 2)]
    checks: list[Check] = []
    values = np.array([1.0, 2.0, 3.0], np.float32)
    (result,) = program.call("add", [values, values], checks.append)
    assert result.tolist() == [2.0, 4.0, 6.0]
    assert checks == []


@pytest.mark.parametrize("content", [b"not a model", b""])
def test_bytes_that_are_no_onnx_model_are_refused(content: bytes) -> None:
    with pytest.raises(CompilerError, match=r"^bad\.onnx: not an ONNX model: "):
        import_onnx(content, "bad.onnx")


def test_an_invalid_onnx_model_is_told_in_the_importers_words() -> None:
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


def test_compile_onnx_compiles_by_hand(tmp_path: Path) -> None:
    model, output = tmp_path / "add.onnx", tmp_path / "add.vmfb"
    onnx.save(onnx_model(), model)
    argv = [sys.executable, "-m", "retarget_iree.compile_onnx", str(model), *VMVX, "-o", str(output)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert output.stat().st_size > 1000
    broken = subprocess.run([*argv[:3], "missing.onnx", "-o", "x"], capture_output=True, text=True, check=False)
    assert (broken.returncode, broken.stderr) == (1, "error: cannot read missing.onnx: No such file or directory\n")
    wrong = subprocess.run(argv[:3], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("usage: ")
