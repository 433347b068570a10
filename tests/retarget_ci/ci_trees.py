"""Trees of declarations with a `ci.toml`, and what is wrong with them, found without pytest; nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path

from retarget.model import SourceLocations
from retarget.session import (
    DeclarationLoader,
    Declared,
    DeclaredTarget,
    FileName,
    Registry,
    expand_suite,
    load_extensions,
)
from retarget.support import Diagnostic, DiagnosticsError, RetargetError
from retarget_ci import LOCK_FILE
from retarget_ci.emit.command import emitted_files, emitted_problems
from retarget_ci.files import CiConfig, read_ci
from retarget_ci.lock import coverage_of, lock_of
from retarget_ci.verify import declared_problems, file_problems

__all__ = ["DAY", "IREE", "declare", "emit", "found", "is_in_order", "problems", "write"]

DAY = date(2026, 6, 1)


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, each with its folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@cache
def _registry() -> Registry:
    return load_extensions(())


def declare(config: CiConfig) -> Declared:
    """All targets below the folder of `ci.toml`. Raises `DiagnosticsError`."""
    loader = DeclarationLoader(_registry())
    targets = [
        DeclaredTarget(
            suite_id=f"{file.relative_to(config.folder).as_posix()}::{suite.name}", suite=suite, target=target
        )
        for file in FileName.SUITE.below([config.folder])
        for suite in loader.load_suite_file(file)
        for target in expand_suite(suite, _registry())
    ]
    return Declared(registry=_registry(), targets=targets)


def emit(folder: Path) -> None:
    """Write what `retarget ci emit` writes."""
    config = read_ci(folder / "ci.toml")
    lock = lock_of(config, coverage_of(config, declare(config)))
    files = {**emitted_files(config), Path(LOCK_FILE): lock}
    write(folder, {str(name): text for name, text in files.items()})


def found(folder: Path) -> Iterator[Diagnostic]:
    """Yield what `retarget ci verify` finds in a tree, as soon as it is found. Raises `RetargetError`."""
    config = read_ci(folder / "ci.toml")
    yield from SourceLocations.diagnostics(file_problems(config, DAY))
    declared = declare(config)
    yield from declared_problems(config, declared, coverage_of(config, declared), DAY)
    yield from emitted_problems(config)


def problems(folder: Path) -> list[str]:
    """What `retarget ci verify` finds in a tree, as it sorts and words it."""
    try:
        return [str(one) for one in DiagnosticsError([*found(folder)]).diagnostics]
    except RetargetError as error:
        return str(error).splitlines()


def is_in_order(folder: Path) -> bool:
    """Whether nothing is found in a tree."""
    try:
        return next(found(folder), None) is None
    except RetargetError:
        return False


IREE = {
    "ci.toml": """
paths = ["tests"]
labels = ["ubuntu-24.04", "Linux-x86_64-amdgpu"]
emit = ["github"]

[[runner]]
name = "linux-x86-64"
labels = ["ubuntu-24.04"]
builds = true
drivers = ["local-task"]

[[runner]]
name = "linux-amdgpu"
labels = ["Linux-x86_64-amdgpu"]
drivers = ["hip", "vulkan"]

# The caller of the CUDA job is commented out (iree-org/iree#18526).
# [[runner]]
# name = "linux-nvidia"
# labels = ["Linux-x86_64-nvidia"]
# drivers = ["cuda"]

[[event]]
name = "pkgci"
on = ["pull_request"]
select = "not requires-gpu-sm80 and not requires-gpu-cdna3 and not requires-gpu-cdna4"    # as ctest_all.sh does
budget = "30 min"
""",
    "tests/matrix.toml": """
root = true

[[compiler_config]]
name = "llvm-cpu"
compiler = "iree"
flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]

[[compiler_config]]
name = "vulkan-spirv"
compiler = "iree"
flags = ["--iree-hal-target-device=vulkan"]

[[compiler_config]]
name = "cuda-sm80"
compiler = "iree"
flags = ["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"]

[[compiler_config]]
name = "rocm-cdna"
compiler = "iree"
flags = ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"]

[[runtime_config]]
name = "cpu-task"
driver = "local-task"

[[runtime_config]]
name = "gpu-vulkan"
driver = "vulkan"

[[runtime_config]]
name = "gpu-cuda"
driver = "cuda"

[[runtime_config]]
name = "gpu-hip"
driver = "hip"

[[target_config]]
name = "cpu"
compiler = "llvm-cpu"
runtimes = ["cpu-task"]

[[target_config]]
name = "vulkan-any"
compiler = "vulkan-spirv"
runtimes = ["gpu-vulkan"]

[[target_config]]
name = "cuda-sm80-O0"
compiler = "cuda-sm80"
runtimes = ["gpu-cuda"]

[[target_config]]
name = "amdgpu"
compiler = "rocm-cdna"
runtimes = ["gpu-hip"]
""",
    "tests/onnx_ops/suite.toml": """
[[module_test_suite]]
name = "onnx-ops"
srcs = ["*.mlir"]
kind = "check"
targets = ["cpu", "vulkan-any", "cuda-sm80-O0", "amdgpu"]
""",
    "tests/onnx_ops/add.mlir": "",
    "tests/onnx_ops/conv.mlir": "",
    "tests/e2e/suite.toml": """
[[module_test_suite]]
name = "e2e-matmul"
srcs = ["matmul.mlir"]
kind = "check"
targets = ["cpu", "vulkan-any", "amdgpu"]

[[module_test_suite]]
name = "e2e-matmul-sm80"
srcs = ["matmul_sm80.mlir"]
kind = "check"
targets = ["cuda-sm80-O0"]
tags = ["requires-gpu-sm80"]

[[module_test_suite]]
name = "e2e-matmul-cdna3"
srcs = ["matmul_cdna3.mlir"]
kind = "check"
targets = ["amdgpu"]
tags = ["requires-gpu-cdna3"]

[[module_test_suite]]
name = "e2e-matmul-cdna4"
srcs = ["matmul_cdna4.mlir"]
kind = "check"
targets = ["amdgpu"]
tags = ["requires-gpu-cdna4"]
""",
    **{f"tests/e2e/matmul{end}.mlir": "" for end in ("", "_sm80", "_cdna3", "_cdna4")},
}
"""IREE's public CI as it is at b48a5955: a job for CUDA that is commented out while its targets are declared still, and
three labels of tests that the script excludes by default and no workflow enables."""
