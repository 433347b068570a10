"""The kernels of a module after IREE's phase `executable-sources`, which are `linalg` on tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retarget_opencl.translation import Ir

__all__ = ["inside", "nvidia_kernels", "walk"]


def nvidia_kernels(module: Ir) -> Iterator[Ir]:
    """Yield the functions that are kernels for NVIDIA's architectures."""
    for executable in inside(module, "hal.executable"):
        for variant in inside(executable, "hal.executable.variant"):
            if re.search(r'arch = "sm_\d+"', str(variant.attributes["target"])):
                for inner in inside(variant, "builtin.module"):
                    yield from inside(inner, "func.func")


def inside(parent: Ir, name: str) -> list[Ir]:
    """Return the ops of a name that are in an op's first block."""
    return [op.operation for op in parent.regions[0].blocks[0] if op.operation.name == name]


def walk(op: Ir) -> Iterator[Ir]:
    """Yield all ops inside an op, each before those inside it."""
    for region in op.regions:
        for block in region.blocks:
            for item in block:
                yield item.operation
                yield from walk(item.operation)
