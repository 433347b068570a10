"""Products of matrices, prepared between IREE's phases: tiles, padding, generic ops, and bf16 for matrix units.

IREE takes its tiles for SPIR-V by the architecture, whatever the size of a product. Here each product of static sizes
for an NVIDIA device gets tiles by its size and element type, as a `compilation_info`, which IREE prefers to its own
choice. `docs/measurements/hardware.md` has the measurements behind them.

IREE's SPIR-V has no cooperative matrices of bf16. In a kernel that only loads, converts and stores bf16 these become
f16, and the kernel's export says so (`BFLOAT16`): OpenCL C is then written with bf16 in their place.

IREE's SPIR-V takes a product whose sizes no tile divides element by element: with 1023 rows it takes a hundred times as
long as with 1024. Copies with zeros to the next multiple of 64 cost little beside that, if the product is large; they
take as much memory as its matrices do. `docs/opencl.md` has the measurements.

Products without tiles become `linalg.generic`, into which IREE fuses more: it (3.13) takes transpositions into the
loops of a generic op and what follows into its kernel, not into those of `linalg.matmul`. That is what
`--iree-opt-generalize-matmul` is for; but it also takes slices into a product that was padded for its tiles, and so
undoes the padding. Here only those products are changed that get no tiles in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from retarget_opencl.compile.kernels import compilation_info, nvidia_kernels
from retarget_opencl.translation import BFLOAT16, Ir, walk

_LOOPS = 3
"""The loops of a product over rows, columns and steps of the reduction, the last of its loops."""

_SUBGROUP = 32
_ENOUGH = 128
"""Work-groups that occupy a device: 108 processors in an A100, 132 in an H200."""


class _Tiling(Struct, frozen=True, kw_only=True):
    """Rows and columns of a work-group's tile, and of a subgroup's (or, without matrix units, a work-item's) in it.

    `step` is along the reduction, in bytes of a factor or, for one product, in elements. `stage` is 0 where the next
    tile is stored in local memory before it is used, 1 where it waits in registers. `whole`: for products whose
    reduction is one step, and no others.
    """

    group: tuple[int, int]
    part: tuple[int, int]
    step: int
    stage: int
    whole: bool = False


# From the largest on: the first that divides a product into enough work-groups is taken, else the last that divides it.
_MATRIX_TILES = (
    _Tiling(group=(64, 64), part=(32, 32), step=128, stage=0, whole=True),
    _Tiling(group=(128, 128), part=(64, 64), step=64, stage=0),
    _Tiling(group=(64, 64), part=(32, 32), step=128, stage=1),
    _Tiling(group=(32, 64), part=(16, 32), step=128, stage=1),
    _Tiling(group=(32, 32), part=(16, 32), step=128, stage=1),
    _Tiling(group=(32, 32), part=(16, 16), step=256, stage=1),
    _Tiling(group=(32, 32), part=(16, 16), step=128, stage=1, whole=True),
)
# Where more ops follow in the kernel, sums pass through local memory, which has no room for the largest tile's.
_FUSED_TILES = (_MATRIX_TILES[0], _Tiling(group=(64, 64), part=(32, 32), step=64, stage=1), *_MATRIX_TILES[3:])
_PLAIN_TILES = (
    _Tiling(group=(64, 128), part=(8, 4), step=128, stage=1),
    _Tiling(group=(64, 64), part=(4, 4), step=128, stage=1),
    _Tiling(group=(32, 64), part=(4, 4), step=128, stage=1),
    _Tiling(group=(32, 32), part=(2, 4), step=128, stage=1),
    _Tiling(group=(16, 16), part=(1, 4), step=256, stage=1, whole=True),
)
_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1}
_PRODUCTS = {("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("i8", "i32")}
"""Elements of the factors and sums that matrix units compute."""


def prepare_products(module: Ir) -> bool:
    """Prepare the products in the kernels of a module after the phase `executable-sources`; say whether there are any.

    Needs MLIR's context.
    """
    found = False
    for variant, export, function in nvidia_kernels(module):
        units = "NV_WMMA" in str(variant.attributes["target"])
        products = list(products_in(function))
        if len(products) != 1:
            continue
        tiling = _tiling(products[0], units=units)
        if units and _elements(products[0]) == ("bf16", "f32"):
            found |= _prepare_bfloat16(function, export)
        if tiling is not None:
            products[0].attributes["compilation_info"] = tiling
            found = True
    return found


def products_in(parent: Ir) -> Iterator[Ir]:
    """Yield the products of matrices inside an op."""
    from iree.compiler.dialects import linalg

    for op in walk(parent):
        if op.name.startswith("linalg.") and "indexing_maps" in op.attributes and linalg.isa_contraction_op(op):
            yield op


def _elements(op: Ir) -> tuple[str, str]:
    """Return the element types of the factors and of the sum; the former empty where the factors differ."""
    from iree.compiler import ir

    left, right, out = (str(ir.ShapedType(operand.type).element_type) for operand in op.operands)
    return (left if left == right else "", out)


def _tiling(op: Ir, *, units: bool) -> Ir | None:
    """Return the attribute with a product's tiles, if one of the tables fits."""
    sizes = sizes_of(op)
    tiling = _choose(op, sizes, units=units) if sizes and "compilation_info" not in op.attributes else None
    if tiling is None:
        return None
    return _tiles_info(tiling, len(sizes) - _LOOPS, on_units=units and _elements(op) in _PRODUCTS)


def sizes_of(op: Ir) -> list[int]:
    """Return how often each loop of a product runs: those over batches, over rows, columns and the reduction.

    Empty where there are other loops, in another order, or of sizes that are not static.
    """
    from iree.compiler import ir
    from iree.compiler.dialects import linalg

    dimensions = linalg.infer_contraction_dimensions(op)
    batch, m, n, k = (list(getattr(dimensions, name)) for name in ("batch", "m", "n", "k"))
    order = [*batch, *m, *n, *k]
    if (len(m), len(n), len(k)) != (1, 1, 1) or order != list(range(len(order))):
        return []
    found: dict[int, int] = {}
    for operand, attribute in zip(op.operands, linalg.get_indexing_maps(op), strict=True):
        shape = ir.ShapedType(operand.type)
        for axis, expression in enumerate(attribute.value.results):
            if not isinstance(expression, ir.AffineDimExpr) or shape.is_dynamic_dim(axis):
                return []
            found[expression.position] = shape.get_dim_size(axis)
    return [found[position] for position in order]


def _choose(op: Ir, sizes: Sequence[int], *, units: bool) -> _Tiling | None:
    types = _elements(op)
    tilings: tuple[_Tiling, ...] = _PLAIN_TILES if types == ("f32", "f32") else ()
    if units and types in _PRODUCTS:
        tilings = _FUSED_TILES if _is_used_here(op) else _MATRIX_TILES
    *outer, rows, columns, depth = sizes
    found = None
    for in_bytes in tilings:
        tiling = replace(in_bytes, step=in_bytes.step // _BYTES[types[0]])
        if rows % tiling.group[0] or columns % tiling.group[1] or depth % tiling.step:
            continue
        if tiling.whole != (depth == tiling.step):
            continue
        found = tiling
        if prod(outer) * (rows // tiling.group[0]) * (columns // tiling.group[1]) >= _ENOUGH:
            break
    return found


def _is_used_here(op: Ir) -> bool:
    """Return whether the kernel computes with a product, rather than storing it."""
    return any(use.owner.operation.name.startswith("linalg.") for use in op.results[0].uses)


def _tiles_info(tiling: _Tiling, batch: int, *, on_units: bool) -> Ir:
    (rows, columns), (part_rows, part_columns) = tiling.group, tiling.part
    ones, zeros = [1] * batch, [0] * batch
    stages = f", {{pipeline_depth = 1 : i64, store_stage = {tiling.stage} : i64}}"
    if not on_units:
        size, tiles = (columns // part_columns, rows // part_rows, 1), [[*ones, rows, columns, tiling.step]]
        return compilation_info("MatmulPromoteVectorize", size, tiles, stages)
    size = (_SUBGROUP * columns // part_columns, rows // part_rows, 1)
    reduction = [*zeros, 0, 0, tiling.step]
    tiles = [[*ones, rows, columns], [*ones, part_rows, part_columns], reduction, [*ones, 16, 16, 16]]
    return compilation_info("CooperativeMatrixVectorize", size, tiles, f" subgroup_size = {_SUBGROUP}{stages}")


# What a kernel may do with bf16, so that f16 can stand for it: no constants and no arithmetic.
_NEUTRAL = re.compile(
    r"hal\.interface\.|iree_tensor_ext\.dispatch\.tensor\.|tensor\.(empty|extract_slice|expand|collapse)|linalg\."
)
_CONVERTING = frozenset({"arith.extf", "arith.truncf"})


def _prepare_bfloat16(function: Ir, export: Ir) -> bool:
    """Let f16 stand for bf16 in a kernel that only moves and converts it, and has no f16 of its own."""
    from iree.compiler import ir

    ops = list(walk(function))
    values = [value for op in ops for value in op.results]
    values += [value for op in ops for region in op.regions for block in region.blocks for value in block.arguments]
    if any(re.search(r"(?<!b)f16", str(value.type)) for value in values):
        return False
    for op in ops:
        kinds = [str(value.type) for value in (*op.results, *op.operands)]
        if not any("bf16" in kind for kind in kinds) or _NEUTRAL.match(op.name):
            continue
        if op.name not in _CONVERTING or "f64" in kinds:
            return False
    for value in values:
        if "bf16" in str(value.type):
            value.set_type(ir.Type.parse(str(value.type).replace("bf16", "f16")))
    export.attributes[BFLOAT16] = ir.UnitAttr.get()
    return True


_VECTOR = 4
_LEAST, _LEAST_BY_VECTORS = 256, 384
"""Rows, columns and steps of a product from which on it is padded; more where IREE takes its elements by vectors."""
_MULTIPLE, _STEP = 64, 128
"""What rows and columns are padded to a multiple of, and the reduction, in bytes of a factor."""


def pad_products(module: Ir, *, units: bool) -> bool:
    """Pad the large products that have no tiles, in a module after the phase `preprocessing`; say if there are any.

    `units`: the device has matrix units. Needs MLIR's context.
    """
    found = False
    for op in list(products_in(module)):
        sizes = sizes_of(op)
        least = _LEAST if any(size % _VECTOR for size in sizes[-_LOOPS:]) else _LEAST_BY_VECTORS
        if sizes and min(sizes[-_LOOPS:]) >= least and _choose(op, sizes, units=units) is None:
            multiples = (_MULTIPLE, _MULTIPLE, _STEP // _BYTES.get(_elements(op)[0], 8))
            pairs = zip(sizes[-_LOOPS:], multiples, strict=True)
            padded = [*sizes[:-_LOOPS], *(-(-size // multiple) * multiple for size, multiple in pairs)]
            if _choose(op, padded, units=units):
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


def generalize_products(module: Ir, *, units: bool) -> bool:
    """Make products of dynamic sizes, and those with one row or column, generic ops; say whether there are any.

    Those with a `compilation_info` keep it, and stay. Needs MLIR's context. `units`: the device has matrix units.
    """
    found = False
    for op in list(products_in(module)):
        if op.name == "linalg.generic" or "compilation_info" in op.attributes:
            continue
        sizes = sizes_of(op)
        if sizes and (1 not in sizes[-_LOOPS:] or _choose(op, sizes, units=units)):
            continue
        _generalize(op)
        found = True
    return found


def _generalize(op: Ir) -> None:
    from iree.compiler import ir
    from iree.compiler.dialects import linalg

    maps = [item.value for item in linalg.get_indexing_maps(op)]
    reductions = set(linalg.infer_contraction_dimensions(op).k)
    kinds = ["reduction" if loop in reductions else "parallel" for loop in range(maps[0].n_dims)]
    attributes = {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(one) for one in maps]),
        "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]),
        "operandSegmentSizes": op.attributes["operandSegmentSizes"],
    }
    with ir.InsertionPoint(op), op.location:
        results = [result.type for result in op.results]
        generic = ir.Operation.create("linalg.generic", results, list(op.operands), attributes, regions=1)
    op.regions[0].blocks[0].append_to(generic.regions[0])
    op.results[0].replace_all_uses_with(generic.results[0])
    op.erase()
