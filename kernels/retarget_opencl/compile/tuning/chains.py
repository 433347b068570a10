"""Small products that follow each other, so that one launch does the work of all, after `executable-sources`.

Each row of a product depends on the same row of its left factor alone. Where a work-group has whole rows, it can go on
with its rows of the next product, without waiting for others. Ten products of 64x64 took ten launches of 5 µs on an
H200, and little else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from retarget_opencl.compile.tuning.contractions import products_in, sizes_of
from retarget_opencl.compile.tuning.kernels import inside, walk
from retarget_opencl.translation import IN_TURN, Ir, symbol_name

__all__ = ["prepare_chains"]

_ROWS = 4
"""Rows of a work-group; each work-item computes four neighbours in one of them."""
_VECTOR = 4
_LARGEST = 128
"""Rows, columns and steps of a product, beyond which more work-items are worth their own launch."""
_SMALLEST = 32
_MOST_PARAMETERS = 1024
_LOOPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operand:
    """A buffer of a kernel. `offset` is in bytes, `uniform` the push constant to add to it; `by_rows`: a work-group
    takes only its rows."""

    ordinal: int
    offset: int
    uniform: int | None
    size: int
    by_rows: bool
    writes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kernel:
    export: Ir
    product: Ir
    groups: int
    columns: int
    operands: tuple[_Operand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Access:
    """What a dispatch does in the range of a resource."""

    resource: Ir
    start: int
    size: int
    by_rows: bool
    writes: bool


def prepare_chains(module: Ir) -> bool:
    """Let dispatches of small products that depend on each other by rows share a launch; say whether there are any.

    Only for NVIDIA's architectures, on which it was measured. Needs MLIR's context.
    """
    from iree.compiler import ir

    kernels = dict(_kernels(module))
    if not kernels:
        return False
    commands = [op for op in walk(module) if op.name == "stream.cmd.execute"]
    chains = [chain for one in commands for chain in _chains(one, kernels)]
    total = Counter(_entry(op) for one in commands for op in walk(one) if op.name == "stream.cmd.dispatch")
    chained = Counter(_entry(op) for chain in chains for op in chain)
    found = False
    for number, chain in enumerate(chains):
        entries = {_entry(op) for op in chain}
        if any(chained[entry] != total[entry] for entry in entries):
            continue
        for entry in entries:
            kernel = kernels[entry]
            kernel.product.attributes["compilation_info"] = ir.Attribute.parse(_compilation_info(kernel.columns))
            kernel.export.attributes[IN_TURN] = ir.UnitAttr.get()
        for op in chain:
            op.attributes[IN_TURN] = ir.StringAttr.get(f"{number} {kernels[_entry(op)].groups}")
        found = True
    return found


def _entry(dispatch: Ir) -> str:
    return re.sub(r'[@"]', "", str(dispatch.attributes["entry_points"][0]))


def _compilation_info(columns: int) -> str:
    tiles = [[_ROWS, columns], [1, _VECTOR], [0, 0, _VECTOR]]
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_codegen.lowering_config<tile_sizes = {tiles}>, "
        "translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<BaseVectorize> "
        f"workgroup_size = [{columns // _VECTOR}, {_ROWS}, 1]>>"
    )


# ---------------------------------------------------------------- kernels


def _kernels(module: Ir) -> Iterator[tuple[str, _Kernel]]:
    for executable in inside(module, "hal.executable"):
        for variant in inside(executable, "hal.executable.variant"):
            if not re.search(r'arch = "sm_\d+"', str(variant.attributes["target"])):
                continue
            for inner in inside(variant, "builtin.module"):
                for function in inside(inner, "func.func"):
                    exports = inside(variant, "hal.executable.export")
                    export = next((one for one in exports if symbol_name(one) == symbol_name(function)), None)
                    kernel = export and _kernel(function, export)
                    if kernel is not None:
                        yield "::".join(map(symbol_name, (executable, variant, function))), kernel


def _kernel(function: Ir, export: Ir) -> _Kernel | None:
    """Return a kernel of one small product, with elementwise ops at most around it; None for another."""
    from iree.compiler import ir
    from iree.compiler.dialects import linalg

    products = list(products_in(function))
    sizes = sizes_of(products[0]) if len(products) == 1 else []
    if len(sizes) != _LOOPS or "compilation_info" in products[0].attributes:
        return None
    rows, columns, depth = sizes
    shapes_fit = columns >= _SMALLEST and max(sizes) <= _LARGEST and not (rows % _ROWS or columns % 16 or depth % 16)
    elements = {str(ir.ShapedType(operand.type).element_type) for operand in products[0].operands}
    if not shapes_fit or elements != {"f32"}:
        return None
    by_rows = _elementwise(function, products[0])
    if by_rows is None:
        return None
    left, right, out = products[0].operands
    left_map, _, out_map = (_loops(item) for item in linalg.get_indexing_maps(products[0]))
    if out_map != "d0, d1":
        return None
    by_rows[left] = by_rows.get(left, True) and left_map == "d0, d2"
    by_rows[right] = by_rows[out] = False
    operands = _operands(function, by_rows)
    if operands is None:
        return None
    return _Kernel(export=export, product=products[0], groups=rows // _ROWS, columns=columns, operands=operands)


def _elementwise(function: Ir, product: Ir) -> dict[Ir, bool] | None:
    """Return which operands the ops around a product read by rows; None where an op is not elementwise."""
    by_rows: dict[Ir, bool] = {}
    for op in walk(function):
        if not op.name.startswith("linalg.") or op == product or op.name in {"linalg.fill", "linalg.yield"}:
            continue
        if op.name != "linalg.generic" or "reduction" in str(op.attributes["iterator_types"]):
            return None
        for operand, attribute in zip(op.operands, op.attributes["indexing_maps"], strict=True):
            dimensions = _loops(attribute)
            if dimensions not in {"d0, d1", "d0", "d1", ""}:
                return None
            by_rows[operand] = by_rows.get(operand, True) and dimensions.startswith("d0")
    return by_rows


def _loops(indexing_map: Ir) -> str:
    """Return the loops that a map reads an operand by, as text."""
    return str(indexing_map).rpartition("-> (")[2].removesuffix(")>")


def _operands(function: Ir, by_rows: Mapping[Ir, bool]) -> tuple[_Operand, ...] | None:
    """Return a kernel's buffers; None where one is not loaded or stored as a whole."""
    from iree.compiler import ir

    found = []
    for op in walk(function):
        writes = op.name == "iree_tensor_ext.dispatch.tensor.store"
        if not writes and op.name != "iree_tensor_ext.dispatch.tensor.load":
            continue
        value, buffer = (op.operands[0], op.operands[1]) if writes else (op.results[0], op.operands[0])
        kind = ir.RankedTensorType(value.type)
        span = buffer.owner
        place = _offset(span.operands[0]) if span.name == "hal.interface.binding.subspan" else None
        if place is None or not kind.has_static_shape or f":{kind}>" not in str(buffer.type):
            return None
        if writes and not value.owner.name.startswith("linalg."):
            return None
        size = 4
        for axis in range(kind.rank):
            size *= kind.get_dim_size(axis)
        found.append(
            _Operand(
                ordinal=int(span.attributes["binding"]),
                offset=place[0],
                uniform=place[1],
                size=size,
                by_rows=writes or by_rows.get(value, False),
                writes=writes,
            )
        )
    return tuple(found)


def _offset(value: Ir) -> tuple[int, int | None] | None:
    """Return a constant offset, or the push constant that it is; None for anything else."""
    number = _number(value)
    if number is not None:
        return number, None
    op = value.owner
    if op.name == "util.assume.int":
        return _offset(op.operands[value.result_number])
    if op.name == "arith.index_castui":
        return _offset(op.operands[0])
    if op.name == "hal.interface.constant.load" and str(value.type) == "i32":
        return 0, int(op.attributes["ordinal"])
    return None


def _number(value: Ir) -> int | None:
    op = getattr(value.owner, "operation", value.owner)  # a block for an argument
    return int(op.attributes["value"]) if getattr(op, "name", "") == "arith.constant" else None


# ---------------------------------------------------------------- dispatches


def _chains(execute: Ir, kernels: Mapping[str, _Kernel]) -> Iterator[list[Ir]]:
    """Yield the runs of dispatches, two at least, in which each work-group needs nothing of another's."""
    view = execute.opview
    block = execute.regions[0].blocks[0]
    outer = dict(zip(block.arguments, view.resource_operands, strict=True))
    chain: list[Ir] = []
    done: list[_Access] = []
    for item in [*block, None]:
        op = item and item.operation
        kernel = kernels.get(_entry(op)) if op and op.name == "stream.cmd.dispatch" else None
        accesses = _accesses(item, kernel, outer) if kernel is not None else None
        follows = (
            accesses is not None
            and kernel is not None
            and bool(chain)
            and kernel.groups == kernels[_entry(chain[0])].groups
            and kernel.columns == kernels[_entry(chain[0])].columns
            and all(_independent(one, other) for one in accesses for other in done)
            and sum(map(_parameters, (*chain, op))) <= _MOST_PARAMETERS
        )
        if not follows:
            if len(chain) > 1:
                yield chain
            chain, done = [], []
        if accesses is not None:
            chain.append(op)
            done += accesses


def _parameters(dispatch: Ir) -> int:
    """Return the bytes that a dispatch's parameters take."""
    view = dispatch.opview
    return 16 * len(view.resources) + 4 * len(view.uniform_operands) + 12


_FRESH = frozenset({"stream.resource.alloc", "stream.resource.alloca"})
_WHOLE = _FRESH | {"stream.tensor.import", "util.global.load"}
"""The ops whose results are memory of their own; what is written must be new."""


def _accesses(dispatch: Ir, kernel: _Kernel, outer: Mapping[Ir, Ir]) -> list[_Access] | None:
    """Return what a dispatch does in memory; None where it is not known."""
    resources, offsets = list(dispatch.resources), list(dispatch.resource_offsets)
    uniforms = list(dispatch.uniform_operands)
    found = []
    for one in kernel.operands:
        resource = outer.get(resources[one.ordinal])
        origin = getattr(getattr(resource, "owner", None), "name", "")
        start = _number(offsets[one.ordinal])
        more = 0 if one.uniform is None else _number(uniforms[one.uniform])
        if start is None or more is None or origin not in (_FRESH if one.writes else _WHOLE):
            return None
        place = start + more + one.offset
        found.append(_Access(resource=resource, start=place, size=one.size, by_rows=one.by_rows, writes=one.writes))
    return found


def _independent(one: _Access, other: _Access) -> bool:
    """Return whether a work-group's part of one access concerns no other work-group's part of the other."""
    if one.resource != other.resource or not (one.writes or other.writes):
        return True
    if one.start + one.size <= other.start or other.start + other.size <= one.start:
        return True
    return one.by_rows and other.by_rows and (one.start, one.size) == (other.start, other.size)
