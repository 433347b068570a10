"""Convolutions, elementwise kernels and softmax for NVIDIA's devices: their tiles and work-groups.

IREE (3.13) makes each convolution a `linalg.generic`, for which its SPIR-V has one output to a work-item, summed up in
memory. As the named op, with tiles, it becomes vectors in registers: each work-item computes some pixels of four output
channels, and reads each weight once for all of them. Nothing is unfolded, so that it takes no more memory.
`docs/measurements/hardware.md` has the measurements.

IREE (3.13) gives each work-group of an elementwise kernel one subgroup, for SPIR-V as for CUDA. On an H200 groups are
then started more slowly than memory could serve them: 0.32 ms for 8192² elements of `f32`, 0.19 ms with four subgroups.

To softmax IREE (3.13) gives for a row of 1024 elements 32 work-items and one of 4096 elements 128, each of which takes
four elements at once. `docs/measurements/hardware.md` has what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import prod

from retarget_opencl.translation import Ir, kernels_of, walk


def nvidia_kernels(module: Ir) -> Iterator[tuple[Ir, Ir, Ir]]:
    """Yield the kernels for NVIDIA's architectures, as `kernels_of` does: tiles were measured on them alone."""
    for variant, export, function in kernels_of(module):
        if re.search(r'arch = "sm_\d+"', str(variant.attributes["target"])):
            yield variant, export, function


def compilation_info(pipeline: str, size: Sequence[int], tiles: Sequence[Sequence[int]], more: str = "") -> Ir:
    """Return the attribute with an op's tiles and its kernel's pipeline and work-group."""
    from iree.compiler import ir

    return ir.Attribute.parse(
        f"#iree_codegen.compilation_info<lowering_config = #iree_codegen.lowering_config<tile_sizes = {tiles}>, "
        f"translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<{pipeline}> "
        f"workgroup_size = {list(size)}{more}>>"
    )


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


def thread_tile(batch: int, rows: int, columns: int, channels: int) -> tuple[int, int]:
    """Return how many rows and columns of the result one work-item computes, of four channels each.

    The first of `_TILES` that divides the result into enough work-items, else a single pixel.
    """
    vectors = batch * rows * columns * channels // _VECTOR
    for tile in _TILES:
        if rows % tile[0] == 0 and columns % tile[1] == 0 and vectors >= _ENOUGH * prod(tile):
            return tile
    return 1, 1


def prepare_convolutions(function: Ir) -> bool:
    """Give tiles to the convolutions in a kernel after the phase `executable-sources`; say whether there are any."""
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
    tiles = _convolution_info(batch, rows, columns, channels)
    if tiles is None or not _sums_products(op.regions[0].blocks[0]):
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
                "compilation_info": tiles,
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


def _convolution_info(batch: int, rows: int, columns: int, channels: int) -> Ir | None:
    """Return the attribute with a convolution's tiles; None where IREE's own are better: where a work-item for four
    channels does not occupy the device, or a work-group would be less than half a subgroup."""
    if batch * rows * columns * channels < _ENOUGH * _VECTOR:
        return None
    high, wide = thread_tile(batch, rows, columns, channels)
    across = _divisor(channels // _VECTOR, _SUBGROUP)
    # Neighbouring pixels in one work-group read the same weights from the cache.
    along = _divisor(columns // wide, max(4, _SUBGROUP // across))
    if across * along * 2 < _SUBGROUP:
        return None
    tiles = [
        [1, high, along * wide, across * _VECTOR],
        [1, high, wide, _VECTOR],
        [0, 0, 0, 0, 1, 1, _VECTOR],
        [0, 1, 0, 0],
    ]
    return compilation_info("BaseVectorize", (across, along, 1), tiles)


def _divisor(number: int, most: int) -> int:
    """Return the largest divisor of a number that is at most `most`."""
    return next(one for one in range(min(number, most), 0, -1) if number % one == 0)


_MOST = 128
"""Work-items of a work-group; 64 to 512 were equally fast on an H200."""

_DIALECTS = ("linalg.", "iree_linalg_ext.")
_SCALAR = frozenset({"linalg.yield", "linalg.index"})
_ELEMENTS = frozenset({"f32", "f16", "bf16", "i32"})


def work_items(inner: int) -> int:
    """Return how many work-items of four elements share a row of `inner` elements; 0 if no more than one subgroup."""
    counts = range(_MOST, _SUBGROUP, -_SUBGROUP)
    return next((count for count in counts if inner % (count * _VECTOR) == 0), 0)


def prepare_elementwise(function: Ir) -> bool:
    """Give a work-group to a kernel of one elementwise op after the phase `executable-sources`; say if it is one."""
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
        outer = [1] * (kinds[-1].rank - 1)
        tiles = [[*outer, items * _VECTOR], [*outer, _VECTOR]]
        op.attributes["compilation_info"] = compilation_info("BaseVectorize", (items, 1, 1), tiles)
    return bool(items)


def _dimensions(text: str) -> list[int] | None:
    """Return the loops that a map reads an operand by; None where it computes with them."""
    results = re.fullmatch(r".* -> \((.*)\)>", text)
    names = results[1].split(", ") if results and results[1] else []
    return [int(name[1:]) for name in names] if all(re.fullmatch(r"d\d+", name) for name in names) else None


_REDUCTIONS = 2
"""Those of a softmax: the largest element of a row, and the sum of the exponentials."""
_BY_COLUMNS = {512: (128, 4), 1024: (64, 16), 2048: (128, 4), 4096: (256, 4), 8192: (512, 4)}
"""Those that were fastest on an H200. More than 4 elements compile only where the work-items take all of a row."""
_PIPELINE = "spirv_pipeline<SubgroupReduce>"


def prepare_rows(function: Ir) -> bool:
    """Configure a softmax kernel of `f32` anew, by its work-items for a row and the elements that each takes at once;
    say if it is one."""
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
    chosen = _BY_COLUMNS.get(kind.shape[-1])
    if chosen is None:
        return False
    items, vector = chosen
    info = re.sub(r"workgroup_size = \[\d+, 1, 1\]", f"workgroup_size = [{items}, 1, 1]", info)
    function.attributes["translation_info"] = ir.Attribute.parse(info)
    for op in ops:
        config = re.sub(r"(\[(?:0, )+)\d+(\]\]>)", rf"\g<1>{items * vector}\2", str(op.attributes["lowering_config"]))
        op.attributes["lowering_config"] = ir.Attribute.parse(config)
    return True
