"""Flags as text: files they name, words they imply."""

from __future__ import annotations

from pathlib import Path

import pytest
from iree_support import compiler_config
from retarget.extension import CompilerError
from retarget_iree.compiler import IreeCompiler
from retarget_iree.flags import named_files, target_words


def test_existing_files_that_flags_name_are_found(tmp_path: Path) -> None:
    spec, objects = tmp_path / "tuning.mlir", tmp_path / "objects"
    spec.write_text("module {}")
    objects.mkdir()
    (objects / "kernel.ptx").write_text("ptx")
    (objects / "notes.txt").write_text("not an object")
    flags = [
        f"--iree-codegen-tuning-spec-path={spec}",
        f"--iree-preprocessing-transform-spec-filename={spec}",
        f"--iree-hal-executable-object-search-path={objects}",
        f"--iree-hal-dump-executable-files-to={spec}",
        f"--iree-flow-dump-dispatch-graph-output-file={spec}",
        f"--iree-codegen-transform-dialect-library={tmp_path / 'missing.mlir'}",
        "--iree-opt-level=O3",
        "--iree-opt-data-tiling",
        f"--iree-x={'long' * 5000}",
    ]
    assert named_files(flags) == (objects / "kernel.ptx", spec)
    assert named_files([f"--iree-codegen-transform-dialect-library={spec}@entry"]) == (spec,)


def test_a_file_that_is_not_there_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    missing, there = tmp_path / "tuning.mlir", tmp_path / "there.mlir"
    there.write_text("module {}")
    flags = (f"--iree-codegen-tuning-spec-path={missing}", f"--iree-preprocessing-pdl-spec-filename={there}")
    with pytest.raises(CompilerError) as caught:
        IreeCompiler().resolve(compiler_config(*flags), flags)
    assert str(caught.value) == f"{flags[0]}: there is no such file (relative paths start at {Path.cwd()})"


def test_the_fingerprint_changes_with_the_objects_on_the_search_path(tmp_path: Path) -> None:
    config = compiler_config(f"--iree-hal-executable-object-search-path={tmp_path}")
    before = IreeCompiler().fingerprint(config)
    (tmp_path / "kernel.ptx").write_text("ptx")
    assert IreeCompiler().fingerprint(config) != before


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--iree-hal-target-device=local"], ["llvm-cpu"]),
        (["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"], ["vmvx"]),
        (
            ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu,vmvx"],
            ["llvm-cpu", "vmvx"],
        ),
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
        (
            ["--iree-hal-target-device=local", "--iree-llvmcpu-target-triple=aarch64-none-linux-android29"],
            ["llvm-cpu", "arm64", "android"],
        ),
        (
            ["--iree-hal-target-device=local", "--iree-llvmcpu-target-triple=riscv64-linux-gnu"],
            ["llvm-cpu", "riscv64", "linux"],
        ),
        (
            ["--iree-hal-target-device=local", "--iree-llvmcpu-target-triple=arm64-apple-ios13"],
            ["llvm-cpu", "arm64", "ios"],
        ),
        (
            ["--iree-hal-target-device=local", "--iree-llvmcpu-target-triple=x86_64-apple-darwin"],
            ["llvm-cpu", "x86_64", "macos"],
        ),
        ([], []),
    ],
)
def test_what_is_compiled_for_gives_words(flags: list[str], words: list[str]) -> None:
    assert list(target_words(flags)) == words


def test_named_devices_of_the_config_give_words_too() -> None:
    assert IreeCompiler().tags(compiler_config(devices=[("gpu", "hip[0]")])) == ("hip", "rocm")
