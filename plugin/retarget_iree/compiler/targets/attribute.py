"""`#iree_gpu.target` as text, and the device target around it. Pure; for Vulkan and for OpenCL alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["GpuTarget", "device_target", "spirv_executable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTarget:
    """What IREE's SPIR-V code generation may rely on.

    `arch` decides tile sizes and work-group shapes; a name that IREE does not know gets generic ones. `compute` and
    `storage` are words such as `fp16`, `int8`, `b16`; `subgroup` are `shuffle` and `arithmetic`, `dot` `dp4xi8toi32`,
    `mma` are names of IREE's matrix products. Sizes are in work-items, `workgroup_memory` is in bytes.
    """

    arch: str
    compute: Sequence[str]
    storage: Sequence[str]
    subgroup: Sequence[str] = ()
    dot: Sequence[str] = ()
    mma: Sequence[str] = ()
    subgroup_sizes: Sequence[int]
    max_workgroup_sizes: Sequence[int]
    max_workgroup_items: int
    workgroup_memory: int
    max_workgroup_counts: Sequence[int] = (2147483647, 65535, 65535)
    spirv: str = "1.6"

    def fields(self) -> dict[str, str]:
        """Return the fields of the attribute, as they are written."""
        return {
            "arch": f'"{self.arch}"',
            "features": f'"spirv:v{self.spirv},cap:Shader"',
            "compute": "|".join(self.compute),
            "storage": "|".join(self.storage),
            "subgroup": "|".join(self.subgroup) or "none",
            "dot": "|".join(self.dot) or "none",
            "mma": _list(f"<{name}>" for name in self.mma),
            "subgroup_size_choices": _list(self.subgroup_sizes),
            "max_workgroup_sizes": _list(self.max_workgroup_sizes),
            "max_thread_count_per_workgroup": str(self.max_workgroup_items),
            "max_workgroup_memory_bytes": str(self.workgroup_memory),
            "max_workgroup_counts": _list(self.max_workgroup_counts),
        }


def spirv_executable(target: GpuTarget) -> str:
    """Return the `#hal.executable.target` for which IREE generates SPIR-V."""
    fields = target.fields()
    outer = ", ".join(f"{name} = {fields.pop(name)}" for name in ("arch", "features"))
    inner = ", ".join(f"{name} = {value}" for name, value in fields.items())
    info = f"#iree_gpu.target<{outer}, wgp = <{inner}>>"
    return f'#hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {{iree_codegen.target_info = {info}}}>'


def device_target(device: str, executables: Sequence[str]) -> str:
    """Return the target of a device of this id (`vulkan`, `local`) with code for each executable target."""
    return f'#hal.device.target<"{device}", {_list(executables)}> : !hal.device'


def _list(values: Iterable[object]) -> str:
    return f"[{', '.join(map(str, values))}]"
