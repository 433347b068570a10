"""Attention, which IREE's SPIR-V does not compile as one kernel."""

from __future__ import annotations

import numpy as np
import pytest
from opencl_support import Load, call
from retarget_opencl.compile.tuning.attention import may_have_attention

MODULE = """
func.func @main(%q: QUERIES, %k: KEYS, %v: KEYS) -> QUERIES {
  %none = torch.constant.none
  %drop = torch.constant.float 0.0
  %causal = torch.constant.bool CAUSAL
  %false = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %drop, %causal, %none, %false :
    QUERIES, KEYS, KEYS, !torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool -> QUERIES
  return %r : QUERIES
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("element", "queries", "keys", "causal", "tolerance"),
    [
        pytest.param("f32", "2,2,20,16", "2,2,20,16", False, 1e-5, id="f32"),
        pytest.param("f32", "2,2,20,16", "2,2,20,16", True, 1e-5, id="causal"),
        pytest.param("f16", "1,2,17,9", "1,2,17,9", False, 2e-3, id="f16, odd sizes"),
        pytest.param("f32", "2,2,?,16", "2,2,?,16", False, 1e-5, id="dynamic"),
    ],
)
def test_attention_is_computed(  # noqa: PLR0917 - a row of the table
    load: Load, element: str, queries: str, keys: str, causal: bool, tolerance: float
) -> None:
    text = MODULE.replace("QUERIES", f"!torch.vtensor<[{queries}],{element}>")
    text = text.replace("KEYS", f"!torch.vtensor<[{keys}],{element}>").replace("CAUSAL", str(causal).lower())
    shape = tuple(20 if size == "?" else int(size) for size in queries.split(","))
    dtype = {"f16": np.float16, "f32": np.float32}[element]
    q, k, v = (np.random.default_rng(seed).normal(size=shape).astype(dtype) for seed in range(3))
    (result,) = call(load(text), "main", q, k, v)
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / np.sqrt(shape[-1])
    if causal:
        scores[..., np.triu(np.ones(scores.shape[-2:], bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)
    np.testing.assert_allclose(result, expected, atol=tolerance)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"iree_linalg_ext.attention", True),
        (b"onnx.Attention", True),
        (b"torch.aten.scaled_dot_product_attention", True),
        (b"func.func @attend()", False),
    ],
)
def test_a_module_without_attention_is_compiled_in_as_many_steps_as_before(*, content: bytes, expected: bool) -> None:
    assert may_have_attention(content) == expected
