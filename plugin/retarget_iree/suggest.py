"""What `retarget init` writes for IREE: configs per device, suites of modules with checks or with flagfiles.

A compiler config is written only where a driver that runs its artifacts found a device.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from retarget.extension import ModulesRequest, SuggestedSuite, SuggestedTarget, Suggestions
from retarget.model.outcomes import DeviceInfo
from retarget.support.errors import DiagnosticsError

__all__ = ["check_suites", "flagfile_suites", "iree_targets"]

_LOCAL = "--iree-hal-target-device=local"
_LARGEST_FLAGFILE = 1 << 20
_LARGEST_TEXT = 64 << 20
_CHECK = re.compile(rb"\bcheck\.expect_\w+")
_COMMENT = re.compile(rb"//[^\n]*")
_FLAG = re.compile(rb"(?m)^\s*--(?:input|expected_output|function|module|flagfile)\s*=")
_FLAGFILE_SUFFIXES = frozenset({"", ".txt", ".flags", ".flagfile"})


def iree_targets(devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
    """Return the target configs for the devices that the drivers of IREE's runtime found."""
    local = tuple(driver for driver in ("local-sync", "local-task") if driver in devices)
    targets = []
    if local:
        targets = [
            SuggestedTarget(
                name="cpu",
                comment="This machine's CPU, with code generated for it.",
                compiler_config="llvm-cpu",
                flags=(
                    _LOCAL,
                    "--iree-hal-local-target-device-backends=llvm-cpu",
                    "--iree-llvmcpu-target-cpu=host",
                ),
                drivers=local,
            ),
            SuggestedTarget(
                name="portable",
                comment="IREE's portable bytecode backend: slow, and independent of LLVM and of the CPU.",
                compiler_config="vmvx",
                flags=(_LOCAL, "--iree-hal-local-target-device-backends=vmvx"),
                drivers=local[:1],
                is_reference=True,
            ),
        ]
    for driver, comment, flags in (
        (
            "vulkan",
            "Vulkan. This target architecture runs on every device; --iree-vulkan-target names others.",
            ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=vp_android_baseline_2022"),
        ),
        (
            "cuda",
            "CUDA. sm_80 runs on all NVIDIA GPUs since Ampere.",
            ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"),
        ),
    ):
        if driver in devices:
            targets.append(
                SuggestedTarget(name=driver, comment=comment, compiler_config=driver, flags=flags, drivers=(driver,))
            )
    if architecture := _gfx(devices.get("hip", ())):
        targets.append(
            SuggestedTarget(
                name="hip",
                comment=f"ROCm. Code objects run on exactly one architecture: {architecture} is this machine's.",
                compiler_config="rocm",
                flags=("--iree-hal-target-device=hip", f"--iree-rocm-target={architecture}"),
                drivers=("hip",),
            )
        )
    return targets


def _gfx(devices: Sequence[DeviceInfo]) -> str:
    """Return the architecture of the first device that says it (`gfx942`)."""
    for device in devices:
        for text in (device.name, *(value for _, value in device.capabilities)):
            if found := re.search(r"\bgfx[0-9a-f]+\b", text):
                return found[0]
    return ""


def check_suites(request: ModulesRequest) -> Suggestions:
    """Return one suite of all modules that make checks of their own."""
    files = []
    left_out = []
    for path in request.files:
        if path.suffix == ".mlirbc":
            reason = "is MLIR bytecode, whose functions cannot be seen without the compiler; add it to a suite by hand"
            left_out.append((path, reason))
        elif path.suffix == ".mlir" and _CHECK.search(_COMMENT.sub(b"", _content(path, _LARGEST_TEXT))):
            files.append(path)
    if not files:
        return Suggestions(left_out=tuple(left_out))
    comment = (
        "Modules that check themselves: every function without arguments is run,",
        "and all of its check.expect_… operations must hold.",
    )
    return Suggestions(
        suites=(SuggestedSuite(files=tuple(files), comment=comment),),
        left_out=tuple(left_out),
    )


def flagfile_suites(request: ModulesRequest) -> Suggestions:
    """Return one suite of all flagfiles whose module is there."""
    from retarget_iree.flagfile.cases import find_modules

    modules: dict[Path, None] = {}
    files: list[Path] = []
    used: dict[Path, None] = {}
    left_out: list[tuple[Path, str]] = []
    for path in request.files:
        if path.suffix not in _FLAGFILE_SUFFIXES or not _FLAG.search(_content(path, _LARGEST_FLAGFILE, whole=True)):
            continue
        try:
            found = find_modules(request.folder, [path])
        except DiagnosticsError as error:
            left_out.append((path, f"looks like a flagfile of iree-run-module, but: {error.diagnostics[0].message}"))
            continue
        files.append(path)
        modules |= dict.fromkeys(module.path for module in found)
    used |= modules
    included = _included(request.folder, files)
    files = [path for path in files if path not in included]
    if not files:
        return Suggestions(left_out=tuple(left_out))
    comment = ("Flagfiles of iree-run-module: inputs and expected outputs of the module beside each.",)
    suite = SuggestedSuite(files=tuple(files), comment=comment, by_name=True, used=(*used, *sorted(included)))
    return Suggestions(suites=(suite,), left_out=tuple(left_out))


def _included(folder: Path, files: Sequence[Path]) -> set[Path]:
    """Return the flagfiles that others include: they are no cases of their own."""
    found: set[Path] = set()
    for path in files:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.strip().partition("=")
            if name.strip() == "--flagfile" and value.strip():
                found.add(path.parent / value.strip())
    real = {path.resolve() for path in found}
    return {path for path in files if path.resolve() in real and path.is_relative_to(folder)}


def _content(path: Path, limit: int, *, whole: bool = False) -> bytes:
    """Return the first `limit` bytes of a file; with `whole`, nothing of one that is longer."""
    with path.open("rb") as stream:
        content = stream.read(limit + 1)
    return b"" if whole and len(content) > limit else content
