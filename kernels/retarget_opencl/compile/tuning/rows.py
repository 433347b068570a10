"""Softmax kernels with as many work-items as suit the length of a row, after IREE's phase `executable-configurations`.

IREE (3.13) gives a row of 1024 elements 32 work-items and one of 4096 elements 128, each of which takes four elements
at once. `docs/measurements/hardware.md` has what was measured.
"""

from __future__ import annotations

import re

from retarget_opencl.compile.tuning.kernels import nvidia_kernels, walk
from retarget_opencl.translation import Ir

__all__ = ["PHASE", "items_and_vector", "prepare_rows"]

PHASE = "executable-configurations"
"""The phase after which kernels have their configuration."""

_REDUCTIONS = 2
"""Those of a softmax: the largest element of a row, and the sum of the exponentials."""
_BY_COLUMNS = {512: (128, 4), 1024: (64, 16), 2048: (128, 4), 4096: (256, 4), 8192: (512, 4)}
"""Those that were fastest on an H200. More than 4 elements compile only where the work-items take all of a row."""
_PIPELINE = "spirv_pipeline<SubgroupReduce>"


def prepare_rows(module: Ir) -> bool:
    """Configure the softmax kernels for NVIDIA's architectures anew; say if there are any. Needs MLIR's context."""
    prepared = [_prepare(function) for function in nvidia_kernels(module)]
    return any(prepared)


def items_and_vector(columns: int) -> tuple[int, int] | None:
    """Return the work-items for a row of `f32` and the elements that each takes at once; None leaves IREE's choice."""
    return _BY_COLUMNS.get(columns)


def _prepare(function: Ir) -> bool:
    from iree.compiler import ir

    info = str(function.attributes["translation_info"]) if "translation_info" in function.attributes else ""
    if _PIPELINE not in info:
        return False
    ops = [op for op in walk(function) if "lowering_config" in op.attributes]
    loops = [op for op in ops if op.name == "linalg.generic"]
    reductions = [op for op in loops if "reduction" in str(op.attributes["iterator_types"])]
    if len(reductions) != _REDUCTIONS or len(loops) != _REDUCTIONS + 1:
        return False
    kind = ir.ShapedType(reductions[0].operands[0].type)
    if not kind.has_static_shape or str(kind.element_type) != "f32":
        return False
    chosen = items_and_vector(kind.shape[-1])
    if chosen is None:
        return False
    items, vector = chosen
    info = re.sub(r"workgroup_size = \[\d+, 1, 1\]", f"workgroup_size = [{items}, 1, 1]", info)
    function.attributes["translation_info"] = ir.Attribute.parse(info)
    for op in ops:
        config = re.sub(r"(\[(?:0, )+)\d+(\]\]>)", rf"\g<1>{items * vector}\2", str(op.attributes["lowering_config"]))
        op.attributes["lowering_config"] = ir.Attribute.parse(config)
    return True
