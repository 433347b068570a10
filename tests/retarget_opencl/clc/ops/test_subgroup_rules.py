# ruff: noqa: E501 - a table of one case a line reads better than one of ten
"""What the lanes of a subgroup compute together, on a device that has subgroups (Intel's runtime)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from opencl_support import find_or_skip, shipped
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.translation import TranslationError
from test_rules import _array, _run, _translate
from test_rules import _module as plain_module

Array = npt.NDArray[np.generic]

LANES = 16


@pytest.fixture(scope="module")
def with_subgroups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenClDevice]:
    device = OpenClDevice(find_or_skip("opencl://intel/0"), cache=tmp_path_factory.mktemp("kept"))
    assert compile_profile(device.profile).subgroup_size == LANES
    yield device
    device.close()


def _module(kind: str, result: str, body: str) -> str:
    """Wrap `body`, which makes `%r` out of `%a` in each lane, whose number is `%lane`."""

    def pointer(element: str) -> str:
        bits = int(element.removesuffix(">").rpartition("x")[2].lstrip("vectori<f"))
        stride = bits // 8 * (int(element[7]) if element.startswith("vector") else 1)
        return f"!spirv.ptr<!spirv.struct<(!spirv.rtarray<{element}, stride={stride}> [0])>, StorageBuffer>"

    return f"""
spirv.module Logical GLSL450 {{
  spirv.GlobalVariable @__resource_var_0_0_ bind(0, 0) : {pointer(kind)}
  spirv.GlobalVariable @__resource_var_0_1_ bind(0, 1) : {pointer(result)}
  spirv.GlobalVariable @lanes built_in("SubgroupLocalInvocationId") : !spirv.ptr<i32, Input>
  spirv.func @tested() "None" {{
    %zero = spirv.Constant 0 : i32
    %one = spirv.Constant 1 : i32
    %three = spirv.Constant 3 : i32
    %four = spirv.Constant 4 : i32
    %lanes = spirv.mlir.addressof @lanes : !spirv.ptr<i32, Input>
    %lane = spirv.Load "Input" %lanes : i32
    %p = spirv.mlir.addressof @__resource_var_0_0_ : {pointer(kind)}
    %pa = spirv.AccessChain %p[%zero, %lane] : {pointer(kind)}, i32, i32 -> !spirv.ptr<{kind}, StorageBuffer>
    %q = spirv.mlir.addressof @__resource_var_0_1_ : {pointer(result)}
    %qr = spirv.AccessChain %q[%zero, %lane] : {pointer(result)}, i32, i32 -> !spirv.ptr<{result}, StorageBuffer>
    %a = spirv.Load "StorageBuffer" %pa : {kind}
    {body}
    spirv.Store "StorageBuffer" %qr, %r : {result}
    spirv.Return
  }}
}}"""


VALUES = np.array([3, -7, 12, 5, 0, 9, -2, 4, 8, 1, -5, 6, 2, 11, -1, 7])
UNSIGNED = VALUES % (1 << 32)


def reduced(function: np.ufunc, values: Array = VALUES) -> list[float]:
    """What all lanes have of a reduction."""
    return [function.reduce(values)] * 16


CASES = [
    ("reduce", "i32", "spirv.GroupNonUniformIAdd <Subgroup> <Reduce> %a : i32 -> i32", [VALUES.sum()] * 16),
    ("minimum", "i8", "spirv.GroupNonUniformSMin <Subgroup> <Reduce> %a : i8 -> i8", reduced(np.minimum)),
    ("sum", "f32", "spirv.GroupNonUniformFAdd <Subgroup> <Reduce> %a : f32 -> f32", reduced(np.add)),
    ("sum of halves", "f16", "spirv.GroupNonUniformFAdd <Subgroup> <Reduce> %a : f16 -> f16", reduced(np.add)),
    ("product", "i64", "spirv.GroupNonUniformIMul <Subgroup> <Reduce> %a : i64 -> i64", reduced(np.multiply)),
    ("minimum", "f64", "spirv.GroupNonUniformFMin <Subgroup> <Reduce> %a : f64 -> f64", reduced(np.minimum)),
    ("maximum", "f32", "spirv.GroupNonUniformFMax <Subgroup> <Reduce> %a : f32 -> f32", reduced(np.maximum)),
    ("signed minimum", "i32", "spirv.GroupNonUniformSMin <Subgroup> <Reduce> %a : i32 -> i32", reduced(np.minimum)),
    ("signed maximum", "i16", "spirv.GroupNonUniformSMax <Subgroup> <Reduce> %a : i16 -> i16", reduced(np.maximum)),
    ("unsigned minimum", "i32", "spirv.GroupNonUniformUMin <Subgroup> <Reduce> %a : i32 -> i32", reduced(np.minimum, UNSIGNED)),
    ("unsigned maximum", "i32", "spirv.GroupNonUniformUMax <Subgroup> <Reduce> %a : i32 -> i32", reduced(np.maximum, UNSIGNED)),
    ("and", "i32", "spirv.GroupNonUniformBitwiseAnd <Subgroup> <Reduce> %a : i32 -> i32", reduced(np.bitwise_and)),
    ("or", "i32", "spirv.GroupNonUniformBitwiseOr <Subgroup> <Reduce> %a : i32 -> i32", reduced(np.bitwise_or)),
    ("xor", "i32", "spirv.GroupNonUniformBitwiseXor <Subgroup> <Reduce> %a : i32 -> i32", reduced(np.bitwise_xor)),
    ("shuffle up", "i32", "spirv.GroupNonUniformShuffleUp <Subgroup> %a, %zero : i32, i32", VALUES),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("kind", "op", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_lanes_combine_and_exchange_values(
    with_subgroups: OpenClDevice, kind: str, op: str, expected: list[float]
) -> None:
    profile = compile_profile(with_subgroups.profile)
    _, source = _translate(_module(kind, kind, f"%r = {op}"), profile, LANES)
    wanted = _array(kind, expected)
    actual = _run(with_subgroups, source, [_array(kind, VALUES)], wanted, LANES)
    np.testing.assert_array_equal(actual, wanted)


def test_subgroups_are_refused_where_the_profile_has_none() -> None:
    body = "%r = spirv.GroupNonUniformIAdd <Subgroup> <Reduce> %a : i32 -> i32"
    expected = (
        r"^the profile that it is compiled for has no subgroups; in spirv\.GroupNonUniformIAdd : \(i32\) -> \(i32\) at"
    )
    with pytest.raises(TranslationError, match=expected):
        _translate(plain_module(("i32",), "i32", body), shipped("pocl"), LANES)
