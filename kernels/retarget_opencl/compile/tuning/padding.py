"""Products of matrices padded, before kernels are formed, to sizes that have tiles.

IREE's SPIR-V takes a product whose sizes no tile divides element by element: with 1023 rows it takes a hundred times as
long as with 1024. Copies with zeros to the next multiple of 64 cost little beside that, if the product is large; they
take as much memory as its matrices do. `docs/measurements/hardware.md` has the measurements.
"""

from __future__ import annotations

from collections.abc import Sequence

from retarget_opencl.compile.tuning.contractions import LOOPS, bytes_of_factor, has_tiles, products_in, sizes_of
from retarget_opencl.translation import Ir

__all__ = ["PHASE", "pad_products"]

PHASE = "preprocessing"
"""The phase after which `pad_products` works: later ones form kernels."""

_VECTOR = 4
_LEAST, _LEAST_BY_VECTORS = 256, 384
"""Rows, columns and steps of a product from which on it is padded; more where IREE takes its elements by vectors."""
_MULTIPLE, _STEP = 64, 128
"""What rows and columns are padded to a multiple of, and the reduction, in bytes of a factor."""


def pad_products(module: Ir, *, units: bool) -> bool:
    """Pad the large products in a module that have no tiles; say whether there are any. Needs MLIR's context.

    `units`: the device has matrix units.
    """
    found = False
    for op in list(products_in(module)):
        sizes = sizes_of(op)
        least = _LEAST if any(size % _VECTOR for size in sizes[-LOOPS:]) else _LEAST_BY_VECTORS
        if sizes and min(sizes[-LOOPS:]) >= least and not has_tiles(op, sizes, units=units):
            multiples = (_MULTIPLE, _MULTIPLE, _STEP // bytes_of_factor(op))
            pairs = zip(sizes[-LOOPS:], multiples, strict=True)
            padded = [*sizes[:-LOOPS], *(-(-size // multiple) * multiple for size, multiple in pairs)]
            if has_tiles(op, padded, units=units):
                _pad(op, padded)
                found = True
    return found


def _pad(op: Ir, sizes: Sequence[int]) -> None:
    from iree.compiler import ir
    from iree.compiler.dialects import linalg, tensor

    maps = [[expression.position for expression in item.value.results] for item in linalg.get_indexing_maps(op)]
    with ir.InsertionPoint(op), op.location:
        operands = [
            _padded(operand, [sizes[position] for position in positions])
            for operand, positions in zip(op.operands, maps, strict=True)
        ]
        product = op.clone()
        for index, operand in enumerate(operands):
            product.operands[index] = operand
        product.results[0].set_type(operands[-1].type)
        kind = ir.RankedTensorType(op.results[0].type)
        zeros, ones = [0] * kind.rank, [1] * kind.rank
        part = tensor.ExtractSliceOp(kind, product.results[0], [], [], [], zeros, kind.shape, ones)
        op.results[0].replace_all_uses_with(part.result)
        op.erase()


def _padded(value: Ir, shape: Sequence[int]) -> Ir:
    """Return a tensor with zeros behind its elements, up to `shape`."""
    from iree.compiler import ir
    from iree.compiler.dialects import arith, tensor

    kind = ir.RankedTensorType(value.type)
    if list(shape) == kind.shape:
        return value
    zero = arith.ConstantOp(kind.element_type, _zero(kind.element_type)).result
    high = [new - old for new, old in zip(shape, kind.shape, strict=True)]
    result = ir.RankedTensorType.get(shape, kind.element_type)
    pad = tensor.PadOp(result, value, [], [], [0] * kind.rank, high)
    block = pad.regions[0].blocks.append(*[ir.IndexType.get()] * kind.rank)
    with ir.InsertionPoint(block):
        tensor.YieldOp(zero)
    return pad.result


def _zero(kind: Ir) -> Ir:
    from iree.compiler import ir

    return ir.IntegerAttr.get(kind, 0) if isinstance(kind, ir.IntegerType) else ir.FloatAttr.get(kind, 0.0)
