"""Attention as one kernel of our own, or as products of matrices, a softmax between them.

IREE (3.13) keeps `iree_linalg_ext.attention` as one kernel, which its SPIR-V does not compile. Where `clc.attention`
has a kernel for it, IREE compiles one that only fills the result, in whose place that is written. Elsewhere attention
is taken apart before kernels are formed: its products get tiles and matrix units as others do. The scores of all rows
are then in memory at once: as many `f32` as there are queries times keys.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from retarget_opencl.clc.attention import Attention
from retarget_opencl.translation import ATTENTION, Ir, kernels_of, walk

_OP = "iree_linalg_ext.attention"

_PASSES = "iree-linalg-ext-convert-attention-to-online-attention,iree-linalg-ext-decompose-attention"

# Over batches, queries, elements of values, elements of keys, and keys: what torch's attention leads to.
_USUAL = ("d0, d1, d3", "d0, d4, d3", "d0, d4, d2", "", "d0, d1, d2")
_HALVES = """
#left = affine_map<(b, m, n, k) -> (b, m, k)>
#keys = affine_map<(b, m, n, k) -> (b, n, k)>
#values = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @attention(%q: tensor<QUERIESxf16>, %k: tensor<KEYSxf16>, %v: tensor<VALUESxf16>, %scale: f32)
    -> tensor<OUTxf16> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<SCORESxf32>
  %e2 = tensor.empty() : tensor<OUTxf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<SCORESxf32>) -> tensor<SCORESxf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<OUTxf32>) -> tensor<OUTxf32>
  %0 = linalg.generic {indexing_maps = [#left, #keys, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<QUERIESxf16>, tensor<KEYSxf16>) outs(%f0 : tensor<SCORESxf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %c, %o : f32
    linalg.yield %d : f32
  } -> tensor<SCORESxf32>
  %s = tensor.splat %scale : tensor<SCORESxf32>
  %1 = arith.mulf %0, %s : tensor<SCORESxf32>
  %2 = linalg.softmax dimension(2) ins(%1 : tensor<SCORESxf32>) outs(%e0 : tensor<SCORESxf32>) -> tensor<SCORESxf32>
  %3 = arith.truncf %2 : tensor<SCORESxf32> to tensor<SCORESxf16>
  %4 = linalg.generic {indexing_maps = [#left, #values, #out],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%3, %v : tensor<SCORESxf16>, tensor<VALUESxf16>) outs(%f2 : tensor<OUTxf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %c, %o : f32
    linalg.yield %d : f32
  } -> tensor<OUTxf32>
  %5 = arith.truncf %4 : tensor<OUTxf32> to tensor<OUTxf16>
  return %5 : tensor<OUTxf16>
}
"""
"""Attention of halves with sums in single precision. IREE's own passes make four kernels of this softmax."""


def prepare_attention(module: Ir, *, units: bool, apart: Collection[str] = ()) -> set[str]:
    """Make attention its own kernel where one fits and there are matrix `units`, and replace the rest.

    Works on the functions of a module after the phase `preprocessing`, as later ones form kernels, and returns the
    locations of what has kernels of its own. Needs MLIR's context. What is at a location in `apart` is replaced,
    whatever fits. Halves of static sizes without a mask become `_HALVES`; IREE's own passes take the rest apart, in
    more steps.
    """
    from iree.compiler import ir, passmanager

    kept = []
    for op in [one for one in walk(module) if one.name == _OP]:
        usual = _is_usual(op)
        scale = _scale(op) if usual and units and str(op.location) not in apart else None
        if scale is not None and _sized(op, scale).fits():
            kept.append((op, _isolate(op)))
        elif usual:
            _split(op)
    passmanager.PassManager.parse(f"builtin.module(util.func({_PASSES}))").run(module)
    for op, end in kept:
        ir.InsertionPoint(end).insert(op)
        end.operands[0] = op.results[0]
    return {str(op.location) for op, _ in kept}


def _is_usual(op: Ir) -> bool:
    maps = [str(one).rpartition("-> (")[2].removesuffix(")>") for one in op.attributes["indexing_maps"]]
    if tuple(maps) != _USUAL or len(op.operands) != len(_USUAL) or len(op.regions[0].blocks[0].operations) != 1:
        return False
    *shaped, scale, out = [operand.type for operand in op.operands]
    halves = all(str(kind.element_type) == "f16" and kind.has_static_shape for kind in (*shaped, out))
    return halves and str(scale) == "f32" and len(op.results) == 1


def _split(op: Ir) -> None:
    from iree.compiler import ir

    queries, keys, values, _, out = [operand.type for operand in op.operands]
    scores = (*queries.shape[:2], keys.shape[1])
    shapes = {"QUERIES": queries.shape, "KEYS": keys.shape, "VALUES": values.shape, "SCORES": scores, "OUT": out.shape}
    text = _HALVES
    for name, shape in shapes.items():
        text = text.replace(f"tensor<{name}x", f"tensor<{'x'.join(map(str, shape))}x")
    _put(op, ir.Module.parse(text), list(op.operands))


def _put(op: Ir, parsed: Ir, operands: list[Ir]) -> None:
    """Replace an op by the body of the one function of a module, which takes `operands`."""
    block = parsed.body.operations[0].regions[0].blocks[0]
    for argument, operand in zip(list(block.arguments), operands, strict=False):
        argument.replace_all_uses_with(operand)
    *steps, end = [item.operation for item in block]
    for step in steps:
        step.move_before(op)
    op.results[0].replace_all_uses_with(end.operands[0])
    op.erase()
    end.erase()


# ---------------------------------------------------------------- as one kernel


def _isolate(op: Ir) -> Ir:
    """Put a dispatch, into which IREE fuses nothing, in an op's place; return its end, before which the op belongs.

    The op is detached meanwhile, so that passes leave it.
    """
    from iree.compiler import ir

    kind = op.results[0].type
    text = f"""func.func @alone(%in: {kind}) -> {kind} {{
  %0 = flow.dispatch.region -> ({kind}) {{
    flow.return %in : {kind}
  }}
  return %0 : {kind}
}}"""
    parsed = ir.Module.parse(text)
    block = parsed.body.operations[0].regions[0].blocks[0]
    block.arguments[0].replace_all_uses_with(op.operands[4])
    region = block.operations[0].operation
    region.move_before(op)
    op.results[0].replace_all_uses_with(region.results[0])
    op.detach_from_parent()
    return region.regions[0].blocks[0].operations[0].operation


def replace_kernels(module: Ir) -> set[str]:
    """Let the kernels of attention, after the phase `executable-sources`, be written as such. Needs MLIR's context.

    Kernels that have more in them than attention stay as they are, and IREE does not compile them: return the locations
    of their attention.
    """
    left = set()
    for _, export, function in kernels_of(module):
        op = next((one for one in walk(function) if one.name == _OP), None)
        found = None if op is None else _placed(function, op)
        if found is not None:
            _replace(op, export, found)
        elif op is not None:
            left.add(str(op.location))
    return left


def _scale(op: Ir) -> float | None:
    """Return by what the scores of attention are multiplied; None where that is computed."""
    from iree.compiler import ir

    owner = op.operands[3].owner
    is_constant = not isinstance(owner, ir.Block) and owner.name == "arith.constant"
    return float(owner.attributes["value"].value) if is_constant else None


def _sized(op: Ir, scale: float) -> Attention:
    queries, keys, values = (operand.type for operand in list(op.operands)[:3])
    return Attention(
        batches=queries.shape[0],
        queries=queries.shape[1],
        keys=keys.shape[1],
        width=queries.shape[2],
        value_width=values.shape[2],
        scale=scale,
    )


_ONLY = frozenset(
    {
        "arith.constant",
        "arith.extui",
        "arith.index_castui",
        "arith.ori",
        "arith.shli",
        "func.return",
        "hal.interface.binding.subspan",
        "hal.interface.constant.load",
        "iree_linalg_ext.yield",
        "iree_tensor_ext.dispatch.tensor.load",
        "iree_tensor_ext.dispatch.tensor.store",
        "tensor.empty",
        "util.assume.int",
        _OP,
    }
)
"""The ops of a kernel that is attention alone: buffers at offsets, which push constants may say."""


def _placed(function: Ir, op: Ir) -> Attention | None:
    """Return the attention that a kernel is, with its buffers; None where it is more, or of other sizes."""
    if any(one.name not in _ONLY for one in walk(function)) or not _is_usual(op):
        return None
    uses = [use.owner.operation for use in op.results[0].uses]
    loads = [operand.owner for operand in list(op.operands)[:3]]
    scale = _scale(op)
    if len(uses) != 1 or any("load" not in one.name for one in loads) or scale is None:
        return None
    constants: set[int] = set()
    places = [(one.operands[0], one.results[0].type) for one in loads] + [(uses[0].operands[1], op.results[0].type)]
    if any(f":{kind}>" not in str(buffer.type) for buffer, kind in places):  # a part of a tensor
        return None
    spans = [buffer.owner for buffer, _ in places]
    offsets = [_offset(span.operands[0], constants) for span in spans]
    found = replace(
        _sized(op, scale),
        bindings=tuple(int(span.attributes["binding"]) for span in spans),
        offsets=tuple(offsets),
        constants=tuple(sorted(constants)),
    )
    return found if found.fits() else None


def _offset(value: Ir, constants: set[int]) -> str:
    """Return an offset in bytes as C, and note the push constants in it."""
    op = value.owner
    if op.name == "arith.constant":
        return f"{int(op.attributes['value'])}ul"
    if op.name == "hal.interface.constant.load":
        number = int(op.attributes["ordinal"])
        constants.add(number)
        return f"(ulong)constant{number}"
    if op.name in {"arith.ori", "arith.shli"}:
        left, right = (_offset(operand, constants) for operand in op.operands)
        return f"({left} {'|' if op.name == 'arith.ori' else '<<'} {right})"
    return _offset(op.operands[value.result_number if op.name == "util.assume.int" else 0], constants)


def _replace(op: Ir, export: Ir, attention: Attention) -> None:
    """Fill the result instead, and say on the export what is to be written."""
    from iree.compiler import ir

    kind = str(op.results[0].type)
    text = f"""func.func @fill(%out: {kind}) -> {kind} {{
  %zero = arith.constant 0.0 : f16
  %0 = linalg.fill ins(%zero : f16) outs(%out : {kind}) -> {kind}
  return %0 : {kind}
}}"""
    _put(op, ir.Module.parse(text), [op.operands[4]])
    export.attributes[ATTENTION] = ir.StringAttr.get(msgspec.json.encode(attention).decode())
