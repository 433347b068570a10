"""The compiler `iree` prints the text of a phase."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iree_modules import ARITHMETIC
from iree_support import LLVM_CPU, VMVX, OpenDevice, compiler_config
from model_targets import compile_target
from retarget.extension import CompileRequest, CompilerError, DriverError
from retarget_iree.compiler import compiler as compiler_module
from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.compiler.flags import phase_of, with_one_phase, without_phase
from retarget_iree.toolchain import find_compiler

PHASES = "start, input, abi, preprocessing, global-optimization, dispatch-creation, flow, stream"


def compiled(iree: IreeCompiler, source: str, *flags: str, name: str = "a.mlir") -> bytes:
    resolved = iree.resolve(compiler_config(*flags), flags)
    request = CompileRequest(source=source.encode(), source_name=name, source_path=Path(name), resolved=resolved)
    return iree.compile(request).artifact


def by_tool(folder: Path, source: str, *flags: str) -> bytes:
    path = folder / "a.mlir"
    path.write_text(source)
    argv = [str(find_compiler().tool), *flags, "a.mlir", "-o", "-"]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "phase",
    [
        "input",
        "flow",
        "executable-targets",
        *(
            pytest.param(phase, marks=pytest.mark.slow)
            for phase in ("global-optimization", "stream", "executable-sources")
        ),
    ],
)
def test_a_phase_gives_the_bytes_that_the_tool_prints(iree: IreeCompiler, tmp_path: Path, phase: str) -> None:
    flags = (*VMVX, f"--compile-to={phase}")
    text = compiled(iree, ARITHMETIC, *flags)
    assert text == by_tool(tmp_path, ARITHMETIC, *flags)
    assert text.startswith(b"module")
    assert b"loc(" not in text


def test_a_phase_is_reached_in_the_process_of_the_library(iree: IreeCompiler, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError(arguments)

    monkeypatch.setattr(compiler_module, "compile_with_tool", refuse)
    assert b"flow.dispatch" in compiled(iree, ARITHMETIC, *LLVM_CPU, "--compile-to=flow")


def test_an_unknown_phase_is_an_error_that_lists_the_phases(iree: IreeCompiler) -> None:
    with pytest.raises(CompilerError) as raised:
        iree.resolve(compiler_config(*VMVX), (*VMVX, "--compile-to=flwo"))
    reported = str(raised.value)
    assert reported.startswith("--compile-to=flwo: there is no phase 'flwo'; did you mean 'flow'?; iree-compile has")
    assert f"iree-compile has the phases {PHASES}" in reported
    assert reported.endswith(", hal, vm, end")


def test_the_command_by_hand_writes_text_to_a_file_that_is_called_so(iree: IreeCompiler) -> None:
    flags = (*VMVX, "--compile-to=flow", "--compile-to=stream")
    target = compile_target("a", "test", compiler=compiler_config(*VMVX), flags=flags)
    argv = iree.reproduce(target, target.flags, Path("out") / "a_test.vmfb")
    assert argv[argv.index("a.mlir") :] == (
        "a.mlir",
        *VMVX,
        "--compile-to=stream",
        "-o",
        str(Path("out") / "a_test.mlir"),
    )
    argv = iree.reproduce(target, (*VMVX, "--compile-to=end"), Path("a_test.vmfb"))
    assert argv[-1] == "a_test.vmfb"


def test_phases_are_reported_from_other_flags() -> None:
    flags = ("--a", "--compile-to=flow", "--b", "-compile-to=vm", "--compile-to-x=1")
    assert with_one_phase(flags) == ("--a", "--b", "-compile-to=vm", "--compile-to-x=1")
    assert without_phase(flags) == ("--a", "--b", "--compile-to-x=1")
    assert phase_of(flags) == "vm"
    assert phase_of(("--compile-to=end",)) == ""
    assert with_one_phase(("--a",)) == ("--a",)


def test_text_is_refused_where_an_artifact_is_to_run(iree: IreeCompiler, open_device: OpenDevice) -> None:
    text = compiled(iree, ARITHMETIC, *VMVX, "--compile-to=flow")
    with pytest.raises(DriverError) as raised:
        open_device("local-sync").load(text)
    assert str(raised.value) == "this is text and no module that the IREE runtime can load"
    assert "--compile-to=PHASE" in raised.value.hint
