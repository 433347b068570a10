"""Dot products of integers, in plain arithmetic and by `cl_khr_integer_dot_product`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace
from opencl_support import compile_text, find_or_skip, shipped
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.translation import TranslationError
from test_rules import _array, _built, _module, _run, _translate

LEFT, RIGHT = [-128, 127, 5, -6], [-128, -127, 7, 8]


@pytest.fixture(scope="module", params=["none", "khr"])
def with_dots(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenClDevice]:
    """PoCL, which has no dot products, and Intel's runtime, which has."""
    name = "pocl" if request.param == "none" else "intel"
    device = OpenClDevice(find_or_skip(f"opencl://{name}/0"), cache=tmp_path_factory.mktemp("kept"))
    assert compile_profile(device.profile).dot == request.param
    yield device
    device.close()


def _lanes(kind: str) -> int:
    return 2 if kind.startswith("vector<2") else 4


def _exact(name: str, kind: str) -> int:
    """The sum of products of LEFT and RIGHT, each signed or not."""
    bits = 16 if "i16" in kind else 8
    left, right = (np.array(values[: _lanes(kind)], f"i{bits // 8}") for values in (LEFT, RIGHT))
    if name == "UDot":
        left = left.view(f"u{bits // 8}")
    if name != "SDot":
        right = right.view(f"u{bits // 8}")
    return int(left.astype(np.int64) @ right.astype(np.int64))


@pytest.mark.sampled(4, slow=12)
@pytest.mark.parametrize("name", ["SDot", "UDot", "SUDot"])
@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("vector<4xi8>", "i32"),
        ("i32", "i32"),
        ("vector<4xi16>", "i64"),
        ("vector<4xi8>", "i64"),
        ("vector<2xi16>", "i32"),
    ],
    ids=["bytes", "packed", "words", "wide", "two"],
)
def test_a_dot_product_is_exact_and_its_sum_is_saturated(
    with_dots: OpenClDevice, name: str, kind: str, result: str
) -> None:
    profile = compile_profile(with_dots.profile)
    packing = ", <PackedVectorFormat4x8Bit>" if kind == "i32" else ""
    if kind == "i32":
        values = [np.array(one, np.int8).view(np.int32) for one in (LEFT, RIGHT)]
    else:
        values = [_array(kind, one[: _lanes(kind)]) for one in (LEFT, RIGHT)]
    exact, bits = _exact(name, kind), int(result[1:])
    plain = f"%r = spirv.{name} %a, %b{packing} : {kind} -> {result}"
    _, source = _translate(_module((kind, kind), result, plain), profile)
    actual = _run(with_dots, source, values, _array(result, 0))
    assert int(actual[0]) % (1 << bits) == exact % (1 << bits)
    highest = (1 << bits) - 1 if name == "UDot" else (1 << bits - 1) - 1
    total = f"%r = spirv.{name}AccSat %a, %b, %c{packing} : {kind} -> {result}"
    _, source = _translate(_module((kind, kind, result), result, total), profile)
    built = _built(with_dots, source)
    for start in (highest - 5, 3, -highest // 2):
        accumulator = np.array([start % (1 << bits)], f"u{bits // 8}").view(f"i{bits // 8}")
        actual = _run(with_dots, built, [*values, accumulator], _array(result, 0))
        begin = start % (1 << bits) if name == "UDot" else start
        wanted = min(max(begin + exact, 0 if name == "UDot" else -highest - 1), highest)
        assert int(actual[0]) % (1 << bits) == wanted % (1 << bits)


def test_a_dot_product_of_words_of_32_bits_is_refused() -> None:
    body = "%r = spirv.SDot %a, %b : vector<2xi32> -> i64"
    with pytest.raises(TranslationError, match=r"^no dot product of .*; in spirv\.SDot : \(vector<2xi32>"):
        _translate(_module(("vector<2xi32>", "vector<2xi32>"), "i64", body), shipped("generic"))


MATMUL = """
func.func @main(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%f : tensor<64x64xi32>)
    -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("dot", "text", "needs"),
    [
        ("none", "", ()),
        ("khr", "dot_4x8packed_ss_int", ("opencl.integer_dot_product",)),
        ("ptx", "dp4a.s32.s32", ("opencl.cl_nv_device_attribute_query", "opencl.computeCapabilityNV >= 6.1")),
    ],
)
def test_a_product_of_i8_uses_what_the_profile_has_and_says_so(dot: str, text: str, needs: tuple[str, ...]) -> None:
    profile = replace(shipped("generic"), dot=dot)
    artifact = read_artifact(compile_text(MATMUL, profile, "main.mlir"))
    source = "".join(one.prelude + one.text for one in artifact.sources)
    assert ("retarget_dot_ss" in source) == (dot != "none")
    assert text in source
    assert {need for need in artifact.needs if "dot" in need or "NV" in need or "nv" in need} == set(needs)
