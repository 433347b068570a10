"""Attention as products of matrices, a softmax between them.

IREE (3.13) keeps `iree_linalg_ext.attention` as one kernel, which its SPIR-V does not compile. Its own passes take it
apart, and done before kernels are formed, the products get tiles and matrix units as others do. The scores of all rows
are then in memory at once: as many `f32` as there are queries times keys.
"""

from __future__ import annotations

from retarget_opencl.translation import Ir

__all__ = ["PHASE", "may_have_attention", "split_attention"]

PHASE = "preprocessing"
"""The phase after which `split_attention` works: later ones form kernels."""

_PASSES = "iree-linalg-ext-convert-attention-to-online-attention,iree-linalg-ext-decompose-attention"


def may_have_attention(content: bytes) -> bool:
    """Say whether a module, as text or bytecode, may have attention: as an op of IREE's, torch's or ONNX's."""
    return b"ttention" in content


def split_attention(module: Ir) -> None:
    """Replace attention in the functions of a module after `PHASE`. Needs MLIR's context."""
    from iree.compiler import passmanager

    passmanager.PassManager.parse(f"builtin.module(util.func({_PASSES}))").run(module)
