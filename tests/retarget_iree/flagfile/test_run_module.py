"""The modules of a tree of flagfiles, their cases, their parameter files, and the command by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import iree.runtime as rt
import numpy as np
import pytest
from declaration_texts import compiler, declarations, suite, target
from iree_support import VMVX, Compile, OpenDevice, runtime_config
from mlir_modules import SCALE
from retarget.cli import main
from retarget.extension import CaseRequest, Device, DriverError, FunctionInfo
from retarget.model import Module, Origin, Suite
from retarget.support import DiagnosticsError
from retarget_iree.flagfile.loader import RunModuleCaseLoader

LOADER = RunModuleCaseLoader()
MAIN = FunctionInfo(name="main", arguments=0)


pytestmark = pytest.mark.usefixtures("cwd")


def write(files: Mapping[str, str]) -> list[Path]:
    """Write files below the current folder; return those that are flagfiles."""
    for name, text in files.items():
        path = Path.cwd() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [Path.cwd() / name for name in files if name.endswith(".txt")]


def found(files: Mapping[str, str]) -> list[tuple[str, str, list[str]]]:
    """Return name, program and flagfiles of each module."""
    folder = Path.cwd()
    return [
        (module.name, str(module.path.relative_to(folder)), [str(path.relative_to(folder)) for path in module.data])
        for module in LOADER.find_modules(folder, write(files))
    ]


def diagnostics(files: Mapping[str, str]) -> list[str]:
    flagfiles = write(files)
    with pytest.raises(DiagnosticsError) as caught:
        LOADER.find_modules(Path.cwd(), flagfiles)
    return str(caught.value).splitlines()


def request(*names: str, functions: tuple[FunctionInfo, ...] = (MAIN,)) -> CaseRequest:
    folder = Path.cwd()
    data = tuple(folder / name for name in names)
    return CaseRequest(
        module="m", source=folder / "m.mlir", data=data, folder=folder, compiler="vmvx", functions=functions
    )


# ---------------------------------------------------------------- modules


def test_a_folders_only_module_goes_by_the_folder() -> None:
    assert found({"onnx/node/test_abs/model.mlir": "", "onnx/node/test_abs/run_module_io_flags.txt": ""}) == [
        ("onnx/node/test_abs", "onnx/node/test_abs/model.mlir", ["onnx/node/test_abs/run_module_io_flags.txt"])
    ]


def test_a_module_in_the_suites_own_folder_goes_by_its_stem() -> None:
    assert found({"model.mlirbc": "", "a.txt": "", "b.txt": ""}) == [("model", "model.mlirbc", ["a.txt", "b.txt"])]


def test_of_several_modules_in_a_folder_each_is_named_by_its_flagfiles() -> None:
    assert found({"x/a.mlir": "", "x/b.mlir": "", "x/a.txt": "--module=a.mlir", "x/b.txt": '--module="b.mlir"'}) == [
        ("x/a", "x/a.mlir", ["x/a.txt"]),
        ("x/b", "x/b.mlir", ["x/b.txt"]),
    ]


def test_flagfiles_elsewhere_may_share_a_module() -> None:
    assert found({"m.mlir": "", "x/a.txt": "--module=../m.mlir", "y/a.txt": "--module=../m.mlir"}) == [
        ("m", "m.mlir", ["x/a.txt", "y/a.txt"])
    ]


def test_a_model_counts_where_it_was_not_imported() -> None:
    files = {"x/model.onnx": "", "x/model.mlir": "", "x/flags.txt": "", "y/model.onnx": "", "y/flags.txt": ""}
    assert [program for _, program, _ in found(files)] == ["x/model.mlir", "y/model.onnx"]


def test_a_compiled_module_stands_for_the_program_of_its_stem() -> None:
    assert found({"a.mlir": "", "b.mlir": "", "f.txt": "--module=b.vmfb"}) == [("b", "b.mlir", ["f.txt"])]


def test_a_module_that_links_out_of_the_suites_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "model.mlir").touch()
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "model.mlir").symlink_to(tmp_path / "model.mlir")
    (folder / "f.txt").touch()
    with pytest.raises(DiagnosticsError) as caught:
        LOADER.find_modules(folder, [folder / "f.txt"])
    assert str(caught.value) == (
        f"suite/f.txt: found the module model.mlir beside it, which links to '{tmp_path}/model.mlir'; "
        "expected a file in the suite's folder: copy it there"
    )


def test_every_flagfile_whose_module_is_not_there_is_reported_at_once(tmp_path: Path) -> None:
    files = dict.fromkeys(["none/f.txt", "two/a.mlir", "two/b.mlir", "two/f.txt"], "") | {
        "two/g.txt": "# first\n  --module=c.mlir",
        "two/h.txt": "--module=../../x.mlir",
        "two/i.txt": "--module=c.vmfb",
    }
    assert diagnostics(files) == [
        "none/f.txt: found no module beside it, expected one (.mlir, .mlirbc or .onnx), or --module=FILE in it",
        "two/f.txt: found several modules beside it (a.mlir, b.mlir), expected --module=FILE in it, "
        "such as --module=a.mlir",
        "two/g.txt:2:12: found no file 'c.mlir', expected a module; did you mean 'b.mlir'?",
        f"two/h.txt:1:10: found '../../x.mlir', which leads outside the suite's folder {tmp_path}; "
        "expected a module inside it",
        "two/i.txt:1:10: found 'c.vmfb', expected a program: .mlir, .mlirbc or .onnx (it is compiled by this run)",
    ]


def test_programs_among_the_srcs_are_reported(tmp_path: Path) -> None:
    write({"m.mlir": ""})
    with pytest.raises(DiagnosticsError) as caught:
        LOADER.find_modules(tmp_path, [tmp_path / "m.mlir"])
    assert str(caught.value) == (
        "m.mlir: found a program, expected a flagfile of iree-run-module: name the flagfiles in srcs, not the modules"
    )


# ---------------------------------------------------------------- cases


def test_one_flagfile_is_named_by_its_function_several_by_their_stems() -> None:
    write({"a.txt": "", "b.txt": "", "x/a.txt": "", "y/a.txt": ""})
    assert [case.name for case in LOADER.load(request("a.txt"))] == ["main"]
    assert [case.name for case in LOADER.load(request("a.txt", "b.txt"))] == ["a", "b"]
    assert [case.name for case in LOADER.load(request("x/a.txt", "b.txt", "y/a.txt"))] == ["x/a", "b", "y/a"]


def test_a_function_that_is_missing_or_unknown_fails_its_case_and_lists_the_exported_ones() -> None:
    write({"a.txt": "", "b.txt": "--function=mian", "c.txt": "--function=main"})
    others = tuple(FunctionInfo(name=f"f{number}", arguments=0) for number in range(20))
    listed = ", ".join(["main", *(f"f{number}" for number in range(11))])
    messages = []
    for case in LOADER.load(request("a.txt", "b.txt", "c.txt", functions=(MAIN, *others))):
        assert case.read is not None
        if case.name == "c":
            assert case.read().expected is None
            continue
        with pytest.raises(DiagnosticsError) as caught:
            case.read()
        messages.append(str(caught.value))
    assert messages == [
        f"a.txt: found no --function, expected one: the module exports 21 functions: {listed} and 9 more",
        f"b.txt:1:12: found 'mian', expected a function that the module exports: {listed} and 9 more; "
        "did you mean 'main'?",
    ]


def test_data_that_is_not_there_or_of_another_length_is_reported_without_the_module(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "short.bin").write_bytes(bytes(15))
    (folder / "two.bin").write_bytes(bytes(32))
    (folder / "large.npy").touch()
    os.truncate(folder / "large.npy", 2 << 30)
    np.save(folder / "bf16.npy", np.zeros(2, "V2"))
    (tmp_path / "out.bin").write_bytes(bytes(16))
    lines = [
        "--input=4xf32=@mising.bin",
        "--input=4xf32=@short.bin",
        "--input=4xf32=@two.bin",
        "--input=4xf32=+two.bin",
        "--input=@bf16.npy",
        "--input=4xf32=@../out.bin",
        "--expected_output=3xf32=@two.bin",
        "--expected_output=@large.npy",
        "--parameters=w.irpa",
        "--input=300000000xf32=1",
    ]
    (folder / "f.txt").write_text("\n".join(lines))
    module = Module(name="m", path=folder / "m.mlir", data=(folder / "f.txt",))
    suite = Suite(
        name="s",
        folder=folder,
        modules=(module,),
        kind="run-module",
        targets=(),
        origin=Origin(file=folder / "suite.toml", key_path=""),
    )
    assert [str(diagnostic) for diagnostic in LOADER.data_diagnostics(module, suite)] == [
        "suite/f.txt:1:9: data file suite/mising.bin does not exist",
        "suite/f.txt:2:9: data file suite/short.bin is short: expected 16 bytes for 4xf32, found 15",
        f"suite/f.txt:6:9: data file ../out.bin leads to {tmp_path}/out.bin, outside the suite's folder {folder}; "
        "expected a file inside it: copy it there",
        "suite/f.txt:8:19: data file suite/large.npy has 2147483648 bytes, over the limit of 1073741824; to read it, "
        "set the environment variable RETARGET_MAX_DATA_BYTES to 2147483648 or more",
        "suite/f.txt:9:14: data file suite/w.irpa does not exist",
    ]


DECLARED = declarations(compiler("vmvx"), target("cpu", "vmvx", []), suite("ops", "**/*.txt", "run-module", ["cpu"]))


def test_retarget_check_shows_the_errors_of_all_flagfiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write({"suite.toml": DECLARED, "a/m.mlir": "", "b/m.mlir": ""})
    write({"a/f.txt": "--input=4xf32=1", "a/g.txt": "--inpt=5", "b/f.txt": "--input=4xf32=x"})
    assert main(["check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "a/g.txt:1:1: found --inpt, expected a flag of iree-run-module that bears on a case; did you mean 'input'?",
        "b/f.txt:1:15: found 'x', expected a number, for f32",
    ]
    write({"a/g.txt": "--input=5", "b/f.txt": ""})
    assert main(["check"]) == 0


# ---------------------------------------------------------------- parameter files


def test_parameter_files_are_those_of_all_flagfiles(tmp_path: Path) -> None:
    write({"a.txt": "--parameters=s=w.irpa\n--parameters=v.irpa", "b.txt": "--parameters=s=w.irpa", "c.txt": "oops"})
    write({"w.irpa": "", "v.irpa": ""})
    assert LOADER.parameters(request("a.txt", "b.txt", "c.txt")) == (
        ("s", tmp_path / "w.irpa"),
        ("", tmp_path / "v.irpa"),
    )


def test_parameter_files_that_are_not_there_or_differ_are_errors(tmp_path: Path) -> None:
    write({"w.irpa": "", "v.irpa": "", "a.txt": "--parameters=s=w.irpa", "b.txt": "--parameters=s=v.irpa"})
    with pytest.raises(DiagnosticsError) as caught:
        LOADER.parameters(request("a.txt", "b.txt"))
    assert str(caught.value) == (
        "b.txt:1:16: found other files of parameter scope 's' than in a.txt, "
        "expected the same in all flagfiles of a module: it is loaded once"
    )
    write({"c.txt": "--parameters=s=x.irpa\n--parameters=../w.irpa"})
    with pytest.raises(DiagnosticsError) as caught:
        LOADER.parameters(request("c.txt"))
    assert str(caught.value).splitlines() == [
        "c.txt:1:16: data file x.irpa does not exist; did you mean 'w.irpa'?",
        f"c.txt:2:14: data file ../w.irpa leads to {tmp_path.parent}/w.irpa, outside the suite's folder {tmp_path}; "
        "expected a file inside it: copy it there",
    ]


WEIGHTED = SCALE.replace("3xf32", "4xf32")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    rt.save_archive_file({"weights": np.arange(4, dtype=np.float32)}, str(tmp_path / "weights.irpa"))
    return tmp_path / "weights.irpa"


def check_scaled(device: Device, artifact: bytes, weights: Path) -> None:
    program = device.load_with_parameters(artifact, [("model", weights)])
    (scaled,) = program.call("scale", [np.full(4, 2, np.float32)], lambda check: None)
    assert scaled.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("driver", ["local-sync", "local-task"])
def test_a_module_takes_its_parameters_from_a_file(
    driver: str, compile_module: Compile, open_device: OpenDevice, weights: Path
) -> None:
    check_scaled(open_device(driver), compile_module(WEIGHTED, *VMVX), weights)


def test_parameters_that_are_missing_or_unreadable_say_what_to_do(
    compile_module: Compile, open_device: OpenDevice, weights: Path
) -> None:
    artifact = compile_module(WEIGHTED, *VMVX)
    device = open_device("local-sync")
    with pytest.raises(DriverError, match="required module 'io_parameters'") as caught:
        device.load(artifact)
    assert caught.value.hint == (
        "the module takes parameters from files: --parameters=SCOPE=FILE in a flagfile (kind run-module) or "
        'parameters = { SCOPE = "FILE" } in a cases file (kind cases) names one'
    )
    with pytest.raises(DriverError, match="no provider registered that handles scopes like 'model'") as caught:
        device.load_with_parameters(artifact, [("other", weights)])
    assert caught.value.hint == (
        "the module was given scope other with weights; `iree-dump-parameters --parameters=FILE` shows more of a file"
    )
    rt.save_archive_file({f"w{at}": np.zeros(3, np.float32) for at in range(6)}, str(weights.parent / "keys.irpa"))
    with pytest.raises(DriverError, match="no parameter found in index with key 'weights'") as caught:
        device.load_with_parameters(artifact, [("model", weights.parent / "keys.irpa")])
    assert caught.value.hint == (
        "the module was given scope model with w0, w1, w2, w3 and 2 more; "
        "`iree-dump-parameters --parameters=FILE` shows more of a file"
    )
    (weights.parent / "bad.irpa").write_bytes(b"no archive")
    with pytest.raises(DriverError, match=r"the parameter file .*bad\.irpa cannot be loaded: ") as caught:
        device.load_with_parameters(artifact, [("model", weights.parent / "bad.irpa")])
    assert "iree-dump-parameters" in caught.value.hint


# ---------------------------------------------------------------- by hand


def test_the_command_runs_in_the_folder_of_the_flagfile(tmp_path: Path) -> None:
    named_module = "--module=m.mlir\n--function=f\n--input=@x.npy\n--print_statistics"
    data = tuple(write({"x/a.txt": "", "x/b.txt": named_module, "x/i4.txt": "--input=4xi4=1 2 3 4"}))
    module = Module(name="x", path=tmp_path / "x/m.mlir", data=data)
    config = runtime_config("local-task", flags=["--task_topology_group_count=2"])
    plan = LOADER.run_case_outside(config, Path("m.vmfb"), module, tmp_path, "a")
    assert plan is not None
    assert plan.cwd == tmp_path / "x"
    assert plan.argv[1:] == (
        "--device=local-task",
        f"--module={tmp_path}/m.vmfb",
        "--flagfile=a.txt",
        "--task_topology_group_count=2",
    )
    named = LOADER.run_case_outside(config, Path("m.vmfb"), module, tmp_path, "b")
    assert named is not None
    assert named.argv[3:-1] == ("--function=f", "--input=@x.npy", "--print_statistics")
    small = LOADER.run_case_outside(config, Path("m.vmfb"), module, tmp_path, "i4")
    assert small is not None
    assert small.argv[3:-1] == ("--input=4xi4=21 43",)
    assert LOADER.run_case_outside(config, Path("m.vmfb"), module, tmp_path, "c") is None
    assert LOADER.run_case_outside(runtime_config("opencl"), Path("m.oclx"), module, tmp_path, "a") is None
    assert LOADER.run_case_outside(runtime_config("vulkan", "1"), Path("m.vmfb"), module, tmp_path, "a") is None
