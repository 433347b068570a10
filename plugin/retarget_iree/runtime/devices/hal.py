"""The HAL drivers of IREE's own builds: what each package of this plugin knows them by, and what their runtimes say."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class HalDriver(Struct, frozen=True, kw_only=True):
    """One HAL driver. `device` is what IREE compiles for (`--iree-hal-target-device`), `backends` are the target
    backends that do so, `executable_format` is that of its executables, where there is only one.

    `target_flags` name the chip, or the CPU's, in the order of preference; `chip` is the feature of a device profile
    that says which it is. `cores` describes the host's cores, for a driver of these. `vendor` made all of its devices.
    `words` are further ones for `-m`. `library` is what the driver loads, `missing` and `broken` are as of
    `IreeDriver`.
    """

    name: str
    device: str
    backends: tuple[str, ...] = ()
    executable_format: str = ""
    target_flags: tuple[str, ...] = ()
    chip: str = ""
    cores: str = ""
    vendor: str = ""
    words: tuple[str, ...] = ()
    library: str = ""
    missing: tuple[tuple[str, str], ...] = ()
    broken: str = ""
    hint: str = ""


_CPU = ("llvm-cpu", "vmvx", "vmvx-inline")

HAL_DRIVERS: Mapping[str, HalDriver] = {
    driver.name: driver
    for driver in (
        HalDriver(name="local-sync", device="local", backends=_CPU, cores="CPU, in the calling thread"),
        HalDriver(name="local-task", device="local", backends=_CPU, cores="CPU, in a pool of threads"),
        HalDriver(
            name="vulkan",
            device="vulkan",
            backends=("vulkan-spirv",),
            executable_format="vulkan-spirv-fb",
            target_flags=("iree-vulkan-target",),
            missing=(
                ("VK_ERROR_INCOMPATIBLE_DRIVER", "there is no Vulkan driver (ICD) on this machine"),
                ("no devices|vkEnumeratePhysicalDevices", "the Vulkan drivers of this machine offer no device"),
                ("libvulkan", "there is no Vulkan loader (libvulkan) on this machine"),
            ),
            broken="no Vulkan driver (ICD) of this machine is usable; the loader says",
            hint="install a Vulkan driver; `apt-get install libvulkan1 mesa-vulkan-drivers` installs one that runs on "
            "the CPU",
        ),
        HalDriver(
            name="cuda",
            device="cuda",
            executable_format="cuda-nvptx-fb",
            target_flags=("iree-cuda-target",),
            chip="cuda.computeCapability",
            vendor="NVIDIA",
            library="libcuda.so.1",
            missing=(
                (r"libcuda\.so", "there is no CUDA driver library (libcuda.so) on this machine"),
                ("CUDA_ERROR_NO_DEVICE|no devices", "the CUDA driver finds no device on this machine"),
            ),
            broken="the CUDA driver library does not load",
            hint="install the NVIDIA driver for the GPU of this machine; it contains libcuda.so.1",
        ),
        HalDriver(
            name="hip",
            device="hip",
            backends=("rocm", "amdgpu"),
            executable_format="rocm-hsaco-fb",
            target_flags=("iree-rocm-target", "iree-hip-target"),
            chip="hip.gcnArchName",
            vendor="AMD",
            words=("rocm",),
            library="libamdhip64.so",
            missing=(
                (r"libamdhip64\.so", "there is no HIP runtime library (libamdhip64.so) on this machine"),
                ("hipErrorNoDevice|no devices", "the HIP runtime finds no device on this machine"),
            ),
            broken="the HIP runtime library does not load",
            hint="install ROCm for the GPU of this machine, and put libamdhip64.so where the loader looks for "
            "libraries",
        ),
    )
}
"""Each by its name. `retarget_iree.runtime.drivers` registers them; a fork registers one more with an `IreeDriver`."""

HOST_DRIVERS = frozenset(driver.name for driver in HAL_DRIVERS.values() if driver.cores)
"""The drivers whose devices are the host's cores."""
