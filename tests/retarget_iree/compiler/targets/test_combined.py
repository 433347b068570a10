"""`target_from`: which flags profiles give, what overrides what, and what contradicts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from declaration_texts import compiler
from iree_support import OpenDevice
from model_targets import compile_target
from msgspec.structs import replace
from retarget.cli import main
from retarget.extension import CompileRequest, CompilerError, TargetPart
from retarget.model import CompilerConfig, Module, Origin
from retarget.session import DeclarationLoader, load_extensions
from retarget_iree.compile_for import main as compile_for
from retarget_iree.compiler.combined_targets import profiles_fact, with_profiles
from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.compiler.tool import compile_command

VULKAN = """
format = 1
driver = "vulkan"
[[capabilities]]
source = "vulkaninfo"
[capabilities.vulkan]
shaderFloat16 = true
storageBuffer16BitAccess = true
"""
ARM = """
format = 1
driver = "local-task"
[[capabilities]]
source = "LLVM"
[capabilities.cpu]
triple = "aarch64-unknown-linux-gnu"
name = "neoverse-n1"
fp16fml = true
sve = false
"""
CUDA = 'format = 1\ndriver = "cuda"\n[[capabilities]]\nsource = "api"\ncuda.computeCapability = "9.0"\n'
HIP = 'format = 1\ndriver = "hip"\n[[capabilities]]\nsource = "api"\nhip.gcnArchName = "gfx942:sramecc+"\n'
OTHER = 'format = 1\ndriver = "opencl"\n'
FULL = '--iree-hal-target-device=#hal.device.target<"vulkan", [#hal.executable.target<"vulkan-spirv", "x">]>'
LOCAL = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
IREE = IreeCompiler()


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("gpu", VULKAN), ("arm", ARM), ("cuda", CUDA), ("hip", HIP), ("other", OTHER)):
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "old.toml").write_text('format = 1\ndriver = "cuda"\n')
    (tmp_path / "gpu2.toml").write_text(VULKAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def by_hand(module: str, *references: str, flags: Sequence[str]) -> Sequence[str]:
    source = Module(name="m", path=Path(module))
    target = replace(compile_target(compiler=config(*references), flags=tuple(flags)), module=source)
    return compile_command(target, flags, Path("m.vmfb"))


def config(*references: str, flags: Sequence[str] = (), devices: Sequence[tuple[str, str]] = ()) -> CompilerConfig:
    located = tuple(str(Path(one).resolve()) if one.endswith(".toml") else one for one in references)
    origin = Origin(file=Path("matrix.toml"), key_path="compiler_config[0]")
    return CompilerConfig(
        name="c", compiler="iree", flags=tuple(flags), target_from=located, devices=tuple(devices), origin=origin
    )


def resolved(*references: str, flags: Sequence[str] = ()) -> tuple[str, ...]:
    return IREE.resolve(config(*references, flags=flags), tuple(flags)).flags


def test_profiles_of_cpu_cuda_and_rocm_give_their_flags() -> None:
    cpu = ("--iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu", "--iree-llvmcpu-target-cpu=neoverse-n1")
    assert resolved("arm.toml") == (*LOCAL, *cpu, "--iree-llvmcpu-target-cpu-features=+fp16fml,-sve")
    assert resolved("cuda.toml") == ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_89")
    assert resolved("hip.toml") == ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")


def test_host_is_the_cpu_that_the_compiler_names() -> None:
    assert resolved("host") == resolved(flags=(*LOCAL, "--iree-llvmcpu-target-cpu=host"))


def test_a_profile_overrides_short_flags_and_a_complete_target_overrides_the_profile() -> None:
    short = ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=adreno", "--iree-opt-level=O2")
    assert resolved("gpu.toml", flags=short) == (*resolved("gpu.toml"), "--iree-opt-level=O2")
    assert "storage = b32|b16" in resolved("gpu.toml")[0]
    assert IREE.tags(config("gpu.toml", flags=short)) == ("vulkan", "vulkan-spirv", "gpu")
    parts = IREE.target_parts(config("gpu.toml"), short)
    assert TargetPart(name="storage", value="b32|b16", source="gpu.toml: vulkaninfo") in parts
    default = "the profile does not say: what every device has"
    assert TargetPart(name="max_workgroup_memory_bytes", value="16384", source=default) in parts
    assert parts[-1] == TargetPart(
        name="iree-vulkan-target", value="adreno", source="a flag; overridden by target_from"
    )
    [part] = IREE.target_parts(config("gpu.toml"), (FULL,))
    assert part.source == "overridden by --iree-hal-target-device=#hal.device.…"
    assert IREE.tags(config("gpu.toml", flags=(FULL,))) == ("vulkan", "vulkan-spirv")
    assert IREE.tags(config("host:vulkan://0")) == ("vulkan", "vulkan-spirv")


@pytest.mark.parametrize(
    ("references", "flags", "message"),
    [
        (
            ["arm.toml"],
            ["--iree-hal-local-target-device-backends=vmvx"],
            "--iree-hal-local-target-device-backends=vmvx contradicts target_from = '{folder}/arm.toml', which is for "
            "local; remove one of them",
        ),
        (
            ["other.toml"],
            [],
            "other.toml: the compiler iree has no target for the driver 'opencl', expected one of local-sync, "
            "local-task, vulkan, cuda, hip",
        ),
        (
            ["old.toml"],
            [],
            "old.toml: found no cuda.computeCapability, which names what the compiler iree compiles for",
        ),
        (
            ["host:vulcan://0"],
            [],
            "found the device 'host:vulcan://0' in target_from, expected a URI of one of the drivers "
            "local-sync, local-task, vulkan, cuda, hip; did you mean 'vulkan'?",
        ),
        (
            ["gpu.toml", "gpu2.toml"],
            [],
            "target_from: '{folder}/gpu.toml' and '{folder}/gpu2.toml' are both compiled to the format "
            "vulkan-spirv-fb, and IREE's runtime chooses by format alone, so that the second would never run; expected "
            "one of them, and "
            "the other in a compiler config of its own",
        ),
    ],
)
def test_what_cannot_be_compiled_for_is_an_error(
    profiles: Path, references: list[str], flags: list[str], message: str
) -> None:
    with pytest.raises(CompilerError) as caught:
        resolved(*references, flags=flags)
    assert str(caught.value) == message.replace("{folder}", str(profiles))


def test_a_compiler_that_does_not_name_the_target_of_a_profile_is_an_error(profiles: Path) -> None:
    with pytest.raises(CompilerError, match=r"^the compiler does not name its target for the profile 'host'$"):
        with_profiles(config("host", "gpu.toml"), (), lambda _: "")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"target_from": "host", "flags": ["--iree-hal-target-device=cuda"]},
            "--iree-hal-target-device=cuda contradicts target_from = 'host', which is for local; remove one of them",
        ),
        ({"target_from": "other.toml"}, "other.toml: the compiler iree has no target for the driver 'opencl', "),
        ({"target_from": ["host:vulcan://0"]}, "found the device 'host:vulcan://0' in target_from, "),
        ({"target_from": "gpu.toml", "devices": {"a": "local"}}, "found both devices and target_from, "),
    ],
)
def test_declarations_are_refused_at_the_place_of_profiles_that_cannot_be_compiled_for(
    profiles: Path, more: dict[str, object], message: str
) -> None:
    (profiles / "matrix.toml").write_text(compiler("c", **more))
    loader = DeclarationLoader(load_extensions(installed=(), extra=["retarget_iree.extension"]))
    [found] = loader.read_matrix_file(profiles / "matrix.toml")
    line = list(more).index("target_from") + 4
    assert str(found).startswith(f"matrix.toml:{line}: compiler_config[0].target_from: {message}")


def test_the_command_by_hand_of_flags_that_contradict_a_profile_fails_with_the_same_words(
    profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = by_hand("m.mlir", "gpu.toml", flags=["--iree-hal-target-device=cuda"])
    assert command[1:5] == ("-m", "retarget_iree.compile_for", str(profiles / "gpu.toml"), "m.mlir")
    assert compile_for(command[3:]) == 1
    assert "--iree-hal-target-device=cuda contradicts target_from" in capsys.readouterr().err
    assert compile_for(["gpu.toml"]) == 2
    assert compile_for(["m.mlir"]) == 2


def test_a_module_is_compiled_with_the_flags_of_its_profiles(profiles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(argv: list[str], *, input: bytes | None, check: bool) -> subprocess.CompletedProcess[str]:  # noqa: A002
        assert not check
        asked.append([*argv, str(input)])
        return subprocess.CompletedProcess(argv, 3)

    monkeypatch.setattr("retarget_iree.compile_for.subprocess.run", run)
    monkeypatch.setattr("retarget_iree.compile_for.import_onnx", lambda content, name: content + name.encode())
    (profiles / "m.onnx").write_bytes(b"imported ")
    words = ["--iree-opt-level=O3", "-o", "m.vmfb"]
    assert compile_for(["gpu.toml", "m.mlir", *words]) == 3
    assert compile_for(["gpu.toml", str(profiles / "m.onnx"), *words]) == 3
    (_, module, *flags, nothing), (_, model, *others, imported) = asked
    assert (module, nothing, model, imported, flags) == ("m.mlir", "None", "-", "b'imported m.onnx'", others)
    assert "--iree-opt-level=O3" in flags
    assert flags[0].startswith('--iree-hal-target-device=__device_0=#hal.device.target<"vulkan"')
    assert flags[-2:] == ["-o", "m.vmfb"]


@pytest.mark.parametrize("module", ["m.mlir", "m.onnx"])
def test_the_command_by_hand_names_profiles_that_only_a_device_or_the_compiler_can_turn_into_flags(module: str) -> None:
    command = by_hand(module, "host:vulkan://0", flags=["--iree-opt-level=O3"])
    expected = ("-m", "retarget_iree.compile_for", "host:vulkan://0", module, "--iree-opt-level=O3", "-o", "m.vmfb")
    assert command[1:] == expected


def test_the_fingerprint_has_the_content_of_profiles_and_not_their_comments(profiles: Path) -> None:
    before = profiles_fact(config("gpu.toml"))
    assert IREE.fingerprint(config("gpu.toml")).endswith(f" {before}")
    (profiles / "gpu.toml").write_text(f"# measured again\n{VULKAN}")
    assert profiles_fact(config("gpu.toml")) == before
    (profiles / "gpu.toml").write_text(VULKAN.replace("shaderFloat16 = true", "shaderFloat16 = false"))
    assert profiles_fact(config("gpu.toml")) != before
    assert IREE.fingerprint(config("host:vulkan://0")) == ""


@pytest.mark.slow
def test_the_command_by_hand_asks_for_what_only_the_compiler_can_name(profiles: Path) -> None:
    (profiles / "m.mlir").write_text("func.func @f() {\n  return\n}\n")
    words = ["-m", "retarget_iree.compile_for", "gpu.toml", "host", "m.mlir", "-o", "m.vmfb"]
    subprocess.run([sys.executable, *words], check=True)
    assert (profiles / "m.vmfb").stat().st_size
    words = ["-m", "retarget_iree.compile_for", "gpu.toml", "m.mlir", "--iree-hal-target-device=cuda"]
    done = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr[:46]) == (1, "error: --iree-hal-target-device=cuda contradic")


@pytest.mark.needs_vulkan
@pytest.mark.slow
def test_one_artifact_runs_on_the_devices_of_its_profiles(open_device: OpenDevice) -> None:
    source = b"func.func @f(%a: tensor<3xf16>) -> tensor<3xf16> {\n  %b = arith.addf %a, %a : tensor<3xf16>\n"
    source += b"  return %b : tensor<3xf16>\n}\n"
    compiler = IREE.resolve(config("host:vulkan://0", "host"), ())
    request = CompileRequest(source=source, source_name="f.mlir", source_path=Path("f.mlir"), resolved=compiler)
    artifact = IREE.compile(request).artifact
    for driver in ("vulkan", "local-sync"):
        program = open_device(driver).load(artifact)
        [result] = program.call("f", (np.array([1, 2, 3], np.float16),), print)
        assert result.tolist() == [2, 4, 6]


def test_two_profiles_of_one_format_are_refused_before_anything_is_compiled() -> None:
    with pytest.raises(CompilerError, match="are both compiled to the format vulkan-spirv-fb, and IREE's runtime"):
        IREE.target_parts(config("cpu-aarch64", "vulkan-lavapipe", "host:vulkan://0"), ())


def test_retarget_check_names_the_flags_of_a_suite_that_contradict_a_profile(
    profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (profiles / "matrix.toml").write_text(
        '[[compiler_config]]\nname = "c"\ncompiler = "iree"\ntarget_from = "vulkan-lavapipe"\n'
        '[[target_config]]\nname = "t"\ncompiler = "c"\nruntimes = []\n'
    )
    (profiles / "suite.toml").write_text(
        '[[module_test_suite]]\nname = "s"\nsrcs = ["m.mlir"]\nkind = "check"\ntargets = ["t"]\n'
        'compiler_flags = ["--iree-opt-level=O2"]\n'
        '[[module_test_suite.module]]\nmatch = ["m"]\nflags = ["--iree-hal-target-device=cuda"]\n'
    )
    (profiles / "m.mlir").write_text("")
    assert main(["check"]) == 1
    assert (
        "suite.toml:9: module_test_suite[0].module[0].flags: compiler config 'c': --iree-hal-target-device=cuda "
        "contradicts target_from = 'vulkan-lavapipe', which is for vulkan; remove one of them"
    ) in capsys.readouterr().err
