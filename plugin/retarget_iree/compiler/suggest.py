"""The target configs that `retarget init` writes for IREE's compiler and the devices that were found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retarget.extension import SuggestedTarget
from retarget.model.outcomes import DeviceInfo

_LOCAL = "--iree-hal-target-device=local"


def iree_targets(devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
    """Return the target configs for the devices that the drivers of IREE's runtime found.

    A driver without given devices stands for any of its devices.
    """
    local = tuple(driver for driver in ("local-sync", "local-task") if driver in devices)
    hip = devices.get("hip")
    architecture = _gfx(hip or ())
    whose = f"{architecture} is this machine's" if architecture else "put yours here"
    targets = (
        SuggestedTarget(
            name="cpu",
            comment="This machine's CPU, with code generated for it.",
            compiler_config="llvm-cpu",
            flags=(_LOCAL, "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"),
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
        SuggestedTarget(
            name="vulkan",
            comment="Vulkan, for the first Vulkan device of this machine; `retarget profile list` has others.",
            compiler_config="vulkan",
            target_from=("host:vulkan://",),
            drivers=("vulkan",) if "vulkan" in devices else (),
        ),
        SuggestedTarget(
            name="cuda",
            comment="CUDA. sm_80 runs on all NVIDIA GPUs since Ampere.",
            compiler_config="cuda",
            flags=("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"),
            drivers=("cuda",) if "cuda" in devices else (),
        ),
        SuggestedTarget(
            name="hip",
            comment=f"ROCm. Code objects run on exactly one architecture: {whose}.",
            compiler_config="rocm",
            flags=("--iree-hal-target-device=hip", f"--iree-rocm-target={architecture or 'gfx942'}"),
            drivers=("hip",) if architecture or (hip is not None and not hip) else (),
        ),
    )
    return [target for target in targets if target.drivers]


def _gfx(devices: Sequence[DeviceInfo]) -> str:
    """Return the architecture of the first device that names it (`gfx942`)."""
    for device in devices:
        for text in (device.name, *(value for _, value in device.capabilities)):
            if found := re.search(r"\bgfx[0-9a-f]+\b", text):
                return found[0]
    return ""
