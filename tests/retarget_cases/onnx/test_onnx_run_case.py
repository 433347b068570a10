"""`python3 -m retarget.worker.run_case --kind=onnx-backend`: one node test by hand, judged as in a run of the suite."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from retarget.model import Module, Origin, RuntimeConfig
from retarget.worker.run_case import main
from retarget_cases.onnx.loader import OnnxBackendLoader
from retarget_cases.onnx.stored import write_test
from retarget_iree.compile_for import main as compile_for

VMVX = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx")
CONFIG = RuntimeConfig(
    name="sync", driver="local-sync", devices=("0",), flags=("--f=1",), origin=Origin(file=Path("m"), key_path="")
)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled `test_abs`, with `cases.json` and all beside it.

    It is one that onnx has. That onnx generates all of its tests takes seconds, and is tested with the loader.
    """
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, (3, 4, 5)) for name in "xy")
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "test_abs", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    data = np.random.default_rng(1).standard_normal((3, 4, 5), np.float32)
    folder = tmp_path_factory.mktemp("generated")
    test = SimpleNamespace(model=model, data_sets=[([data], [np.abs(data)])], rtol=1e-3, atol=1e-7)
    write_test(test, folder / "test_abs")
    output = folder / "test_abs" / "test_abs.vmfb"
    assert compile_for([str(folder / "test_abs" / "model.onnx"), *VMVX, "-o", str(output)]) == 0
    return output


def run(artifact: Path, *arguments: str) -> int:
    files = [str(artifact.parent / name) for name in ("model.onnx", "cases.json")]
    return main(["--kind=onnx-backend", "--driver=local-sync", f"--artifact={artifact}", *arguments, *files])


def test_a_wrong_result_fails_and_shows_what_differs(artifact: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = artifact.parent / "output_0.bin"
    right = expected.read_bytes()
    expected.write_bytes(bytes(4) + right[4:])
    try:
        assert run(artifact, "--case=test_data_set_0") == 1
    finally:
        expected.write_bytes(right)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(
        "test_data_set_0: failed at compare: result 0: 1 of 60 elements differ, first at [0, 0, 0]"
    )
    assert printed[1].startswith("    result 0: 1 of 60 elements differ (")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--case=none"], "error: failed at load: there is no case 'none'; there are: test_data_set_0"),
        (["--driver=none"], "error: found the driver 'none', expected a registered one: "),
        (
            ["--artifact=none.vmfb"],
            "error: failed at load: artifact none.vmfb cannot be read: No such file or directory",
        ),
    ],
)
def test_errors_are_reported(
    artifact: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(artifact, *arguments) == 1
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize(
    ("arguments", "missing"), [(["--kind=onnx-backend"], "--driver"), (["--kind=filecheck"], "--compilers")]
)
def test_what_a_kind_needs_is_requested(arguments: list[str], missing: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--artifact=a", "b.mlir"])
    assert ended.value.code == 2
    printed = capsys.readouterr().err.splitlines()[-1]
    assert printed == f"python3 -m retarget.worker.run_case: error: the following arguments are required: {missing}"


def test_the_command_names_driver_devices_flags_and_case() -> None:
    here = Path("generated/test_abs")
    module = Module(name="test_abs", path=here / "model.onnx", data=(here / "cases.json",), entry="test_abs")
    plan = OnnxBackendLoader().run_case_outside(CONFIG, Path("a.vmfb"), module, Path("generated"), "test_data_set_0")
    assert plan is not None
    assert plan.argv[1:] == (
        "-m",
        "retarget.worker.run_case",
        "--kind=onnx-backend",
        "--driver=local-sync",
        "--device=0",
        "--artifact=a.vmfb",
        "--case=test_data_set_0",
        "--f=1",
        "generated/test_abs/model.onnx",
        "generated/test_abs/cases.json",
    )


def test_there_is_no_command_for_a_test_that_was_not_generated() -> None:
    module = Module(name="test_abs", path=Path("nodes.toml"), entry="test_abs")
    assert OnnxBackendLoader().run_case_outside(CONFIG, Path("a.vmfb"), module, Path("generated"), "") is None


def test_the_files_of_data_sets_after_the_first_have_its_number_in_front(tmp_path: Path) -> None:
    one = SimpleNamespace(name="x", type=SimpleNamespace(WhichOneof=lambda _: "tensor_type"))
    graph = SimpleNamespace(input=[one], output=[one])
    model = SimpleNamespace(graph=graph, SerializeToString=lambda *, deterministic: b"")
    data_sets = [([np.float32(number)], [np.float32(number)]) for number in range(2)]
    write_test(SimpleNamespace(model=model, data_sets=data_sets, rtol=0.0, atol=0.0), tmp_path / "test")
    names = sorted(path.name for path in (tmp_path / "test").glob("*.bin"))
    assert names == ["input_0.bin", "output_0.bin", "set_1_input_0.bin", "set_1_output_0.bin"]
