"""What `retarget init` writes for IREE's compiler: target configs for the devices that are there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retarget.extension import SuggestedTarget
from retarget.model.outcomes import DeviceInfo

__all__ = ["iree_targets"]

_LOCAL = "--iree-hal-target-device=local"


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
    """Return the architecture of the first device that names it (`gfx942`)."""
    for device in devices:
        for text in (device.name, *(value for _, value in device.capabilities)):
            if found := re.search(r"\bgfx[0-9a-f]+\b", text):
                return found[0]
    return ""
