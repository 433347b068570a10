"""Attention as products of matrices, a softmax between them.

IREE (3.13) keeps `iree_linalg_ext.attention` as one kernel, which its SPIR-V does not compile. Taken apart before
kernels are formed, its products get tiles and matrix units as others do. The scores of all rows are then in memory at
once: as many `f32` as there are queries times keys.
"""

from __future__ import annotations

from retarget_opencl.compile.tuning.kernels import walk
from retarget_opencl.translation import Ir

__all__ = ["PHASE", "may_have_attention", "split_attention"]

PHASE = "preprocessing"
"""The phase after which `split_attention` works: later ones form kernels."""

_PASSES = "iree-linalg-ext-convert-attention-to-online-attention,iree-linalg-ext-decompose-attention"

# Over batches, queries, elements of values, elements of keys, and keys: what torch's attention leads to.
_USUAL = ("d0, d1, d3", "d0, d4, d3", "d0, d4, d2", "", "d0, d1, d2")
_HALVES = """
#left = affine_map<(b, m, n, k) -> (b, m, k)>
#keys = affine_map<(b, m, n, k) -> (b, n, k)>
#values = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#same = affine_map<(b, m, n) -> (b, m, n)>
func.func @attention(%q: tensor<QUERIESxf16>, %k: tensor<KEYSxf16>, %v: tensor<VALUESxf16>, %scale: f32)
    -> tensor<OUTxf16> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<SCORESxf32>
  %e1 = tensor.empty() : tensor<SCORESxf16>
  %e2 = tensor.empty() : tensor<OUTxf32>
  %e3 = tensor.empty() : tensor<OUTxf16>
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
  %1 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0 : tensor<SCORESxf32>) outs(%e0 : tensor<SCORESxf32>) {
  ^bb0(%x: f32, %o: f32):
    %a = arith.mulf %x, %scale : f32
    linalg.yield %a : f32
  } -> tensor<SCORESxf32>
  %2 = linalg.softmax dimension(2) ins(%1 : tensor<SCORESxf32>) outs(%e0 : tensor<SCORESxf32>) -> tensor<SCORESxf32>
  %3 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2 : tensor<SCORESxf32>) outs(%e1 : tensor<SCORESxf16>) {
  ^bb0(%x: f32, %o: f16):
    %a = arith.truncf %x : f32 to f16
    linalg.yield %a : f16
  } -> tensor<SCORESxf16>
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
  %5 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%4 : tensor<OUTxf32>) outs(%e3 : tensor<OUTxf16>) {
  ^bb0(%x: f32, %o: f16):
    %a = arith.truncf %x : f32 to f16
    linalg.yield %a : f16
  } -> tensor<OUTxf16>
  return %5 : tensor<OUTxf16>
}
"""
"""Attention of halves with sums in single precision. IREE's own passes make four kernels of this softmax."""


def may_have_attention(content: bytes) -> bool:
    """Say whether a module, as text or bytecode, may have attention: as an op of IREE's, torch's or ONNX's."""
    return b"ttention" in content


def split_attention(module: Ir) -> None:
    """Replace attention in the functions of a module after `PHASE`. Needs MLIR's context.

    Halves of static sizes without a mask become `_HALVES`; IREE's own passes take the rest apart, in more steps.
    """
    from iree.compiler import passmanager

    for op in [one for one in walk(module) if one.name == "iree_linalg_ext.attention"]:
        if _is_usual(op):
            _split(op)
    passmanager.PassManager.parse(f"builtin.module(util.func({_PASSES}))").run(module)


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
    parsed = ir.Module.parse(text)
    block = parsed.body.operations[0].regions[0].blocks[0]
    for argument, operand in zip(list(block.arguments), op.operands, strict=False):
        argument.replace_all_uses_with(operand)
    *steps, end = [item.operation for item in block]
    for step in steps:
        step.move_before(op)
    op.results[0].replace_all_uses_with(end.operands[0])
    op.erase()
    end.erase()
