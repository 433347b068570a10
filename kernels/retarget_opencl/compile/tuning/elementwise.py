"""Elementwise kernels with larger work-groups, prepared between two of IREE's phases.

IREE (3.13) gives each work-group of such a kernel one subgroup, for SPIR-V as for CUDA. On an H200 groups are then
started more slowly than memory could serve them: 0.32 ms for 8192² elements of `f32`, 0.19 ms with four subgroups.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from retarget_opencl.compile.tuning.kernels import nvidia_kernels, walk
from retarget_opencl.translation import Ir

__all__ = ["prepare_elementwise", "work_items"]

_VECTOR = 4
_SUBGROUP = 32
_MOST = 128
"""Work-items of a work-group; 64 to 512 were equally fast on an H200."""

_DIALECTS = ("linalg.", "iree_linalg_ext.")
_SCALAR = frozenset({"linalg.yield", "linalg.index"})
_ELEMENTS = frozenset({"f32", "f16", "bf16", "i32"})


def prepare_elementwise(module: Ir) -> bool:
    """Give work-groups to kernels of one elementwise op after the phase `executable-sources`; say if there are any.

    Only for NVIDIA's architectures, on which they were measured. Needs MLIR's context.
    """
    prepared = [_prepare(function) for function in nvidia_kernels(module)]
    return any(prepared)


def work_items(inner: int) -> int:
    """Return how many work-items of four elements share a row of `inner` elements; 0 if no more than one subgroup."""
    counts = range(_MOST, _SUBGROUP, -_SUBGROUP)
    return next((count for count in counts if inner % (count * _VECTOR) == 0), 0)


def _prepare(function: Ir) -> bool:
    from iree.compiler import ir

    ops = [op for op in walk(function) if op.name.startswith(_DIALECTS) and op.name not in _SCALAR]
    if len(ops) != 1 or ops[0].name != "linalg.generic" or len(ops[0].results) != 1:
        return False
    op = ops[0]
    kinds = [value.type for value in op.operands if isinstance(value.type, ir.RankedTensorType)]
    *operands, result = [_dimensions(str(one)) for one in op.attributes["indexing_maps"]]
    # Each operand is read along the rows of the result, or is the same for all of a row.
    if result != list(range(kinds[-1].rank)) or any(one is None or one != sorted(one) for one in operands):
        return False
    if "reduction" in str(op.attributes["iterator_types"]) or "compilation_info" in op.attributes:
        return False
    if not kinds[-1].has_static_shape or any(str(one.element_type) not in _ELEMENTS for one in kinds):
        return False
    items = work_items(kinds[-1].get_dim_size(kinds[-1].rank - 1)) if kinds[-1].rank else 0
    if items:
        op.attributes["compilation_info"] = ir.Attribute.parse(_compilation_info([1] * (kinds[-1].rank - 1), items))
    return bool(items)


def _dimensions(text: str) -> list[int] | None:
    """Return the loops that a map reads an operand by; None where it computes with them."""
    results = re.fullmatch(r".* -> \((.*)\)>", text)
    names = results[1].split(", ") if results and results[1] else []
    return [int(name[1:]) for name in names] if all(re.fullmatch(r"d\d+", name) for name in names) else None


def _compilation_info(outer: Sequence[int], items: int) -> str:
    tiles = [[*outer, items * _VECTOR], [*outer, _VECTOR]]
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_codegen.lowering_config<tile_sizes = {tiles}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<BaseVectorize> "
        f"workgroup_size = [{items}, 1, 1]>>"
    )
