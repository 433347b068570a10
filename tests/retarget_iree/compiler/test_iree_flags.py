"""Flags as text: files they name, words they imply."""

from __future__ import annotations

from pathlib import Path

import pytest
from iree_support import compiler_config
from retarget.extension import CompilerError
from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.compiler.flags import not_inputs, target_words


def test_flags_that_write_and_flags_of_words_name_nothing_to_read() -> None:
    others = [
        "--iree-hal-dump-executable-files-to=there",
        "--iree-flow-dump-dispatch-graph-output-file=there",
        "--iree-parameter-export=scope=there.irpa",
        "--iree-hal-target-device=local",
        "--iree-llvmcpu-target-cpu-features=+avx2",
        "--iree-cuda-target=sm_80",
    ]
    reading = [
        "--iree-codegen-tuning-spec-path=tuning.mlir",
        "--iree-hal-substitute-executable-object=f=x.so",
        "--iree-hal-executable-object-search-path=objects",
        "--iree-parameter-import=scope=weights.irpa",
        "--iree-llvmcpu-system-linker-path=ld",
    ]
    assert not_inputs([*reading, *others]) == tuple(others)


def test_a_file_that_is_not_there_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    missing, there = tmp_path / "tuning.mlir", tmp_path / "there.mlir"
    there.write_text("module {}")
    flags = (f"--iree-codegen-tuning-spec-path={missing}", f"--iree-preprocessing-pdl-spec-filename={there}")
    with pytest.raises(CompilerError) as caught:
        IreeCompiler().resolve(compiler_config(*flags), flags)
    assert str(caught.value) == f"{flags[0]}: there is no such file (relative paths start at {Path.cwd()})"


LOCAL = "--iree-hal-target-device=local"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([LOCAL], ["llvm-cpu"]),
        ([LOCAL, "--iree-hal-local-target-device-backends=vmvx"], ["vmvx"]),
        ([LOCAL, "--iree-hal-local-target-device-backends=llvm-cpu,vmvx"], ["llvm-cpu", "vmvx"]),
        (
            ["--iree-hal-target-device=a=local[0]", "--iree-hal-target-device=b=vulkan"],
            ["llvm-cpu", "vulkan", "vulkan-spirv"],
        ),
        (["--iree-hal-target-device=vulkan", "--iree-vulkan-target=adreno"], ["vulkan", "vulkan-spirv", "adreno"]),
        (["--iree-hal-target-backends=vulkan-spirv,llvm-cpu"], ["vulkan", "vulkan-spirv", "llvm-cpu"]),
        (["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"], ["cuda", "sm_80"]),
        (["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"], ["hip", "rocm", "gfx942"]),
        (["--iree-hal-target-backends=rocm"], ["hip", "rocm"]),
        (["--iree-hal-target-device=metal", "--iree-metal-target-platform=macos"], ["metal", "metal-spirv", "macos"]),
        ([LOCAL, "--iree-llvmcpu-target-triple=aarch64-none-linux-android29"], ["llvm-cpu", "arm64", "android"]),
        ([LOCAL, "--iree-llvmcpu-target-triple=riscv64-linux-gnu"], ["llvm-cpu", "riscv64", "linux"]),
        ([LOCAL, "--iree-llvmcpu-target-triple=arm64-apple-ios13"], ["llvm-cpu", "arm64", "ios"]),
        ([LOCAL, "--iree-llvmcpu-target-triple=x86_64-apple-darwin"], ["llvm-cpu", "x86_64", "macos"]),
        ([], []),
    ],
)
def test_what_is_compiled_for_gives_words(flags: list[str], words: list[str]) -> None:
    assert list(target_words(flags)) == words


def test_named_devices_of_the_config_give_words_too() -> None:
    assert IreeCompiler().tags(compiler_config(devices=[("gpu", "hip[0]")])) == ("hip", "rocm")
