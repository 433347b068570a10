"""The compiler `iree`: flags, `host`, diagnostics, the tool for flags that only it takes."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from iree_modules import ARITHMETIC
from iree_support import LLVM_CPU, VMVX, Compile, OpenDevice, checks_of, compiler_config
from model_targets import compile_target
from msgspec.structs import replace
from retarget.extension import Compiler, CompileRequest, CompilerError, Resolved, UnavailableError
from retarget.model import DeviceInfo
from retarget.session.compile.steps import key_of
from retarget_iree import builds, toolchain
from retarget_iree.compiler import tool
from retarget_iree.compiler.compiler import IreeCompiler, IreeOptCompiler, tool_only_flags
from retarget_iree.compiler.flags import explicit_host
from retarget_opencl.compile.compiler import OpenClCompiler

BROKEN = "func.func @f() {\n  %x = arith.foo 1 : i32\n  return\n}\n"
UNSUPPORTED = """
func.func @f(%a: tensor<4xf128>) -> tensor<4xf128> {
  %0 = math.sin %a : tensor<4xf128>
  return %0 : tensor<4xf128>
}
"""
WARNED = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def resolve(iree: IreeCompiler, *flags: str) -> Resolved:
    return iree.resolve(compiler_config(*flags), flags)


def request(source: str, name: str, *flags: str) -> CompileRequest:
    resolved = Resolved(build_id="", flags=flags)
    return CompileRequest(source=source.encode(), source_name=name, source_path=Path(name), resolved=resolved)


@pytest.mark.slow
def test_host_is_resolved_to_flags_that_give_the_same_code(iree: IreeCompiler) -> None:
    resolved = resolve(iree, *LLVM_CPU)
    assert resolved.flags[:2] == LLVM_CPU[:2]
    cpu = resolved.flags[2]
    assert cpu.startswith("--iree-llvmcpu-target-cpu=")
    assert cpu != "--iree-llvmcpu-target-cpu=host"
    assert not any(flag.endswith("=host") for flag in resolved.flags)
    by_name = iree.compile(request(ARITHMETIC, "a.mlir", *resolved.flags))
    by_host = iree.compile(request(ARITHMETIC, "a.mlir", *LLVM_CPU))
    assert by_name.artifact == by_host.artifact


@pytest.mark.parametrize(
    ("said", "summary"),
    [("a.mlir:1:2: error: e\n", "a.mlir:1:2: error: e"), ("", "the compiler cannot name its target")],
)
def test_a_compiler_that_does_not_say_what_host_is_is_an_error(
    iree: IreeCompiler, monkeypatch: pytest.MonkeyPatch, said: str, summary: str
) -> None:
    monkeypatch.setattr("retarget_iree.compiler.compiler.precompile_with_library", lambda *_: ("", said))
    with pytest.raises(CompilerError) as caught:
        resolve(iree, *LLVM_CPU)
    assert str(caught.value) == summary


def test_flags_without_host_stay_as_they_are(iree: IreeCompiler) -> None:
    flags = (*VMVX, "--iree-opt-level=O2", "--iree-llvmcpu-target-cpu=host", "--iree-llvmcpu-target-cpu=generic")
    assert resolve(iree, *flags).flags == flags


def test_host_with_explicit_features_is_refused_before_the_compiler_aborts(iree: IreeCompiler) -> None:
    with pytest.raises(CompilerError, match="expected both to be `host`, or one of them alone"):
        resolve(iree, *LLVM_CPU, "--iree-llvmcpu-target-cpu-features=+avx")


def test_host_for_another_architecture_is_refused_before_the_compiler_aborts(iree: IreeCompiler) -> None:
    triple = "riscv64-linux-gnu" if platform.machine() != "riscv64" else "aarch64-linux-gnu"
    with pytest.raises(CompilerError, match="is for another architecture than this machine's"):
        resolve(iree, *LLVM_CPU, f"--iree-llvmcpu-target-triple={triple}")


def test_a_host_that_cannot_be_named_is_refused() -> None:
    answers = iter(["a", "b", "c"])

    def precompile(_: object) -> str:
        return f'#hal.executable.target<"llvm-cpu", "e", {{cpu = "x", cpu_features = "+{next(answers)}"}}>'

    with pytest.raises(CompilerError, match="the host CPU cannot be named to this compiler"):
        explicit_host(("--iree-llvmcpu-target-cpu=host",), precompile)


def test_a_compiler_that_names_no_cpu_is_reported() -> None:
    with pytest.raises(CompilerError, match="the compiler names no CPU for"):
        explicit_host(("--iree-llvmcpu-target-cpu=host",), lambda _: "module {}")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--iree-opt-levle=O3"],
            "--iree-opt-levle=O3: Unknown command line argument '--iree-opt-levle=O3'. "
            "Did you mean '--iree-opt-level=O3'?",
        ),
        (
            ["--iree-opt-level=O9"],
            "--iree-opt-level=O9: for the --iree-opt-level option: 'O9' value not a valid optimization level, "
            "use O0/O1/O2/O3",
        ),
        (["-o", "out.vmfb"], "'out.vmfb' is no flag: expected --name or --name=value"),
        (
            ["--iree-opt-data-tiling=maybe", "fast"],
            "--iree-opt-data-tiling=maybe: for the --iree-opt-data-tiling option: 'maybe' is invalid value for boolean "
            "argument! Try 0 or 1; 'fast' is no flag: expected --name or --name=value",
        ),
    ],
)
def test_a_flag_the_compiler_refuses_is_reported_in_its_words(
    iree: IreeCompiler, flags: list[str], message: str
) -> None:
    with pytest.raises(CompilerError) as caught:
        resolve(iree, *flags)
    assert message in str(caught.value)


@pytest.mark.slow
def test_a_flag_that_would_stay_in_the_process_is_left_to_the_tool(iree: IreeCompiler, tmp_path: Path) -> None:
    spec = tmp_path / "tuning.mlir"
    spec.write_text("this is no tuning spec")
    flags = (*LLVM_CPU, f"--iree-codegen-tuning-spec-path={spec}")
    assert tool_only_flags(flags) == flags[3:]
    resolved = resolve(iree, *flags)
    assert flags[3] not in resolved.not_inputs
    with pytest.raises(CompilerError, match=r"tuning\.mlir:1:1: error: custom op .this. is unknown"):
        iree.compile(request(ARITHMETIC, "a.mlir", *flags))
    assert iree.compile(request(ARITHMETIC, "a.mlir", *LLVM_CPU)).artifact


def test_what_the_compiler_said_is_taken_from_the_workers_log(
    iree: IreeCompiler, capfd: pytest.CaptureFixture[str]
) -> None:
    os.write(2, b"before\n")
    with pytest.raises(CompilerError):
        iree.compile(request(BROKEN, "bad.mlir", *VMVX))
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "before\nafter\n"


def printed_by(code: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "flags",
    [
        ("--iree-opt-level=O9",),
        ("--iree-input-type=zz", "--no-such-flag", "word"),
        ("--iree-llvmcpu-link-embedded=maybe",),
        ("--compile-to=nowhere",),
        ("--iree-codegen-tuning-spec-path=absent.mlir",),
    ],
)
def test_the_tool_refuses_flags_as_the_library_does(
    iree: IreeCompiler, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    with pytest.raises(CompilerError) as by_library:
        resolve(iree, *VMVX, *flags)
    only_tool(monkeypatch)
    with pytest.raises(CompilerError) as by_tool:
        resolve(iree, *VMVX, *flags)
    assert str(by_tool.value) == str(by_library.value)
    assert by_tool.value.verdict == by_library.value.verdict


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("source", "flags"), [(BROKEN, VMVX), (UNSUPPORTED, VMVX), (WARNED, LLVM_CPU[:2])])
def test_the_tool_says_of_modules_what_the_library_says(
    iree: IreeCompiler, monkeypatch: pytest.MonkeyPatch, source: str, flags: tuple[str, ...]
) -> None:
    def said() -> tuple[str, str]:
        try:
            compiled = iree.compile(request(source, "bad.mlir", *flags))
        except CompilerError as error:
            return str(error), error.diagnostics
        return "", compiled.diagnostics

    by_library = said()
    only_tool(monkeypatch)
    assert said() == by_library
    assert by_library[1]


def test_the_tool_names_the_hosts_cpu_as_the_library_does(iree: IreeCompiler, monkeypatch: pytest.MonkeyPatch) -> None:
    by_library = resolve(iree, *LLVM_CPU)
    only_tool(monkeypatch)
    by_tool = resolve(iree, *LLVM_CPU)
    assert by_tool.front_half is None  # its steps are the library's
    assert by_tool == replace(by_library, front_half=None)


def only_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the compiler find a library that does not load."""
    error = UnavailableError("the IREE compiler does not load: wrong ELF class")
    monkeypatch.setattr("retarget_iree.compiler.compiler.library_error", lambda: error)


def test_a_crash_of_the_library_leaves_its_stack_in_the_workers_log(tmp_path: Path) -> None:
    code = (
        "import os, signal\nfrom retarget_iree.compiler.library import CapturedStderr\n"
        "from retarget_iree.toolchain import compiler_api\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\ncompiler_api()\n"
        "os.kill(os.getpid(), signal.SIGINT)\nassert signal.getsignal(signal.SIGINT) is signal.SIG_IGN\n"
        "with CapturedStderr():\n    os.write(2, b'said before\\n')\n    os.kill(os.getpid(), signal.SIGFPE)\n"
    )
    with (tmp_path / "log").open("ab+") as log:
        done = subprocess.run([sys.executable, "-c", code], stdout=log, stderr=log, check=False)
    assert done.returncode == -signal.SIGFPE
    reported = (tmp_path / "log").read_text()
    assert reported.startswith("said before\n")
    assert "Program arguments: iree-compile --mlir-disable-threading" in reported


@pytest.mark.slow
def test_the_artifact_does_not_depend_on_the_folder(iree: IreeCompiler, tmp_path: Path) -> None:
    flags = resolve(iree, *VMVX)
    artifacts = {
        iree.compile(
            CompileRequest(
                source=ARITHMETIC.encode(), source_name="a.mlir", source_path=tmp_path / part / "a.mlir", resolved=flags
            )
        ).artifact
        for part in ("one", "two")
    }
    assert len(artifacts) == 1


@pytest.mark.slow
def test_bytecode_is_compiled_as_text_is(compile_module: Compile, open_device: OpenDevice, tmp_path: Path) -> None:
    tool = toolchain.find_compiler().tool
    source, bytecode = tmp_path / "a.mlir", tmp_path / "a.mlirbc"
    source.write_text(ARITHMETIC)
    arguments = ["--compile-to=input", "--emit-mlir-bytecode", str(source), "-o", str(bytecode)]
    subprocess.run([str(tool), *arguments], check=True)
    assert bytecode.read_bytes()[:4] == b"ML\xefR"
    artifact = compile_module(bytecode.read_bytes(), *VMVX, name="a.mlirbc")
    (check,) = checks_of(open_device("local-sync"), artifact, "differs")
    assert check.actual.tolist() == [1, 2, 3]


def test_devices_of_the_config_become_flags_before_the_others(iree: IreeCompiler) -> None:
    config = compiler_config(VMVX[1], devices=[("a", "local[0]"), ("b", "local[1]")])
    expected = ("--iree-hal-target-device=a=local[0]", "--iree-hal-target-device=b=local[1]", VMVX[1])
    assert iree.resolve(config, config.flags).flags == expected


def test_the_build_id_names_version_and_content_and_no_path_or_time(iree: IreeCompiler) -> None:
    build = resolve(iree, *VMVX).build_id.split()
    assert build[0] == "iree-compiler"
    assert build[1] == toolchain.find_compiler().version
    assert len(build[2]) == 40
    assert build[3].startswith("sha256:")
    assert len(build) == 4


@pytest.mark.parametrize("compiler", [IreeCompiler(), IreeOptCompiler(), OpenClCompiler()])
@pytest.mark.parametrize("variable", ["IREE_LLVM_SYSTEM_LINKER_PATH", "IREE_LOAD_PLUGINS"])
def test_the_variables_that_name_linkers_and_plugins_count_with_their_files(
    compiler: Compiler, variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def facts() -> tuple[str, str]:
        return compiler.fingerprint(compiler_config()), toolchain.find_compiler().build_id()

    seen = [facts()]
    for name, text in (("a", "1"), ("a", "2"), ("b", "2"), ("absent", "")):
        if text:
            (tmp_path / name).write_text(text)
        monkeypatch.setenv(variable, f"{tmp_path / name}")
        seen.append(facts())
    for fingerprints in zip(*seen, strict=True):
        assert len({*fingerprints}) == len(seen)


@pytest.mark.parametrize("compiler", [IreeCompiler(), IreeOptCompiler(), OpenClCompiler()])
def test_the_programs_that_a_compile_finds_on_path_count(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    profile = ("--opencl-profile=cpu",) if isinstance(compiler, OpenClCompiler) else ()
    preprocess = "--iree-hal-preprocess-executables-with=mytool -x"
    config = compiler_config(*profile, preprocess, "--iree-llvmcpu-link-embedded=false")
    resolved = compiler.resolve(config, config.flags)
    for one in filter(None, (resolved, resolved.front_end)):
        assert {Path("mytool"), Path("ld.lld")} <= {*one.files}
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "mytool").touch(mode=0o755)
    monkeypatch.setenv("IREE_LLVM_SYSTEM_LINKER_PATH", "mytool")
    assert tmp_path / "mytool" in [path for _, path in toolchain.find_compiler().files()]


def test_plugins_of_the_environment_count_and_one_that_does_not_load_is_an_error(
    iree: IreeCompiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (plugin := tmp_path / "plugin.so").write_text("none")
    module = request(ARITHMETIC, "a.mlir", *VMVX)
    monkeypatch.setenv("IREE_LOAD_PLUGINS", f"{plugin},{plugin}")
    with pytest.raises(CompilerError, match=r"exit status 1$") as caught:
        iree.compile(module)
    assert "could not load plugin library" in caught.value.diagnostics
    message = f"IREE_LOAD_PLUGINS={plugin},{plugin}: `iree-compile --version` fails with it; name plugins that load"
    tool.tool_runs.cache_clear()
    with pytest.raises(CompilerError) as refused:
        OpenClCompiler().resolve(compiler_config(), ())
    tool.tool_runs.cache_clear()
    assert (str(refused.value), refused.value.verdict) == (message, False)


def test_a_missing_compiler_is_unavailable_with_what_mends_it(
    iree: IreeCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "locate", lambda _: None)
    toolchain._own_compiler.cache_clear()
    try:
        with pytest.raises(UnavailableError, match=r"^the IREE compiler is not installed") as caught:
            resolve(iree, *VMVX)
        assert caught.value.hint == builds.build_hint("compiler")
        with pytest.raises(UnavailableError):
            iree.fingerprint(compiler_config())
    finally:
        toolchain._own_compiler.cache_clear()


def test_nothing_heavy_is_imported_with_the_extension() -> None:
    code = (
        "import sys, retarget_iree.extension as e\n"
        "list(e.retarget_compilers()); list(e.retarget_drivers()); list(e.retarget_case_loaders())\n"
        "print([m for m in ('iree.compiler', 'iree.runtime', 'numpy', 'onnx', 'ml_dtypes') if m in sys.modules])\n"
    )
    assert printed_by(code)[0] == "[]\n"


@pytest.mark.slow
def test_the_front_half_is_one_for_configs_of_several_targets_and_changes_no_artifact(iree: IreeCompiler) -> None:
    targets = [VMVX, ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=vp_android_baseline_2022")]
    fronts = []
    for flags in targets:
        resolved = resolve(iree, *flags, "--iree-input-demote-f64-to-f32=false")
        assert resolved.front_half is not None
        assert resolved.front_half.flags == ("--iree-input-demote-f64-to-f32=false",)
        whole = replace(request(ARITHMETIC, "a.mlir"), resolved=resolved)
        keeping = iree.compile(replace(whole, keeps_front_half=True))
        assert keeping.artifact == iree.compile(whole).artifact
        assert iree.compile(replace(whole, source=b"", front_half=keeping.front_half)).artifact == keeping.artifact
        fronts.append((resolved.front_half, keeping.front_half))
    assert fronts[0] == fronts[1]


def test_a_failure_after_the_front_half_shows_its_line_of_source(iree: IreeCompiler) -> None:
    whole = replace(request(UNSUPPORTED, "a.mlir"), resolved=resolve(iree, *VMVX))
    half = iree.compile(replace(request("func.func @f() { return }", "a.mlir"), keeps_front_half=True)).front_half
    assert half[:4] == b"ML\xefR"
    said = []
    for one in (whole, replace(whole, keeps_front_half=True), replace(whole, front_half=half[:50])):
        with pytest.raises(CompilerError) as raised:
            iree.compile(one)
        said.append((str(raised.value), raised.value.diagnostics))
        assert not raised.value.in_front_half
    assert said[0] == said[1] == said[2]
    assert "%0 = math.sin %a" in said[0][1]


@pytest.mark.parametrize(("name", "source"), [("bad.mlir", BROKEN), ("bad.onnx", "no model")])
def test_a_failure_in_the_front_half_is_one_of_all_configs(iree: IreeCompiler, name: str, source: str) -> None:
    with pytest.raises(CompilerError) as raised:
        iree.compile(replace(request(source, name, *VMVX), keeps_front_half=True))
    assert raised.value.in_front_half


def test_a_front_half_has_another_key_than_a_compile_with_its_flags(iree: IreeCompiler) -> None:
    half = resolve(iree, *VMVX).front_half
    assert half is not None
    target = compile_target(compiler=compiler_config())
    assert key_of(target, b"", half, ()) != key_of(target, b"", resolve(iree), ())


@pytest.mark.parametrize("flags", [("--compile-to=flow",), ("--mlir-disable-threading",)])
def test_flags_that_name_a_phase_or_are_the_tools_have_all_done_in_one_step(
    iree: IreeCompiler, flags: tuple[str, ...]
) -> None:
    assert resolve(iree, *VMVX, *flags).front_half is None


def test_a_target_is_suggested_for_each_sort_of_device(iree: IreeCompiler) -> None:
    def hip(name: str, *capabilities: tuple[str, str]) -> DeviceInfo:
        return DeviceInfo(driver="hip", uri="hip://", ordinal=0, name=name, physical_id="", capabilities=capabilities)

    def suggested(**devices: list[DeviceInfo]) -> dict[str, tuple[str, ...]]:
        found = iree.suggest_targets({name.replace("_", "-"): of for name, of in devices.items()})
        assert [one.name for one in found if one.is_reference] == ["portable"] * ("local_task" in devices)
        return {one.name: (*one.flags[1:], *one.drivers) for one in found}

    backend = "--iree-hal-local-target-device-backends="
    both = ("local-sync", "local-task")
    assert suggested(local_sync=[], local_task=[], vulkan=[], cuda=[]) == {
        "cpu": (f"{backend}llvm-cpu", "--iree-llvmcpu-target-cpu=host", *both),
        "portable": (f"{backend}vmvx", "local-sync"),
        "vulkan": ("vulkan",),
        "cuda": ("--iree-cuda-target=sm_80", "cuda"),
    }
    assert suggested() == {}
    assert suggested(hip=[hip("AMD"), hip("AMD", ("arch", "gfx90a"))]) == {"hip": ("--iree-rocm-target=gfx90a", "hip")}
    assert suggested(hip=[hip("AMD gfx1100")]) == {"hip": ("--iree-rocm-target=gfx1100", "hip")}
    assert suggested(hip=[]) == {"hip": ("--iree-rocm-target=gfx942", "hip")}
    assert suggested(hip=[hip("AMD")]) == {}
    (found,) = iree.suggest_targets({"hip": [hip("gfx90a")]})
    assert found.comment == "ROCm. Code objects run on exactly one architecture: gfx90a is this machine's."


CAPTURES = """
import os, sys
from retarget_iree.compiler.library import CapturedStderr
free = [os.dup(0) for _ in range(3)]
for one in free:
    os.close(one)
for number in range(2):
    sys.stderr.write(f"before {number} ")
    with CapturedStderr() as captured:
        os.write(2, b"inside ")
        sys.stderr.write("too")
    sys.stderr.write(f"after {number} ")
    print(captured.text)
assert [os.dup(0) for _ in range(3)] == free
"""


@pytest.mark.parametrize("is_file", [True, False])
def test_what_is_written_to_stderr_meanwhile_is_taken_and_nothing_else(tmp_path: Path, is_file: bool) -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with (tmp_path / "log").open("w") as log:
        where = log if is_file else subprocess.PIPE
        done = subprocess.run(
            [sys.executable, "-c", CAPTURES], stdout=subprocess.PIPE, stderr=where, text=True, check=True, env=buffered
        )
    said = (tmp_path / "log").read_text() if is_file else done.stderr
    assert (done.stdout, said) == ("inside too\n" * 2, "before 0 after 0 before 1 after 1 ")
