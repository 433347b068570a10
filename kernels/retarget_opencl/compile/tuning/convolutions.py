"""Convolutions with tiles in registers, prepared between two of IREE's phases.

IREE (3.13) makes each convolution a `linalg.generic`, for which its SPIR-V has one output to a work-item, summed up in
memory. As the named op, with tiles, it becomes vectors in registers: each work-item computes some pixels of four output
channels, and reads each weight once for all of them. Nothing is unfolded, so that it takes no more memory.
`docs/measurements/hardware.md` has the measurements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from retarget_opencl.compile.tuning.kernels import nvidia_kernels, walk
from retarget_opencl.translation import Ir

__all__ = ["prepare_convolutions", "thread_tile"]

_BATCH = "iree-codegen-insert-batch-dim-for-batchless-conv"
"""IREE's pass that gives back the dimension of a batch of one, which IREE drops before."""

_NAMED = "linalg.conv_2d_nhwc_hwcf"
# Over batch, rows, columns, output channels, rows and columns of the filter, and input channels.
_IMAGE = re.compile(r".* -> \(d0, d1(?: \* \d+)? \+ d4(?: \* \d+)?, d2(?: \* \d+)? \+ d5(?: \* \d+)?, d6\)>")
_WITHOUT_BATCH = re.compile(r".* -> \(d0(?: \* \d+)? \+ d3(?: \* \d+)?, d1(?: \* \d+)? \+ d4(?: \* \d+)?, d5\)>")
_FILTER = re.compile(r".* -> \(d4, d5, d6, d3\)>")
_RESULT = re.compile(r".* -> \(d0, d1, d2, d3\)>")
_VECTOR = 4
_SUBGROUP = 32
_ENOUGH = 132 * 4 * _SUBGROUP
"""Work-items that give each scheduler of an H200's 132 processors one subgroup."""

# Rows and columns that one work-item computes, the best first; measured on an H200.
_TILES = ((4, 2), (2, 4), (1, 8), (8, 1), (1, 7), (7, 1), (2, 2), (1, 4), (4, 1), (1, 2), (2, 1))


def prepare_convolutions(module: Ir) -> bool:
    """Give tiles to the convolutions in the kernels of a module after the phase `executable-sources`; say whether there
    are any.

    Only for NVIDIA's architectures, on which they were measured. Needs MLIR's context.
    """
    prepared = [_prepare_kernel(function) for function in nvidia_kernels(module)]
    return any(prepared)


def thread_tile(batch: int, rows: int, columns: int, channels: int) -> tuple[int, int]:
    """Return how many rows and columns of the result one work-item computes, of four channels each.

    The first of `_TILES` that divides the result into enough work-items, else a single pixel.
    """
    vectors = batch * rows * columns * channels // _VECTOR
    for tile in _TILES:
        if rows % tile[0] == 0 and columns % tile[1] == 0 and vectors >= _ENOUGH * prod(tile):
            return tile
    return 1, 1


def _prepare_kernel(function: Ir) -> bool:
    from iree.compiler import passmanager
    from iree.compiler.dialects import linalg

    convolutions = [op for op in walk(function) if op.name == "linalg.generic" and linalg.isa_convolution_op(op)]
    if any(_WITHOUT_BATCH.match(str(op.attributes["indexing_maps"][0])) for op in convolutions):
        passmanager.PassManager.parse(f"func.func({_BATCH})").run(function)
    prepared = [_prepare(op) for op in list(walk(function)) if op.name == "linalg.generic"]
    return any(prepared)


def _prepare(op: Ir) -> bool:
    """Replace a convolution that these tiles fit; say whether it is one."""
    from iree.compiler import ir
    from iree.compiler.dialects import linalg

    maps = [str(one) for one in op.attributes["indexing_maps"]]
    fits = len(maps) == 3 and all(form.match(one) for form, one in zip((_IMAGE, _FILTER, _RESULT), maps, strict=True))
    if not fits or "compilation_info" in op.attributes or not linalg.isa_convolution_op(op):
        return False
    types = [ir.RankedTensorType(value.type) for value in op.operands]
    if any(not one.has_static_shape or str(one.element_type) != "f32" for one in types):
        return False
    inner, (batch, rows, columns, channels) = types[0].shape[3], types[2].shape
    if inner % _VECTOR or channels % _VECTOR:
        return False
    tiles = _compilation_info(batch, rows, columns, channels)
    if not tiles or not _sums_products(op.regions[0].blocks[0]):
        return False
    dimensions = linalg.infer_convolution_dimensions(op)
    with ir.InsertionPoint(op), op.location:
        named = ir.Operation.create(
            _NAMED,
            results=[op.results[0].type],
            operands=list(op.operands),
            attributes={
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1]),
                "strides": _numbers(dimensions.strides),
                "dilations": _numbers(dimensions.dilations),
                "compilation_info": ir.Attribute.parse(tiles),
            },
            regions=1,
        )
    op.regions[0].blocks[0].append_to(named.regions[0])
    op.results[0].replace_all_uses_with(named.results[0])
    op.erase()
    return True


def _sums_products(body: Ir) -> bool:
    """Return whether a body adds products of its first two arguments; let operands be in the named op's order.

    Windows of other ops, as the maximum of a dilation, are convolutions to IREE's bindings too. To IREE's vectors they,
    and operands in another order, are not.
    """
    steps = [item.operation for item in body]
    if [one.name for one in steps] != ["arith.mulf", "arith.addf", "linalg.yield"]:
        return False
    product, total, _ = steps
    orders = ((product, body.arguments[0], body.arguments[1]), (total, body.arguments[2], product.results[0]))
    for one, first, second in orders:
        if list(one.operands) == [second, first]:
            one.operands[0], one.operands[1] = first, second
        elif list(one.operands) != [first, second]:
            return False
    return True


def _numbers(values: Sequence[int]) -> Ir:
    from iree.compiler import ir

    return ir.Attribute.parse(f"dense<{list(values)}> : tensor<{len(values)}xi64>")


def _compilation_info(batch: int, rows: int, columns: int, channels: int) -> str:
    """Return the attribute with a convolution's tiles; empty where IREE's own are better: where a work-item for four
    channels does not occupy the device, or a work-group would be less than half a subgroup."""
    if batch * rows * columns * channels < _ENOUGH * _VECTOR:
        return ""
    high, wide = thread_tile(batch, rows, columns, channels)
    across = _divisor(channels // _VECTOR, _SUBGROUP)
    # Neighbouring pixels in one work-group read the same weights from the cache.
    along = _divisor(columns // wide, max(4, _SUBGROUP // across))
    if across * along * 2 < _SUBGROUP:
        return ""
    tiles = [
        [1, high, along * wide, across * _VECTOR],
        [1, high, wide, _VECTOR],
        [0, 0, 0, 0, 1, 1, _VECTOR],
        [0, 1, 0, 0],
    ]
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_codegen.lowering_config<tile_sizes = {tiles}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<BaseVectorize> "
        f"workgroup_size = [{across}, {along}, 1]>>"
    )


def _divisor(number: int, most: int) -> int:
    """Return the largest divisor of a number that is at most `most`."""
    return next(one for one in range(min(number, most), 0, -1) if number % one == 0)
