"""Constant attributes' text to bytes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from retarget_opencl.hostprog.writer import constant_bytes

NAN_F32 = np.array([0x7FC00000], np.uint32).view(np.float32)

CASES: list[tuple[str, npt.NDArray[np.generic]]] = [
    ("dense<[1.0, -2.5]> : tensor<2xf32>", np.array([1.0, -2.5], np.float32)),
    ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>", np.array([1, 2, 3, 4], np.int32)),
    ("dense<7> : tensor<3xi8>", np.array([7, 7, 7], np.int8)),
    ("dense<0> : vector<5xi8>", np.zeros(5, np.int8)),
    ("dense<1.5> : tensor<f64>", np.array([1.5])),
    ("dense<[true, false]> : tensor<2xi1>", np.array([1, 0], np.uint8)),
    ("dense<0x7FC00000> : tensor<1xf32>", NAN_F32),
    ("dense<[0xFF800000, 0x7F800000]> : tensor<2xf32>", np.array([-np.inf, np.inf], np.float32)),
    ("dense<0x7E00> : tensor<2xf16>", np.array([0x7E00, 0x7E00], np.uint16)),
    ("dense<[1.0, 0x7FC0]> : tensor<2xbf16>", np.array([1.0, np.nan]).astype(ml_dtypes.bfloat16)),
    ("dense<1.000000e-40> : tensor<1xf32>", np.array([1e-40], np.float32)),
    ("dense<\"0x0100000002000000\"> : tensor<2xi32>", np.array([1, 2], np.int32)),
    ("dense<\"0x0100\"> : tensor<3xi16>", np.array([1, 1, 1], np.int16)),
    ("dense<[1, 2, 3, -1]> : tensor<4xi4>", np.array([0x21, 0xF3], np.uint8)),
    ("dense<[0, 1, 2, 3, 1]> : tensor<5xi2>", np.array([0xE4, 0x01], np.uint8)),
    ("dense<(1.0,2.0)> : tensor<2xcomplex<f32>>", np.array([1 + 2j, 1 + 2j], np.complex64)),
    ("dense<[(1.0,2.0), (3.0,4.0)]> : tensor<2xcomplex<f32>>", np.array([1 + 2j, 3 + 4j], np.complex64)),
    ("dense<> : tensor<0xf32>", np.zeros(0, np.float32)),
    ("5 : i16", np.array([5], np.int16)),
    ('"ab\\0A\\\\"', np.frombuffer(b"ab\n\\", np.uint8)),
    (
        "#util.composite<12xi8, [\n  dense<[1, 2]> : tensor<2xi32>,\n  dense<0> : vector<4xi8>,\n]>",
        np.array([1, 2, 0], np.int32),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:40] for text, _ in CASES])
def test_a_constant_becomes_the_bytes_that_mlir_means(text: str, expected: npt.NDArray[np.generic]) -> None:
    assert constant_bytes(text) == expected.tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#foo.bar<1>", "no rule for the constant '#foo.bar<1>'"),
        ("dense<[1, 2]> : tensor<3xi32>", "expected 3 elements, found 2 in the constant '[1, 2]'"),
        ("dense<1> : tensor<?xi32>", "expected a tensor or vector type with static shape, found 'tensor<?xi32>'"),
        ("dense<1> : tensor<2xi3>", "no bytes for constants of element type i3"),
    ],
)
def test_a_constant_without_a_rule_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared
        constant_bytes(text)
    assert str(caught.value) == message
