"""What values become, by the types that a function was declared with."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from cases_support import value
from retarget.support import DiagnosticsError
from retarget.support.files import LIMIT_VARIABLE
from retarget_cases.worker.arrays import default_seed

NAN, INF = math.nan, math.inf


def same(array: npt.NDArray[Any], values: object, dtype: npt.DTypeLike) -> bool:
    expected = np.array(values, dtype)
    return array.dtype == expected.dtype and array.shape == expected.shape and array.tobytes() == expected.tobytes()


def diagnostic(folder: Path, type_: str, written: str) -> str:
    with pytest.raises(DiagnosticsError) as caught:
        value(folder, type_, written)
    return str(caught.value).removeprefix("suite/m.cases.toml:2: case[0].inputs[0]")


# ---------------------------------------------------------------- literals


@pytest.mark.parametrize(
    ("type_", "written", "values", "dtype"),
    [
        ("tensor<2x2xf32>", "[[1, 2.5], [-0.0, 1e-3]]", [[1, 2.5], [-0.0, 1e-3]], np.float32),
        ("tensor<3xf64>", "[nan, inf, -inf]", [NAN, INF, -INF], np.float64),
        ("tensor<2xf16>", "[65504, -inf]", [65504, -INF], np.float16),
        ("tensor<2xbf16>", "[1.5, nan]", [1.5, NAN], ml_dtypes.bfloat16),
        ("tensor<2xf8E4M3FN>", "[448, nan]", [448, NAN], ml_dtypes.float8_e4m3fn),
        ("tensor<2xf8E5M2>", "[0.25, inf]", [0.25, INF], ml_dtypes.float8_e5m2),
        ("tensor<3xf8E4M3>", "[240, inf, nan]", [240, INF, NAN], ml_dtypes.float8_e4m3),
        ("tensor<2xf8E3M4>", "[15.5, -inf]", [15.5, -INF], ml_dtypes.float8_e3m4),
        ("tensor<2xf8E4M3B11FNUZ>", "[30, nan]", [30, NAN], ml_dtypes.float8_e4m3b11fnuz),
        ("tensor<2xf8E8M0FNU>", "[0.25, nan]", [0.25, NAN], ml_dtypes.float8_e8m0fnu),
        ("tensor<2xf6E2M3FN>", "[-7.5, 0.125]", [-7.5, 0.125], ml_dtypes.float6_e2m3fn),
        ("tensor<2xf6E3M2FN>", "[28, -0.0]", [28, -0.0], ml_dtypes.float6_e3m2fn),
        ("tensor<2xf4E2M1FN>", "[6, -0.5]", [6, -0.5], ml_dtypes.float4_e2m1fn),
        ("tensor<2xi4>", "[-8, 0xf]", [-8, -1], ml_dtypes.int4),
        ("tensor<2xsi4>", "[-8, 7]", [-8, 7], ml_dtypes.int4),
        ("tensor<2xui4>", "[0, '0xf']", [0, 15], ml_dtypes.uint4),
        ("tensor<2x2xi2>", "{ values = [-2, 3, 0, 1], shape = [2, 2] }", [[-2, -1], [0, 1]], ml_dtypes.int2),
        ("tensor<1xui2>", "[3]", [3], ml_dtypes.uint2),
        ("i4", "-8", -8, ml_dtypes.int4),
        ("tensor<2xf32>", "['0x1.8p3', '-inf']", [12, -INF], np.float32),
        ("tensor<2xi1>", "[true, 0]", [True, False], np.bool_),
        ("tensor<2xi8>", "[-128, 0xff]", [-128, -1], np.int8),
        ("tensor<2xsi8>", "[-128, 127]", [-128, 127], np.int8),
        ("tensor<1xi16>", "['0x8000']", [-(2**15)], np.int16),
        ("tensor<2xi64>", "[-9223372036854775808, 18446744073709551615]", [-(2**63), -1], np.int64),
        ("tensor<2xui64>", "[18446744073709551615, 9223372036854775808]", [2**64 - 1, 2**63], np.uint64),
        ("tensor<2xui64>", "['18446744073709551615', 1]", [2**64 - 1, 1], np.uint64),
        ("tensor<2xcomplex<f32>>", "[[1, -2], [nan, 0]]", [1 - 2j, complex(NAN, 0)], np.complex64),
        ("tensor<2xcomplex<f64>>", "['1 - 2j', 'infj']", [1 - 2j, complex(0, INF)], np.complex128),
        ("tensor<2xcomplex<f32>>", "[1, 2]", [1, 2], np.complex64),
        ("complex<f32>", "[1, -2]", 1 - 2j, np.complex64),
        ("complex<f32>", "{ values = '1-2j' }", 1 - 2j, np.complex64),
        ("f32", "1.5", 1.5, np.float32),
        ("tensor<f32>", "1.5", 1.5, np.float32),
        ("i1", "true", True, np.bool_),
        ("index", "5", 5, np.int64),
        ("tensor<?x2xi32>", "[[1, 2], [3, 4], [5, 6]]", [[1, 2], [3, 4], [5, 6]], np.int32),
        ("tensor<2x2xi32>", "{ values = [1, 2, 3, 4], shape = [2, 2] }", [[1, 2], [3, 4]], np.int32),
        ("tensor<i32>", "{ values = 3, shape = [] }", 3, np.int32),
        ("!hal.buffer_view", "{ values = [1.5], dtype = 'f32' }", [1.5], np.float32),
        ("tensor<2xi32, #encoding>", "[1, 2]", [1, 2], np.int32),
    ],
)
def test_literals_take_the_declared_type(folder: Path, type_: str, written: str, values: object, dtype: Any) -> None:
    assert same(value(folder, type_, written), values, dtype)


@pytest.mark.parametrize(
    ("type_", "written", "shape"),
    [
        ("tensor<0xf32>", "[]", (0,)),
        ("tensor<?xf32>", "[]", (0,)),
        ("tensor<0x3xf32>", "[]", (0, 3)),
        ("tensor<?x3xf32>", "[]", (0, 3)),
        ("tensor<2x0xf32>", "[[], []]", (2, 0)),
        ("tensor<?x?xf32>", "{ values = [], shape = [0, 7] }", (0, 7)),
        ("tensor<0x3xf32>", "{ fill = 1 }", (0, 3)),
        ("tensor<0x3xi64>", "{ iota = 1 }", (0, 3)),
        ("tensor<0x3xf32>", "{ random = 'normal' }", (0, 3)),
    ],
)
def test_empty_tensors_have_the_shape_that_is_declared_or_written(
    folder: Path, type_: str, written: str, shape: tuple[int, ...]
) -> None:
    assert value(folder, type_, written).shape == shape


@pytest.mark.parametrize(
    ("type_", "written", "key", "message"),
    [
        ("tensor<2x2xf32>", "[1, 2]", "", "found 2xf32, expected tensor<2x2xf32>"),
        ("tensor<2xf32>", "[[1], [2]]", "", "found 2x1xf32, expected tensor<2xf32>"),
        ("tensor<2x0xf32>", "[]", "", "found 0xf32, expected tensor<2x0xf32>"),
        ("tensor<?x3xf32>", "[[1, 2]]", "", "found 1x2xf32, expected tensor<?x3xf32>"),
        ("f32", "[1]", "", "found 1xf32, expected f32"),
        ("tensor<4xf32>", "{ values = [1, 2, 3, 4], shape = [2, 2] }", "", "found 2x2xf32, expected tensor<4xf32>"),
        ("tensor<?x?xf32>", "{ values = [1, 2, 3], shape = [2, 2] }", "", "found 3xf32, expected 2x2xf32"),
        ("tensor<2xf32>", "{ values = [1, 2, 3], shape = [2] }", "", "found 3xf32, expected tensor<2xf32>"),
        ("tensor<2xf32>", "{ values = [1, 2], dtype = 'f64' }", "", "found 2xf64, expected tensor<2xf32>"),
        ("tensor<2xi8>", "[1, 256]", "[1]", "found 256, expected -128 to 255 (i8)"),
        ("tensor<2xsi8>", "[1, 128]", "[1]", "found 128, expected -128 to 127 (i8)"),
        ("tensor<2xui64>", "[-1, 1]", "[0]", "found -1, expected 0 to 18446744073709551615 (ui64)"),
        ("tensor<2xi8>", "[1.0, 2]", "[0]", "found 1.0, expected an integer (i8)"),
        ("tensor<2xi8>", "[true, 2]", "[0]", "found true, expected an integer (i8)"),
        ("tensor<1xi8>", "['1.5']", "[0]", "found '1.5', expected an integer (i8)"),
        ("tensor<2xi1>", "[2, true]", "[0]", "found 2, expected true or false"),
        ("tensor<1x2xf32>", "[[1, true]]", "[0][1]", "found true, expected a number (f32)"),
        ("tensor<1xf32>", "{ values = ['1-2j'] }", ".values[0]", "found '1-2j', expected a number (f32)"),
        ("tensor<1x2xf32>", "[[1, 1e39]]", "[0][1]", "found 1e+39, which f32 cannot hold"),
        ("tensor<1xf16>", "{ values = [70000] }", ".values[0]", "found 70000, which f16 cannot hold"),
        ("tensor<2xf8E4M3FN>", "[448, inf]", "[1]", "found inf, which f8E4M3FN cannot hold"),
        ("tensor<1xf8E4M3FN>", "[500]", "[0]", "found 500, which f8E4M3FN cannot hold"),
        ("tensor<1xcomplex<f32>>", "[[1e39, 0]]", "[0]", "found 1e+39, which f32 cannot hold"),
        ("tensor<1xcomplex<f32>>", "['-1e39j']", "[0]", "found -1e+39, which f32 cannot hold"),
        ("tensor<2xi3>", "[1, 2]", "", "found the type tensor<2xi3>, whose elements no NumPy type holds; expected a function of another"),
        ("tensor<2xi3>", "{ values = [1, 2], dtype = 'i8' }", "", "found the type tensor<2xi3>, whose elements no NumPy type holds; expected a function of another"),
        ("tensor<2xi4>", "[1, 16]", "[1]", "found 16, expected -8 to 15 (i4)"),
        ("tensor<2xsi2>", "[1, 2]", "[1]", "found 2, expected -2 to 1 (i2)"),
        ("tensor<2xui4>", "[-1, 15]", "[0]", "found -1, expected 0 to 15 (ui4)"),
        ("tensor<2xi4>", "[1.0, 2]", "[0]", "found 1.0, expected an integer (i4)"),
        ("tensor<2xi4>", "{ random = 'uniform' }", "", "found numbers with a fraction, expected random = 'integers' for i4"),
        ("tensor<2xi4>", "{ random = 'integers', low = -9, high = 3 }", "", "found -9, expected -8 to 7 (i4)"),
        ("tensor<2xi4>", "{ iota = 7 }", "", "found 8, expected -8 to 7 (i4)"),
        ("tensor<4xi4>", "'wide.npy'", "", "found 100 in 4xi8, expected -8 to 15 for tensor<4xi4>"),
        ("tensor<8xi4>", "'packed.bin'", "", "data file suite/packed.bin is short: expected 4 bytes for 8xi4 (2 to a byte), found 2"),
        ("tensor<2xf4E2M1FN>", "[6, 7]", "[1]", "found 7, which f4E2M1FN cannot hold"),
        ("tensor<1xf6E3M2FN>", "[nan]", "[0]", "found nan, which f6E3M2FN cannot hold"),
        ("tensor<1xf6E2M3FN>", "[-inf]", "[0]", "found -inf, which f6E2M3FN cannot hold"),
        ("tensor<1xf8E3M4>", "[16]", "[0]", "found 16, which f8E3M4 cannot hold"),
        ("tensor<2xf8E8M0FNU>", "[1, 0]", "[1]", "found 0, which f8E8M0FNU cannot hold"),
        ("tensor<2xf8E8M0FNU>", "{ random = 'uniform', low = -1, high = -1 }", "", "found -1 among the numbers, which f8E8M0FNU cannot hold"),
        ("tensor<1xf8E4M3B11FNUZ>", "[inf]", "[0]", "found inf, which f8E4M3B11FNUZ cannot hold"),
        ("tensor<1xf64>", "['1e999']", "[0]", "found '1e999', which f64 cannot hold"),
        ("tensor<1xf64>", "['-0x1p9999']", "[0]", "found '-0x1p9999', which f64 cannot hold"),
        ("tensor<1xf64>", f"[{10**400}]", "[0]", f"found {hex(10**400)[:60]}…, which f64 cannot hold"),
        ("tensor<1xi8>", f"['0x{'f' * 9999}']", "[0]", f"found 0x{'f' * 58}…, expected -128 to 255 (i8)"),
        ("tensor<?x?xf32>", f"{{ values = [], shape = [0, {10**30}] }}", "", "found what no array can hold: Maximum allowed dimension exceeded"),
        ("f16", "1e9", "", "found 1000000000.0, which f16 cannot hold"),
        ("tensor<1xcomplex<f32>>", "[[1, 2, 3]]", "[0]", "found an array of 3, expected a complex number, as in [1.0, -2.0] or '1-2j'"),
        ("tensor<1xcomplex<f32>>", "['0x10']", "[0]", "found '0x10', expected a complex number, as in [1.0, -2.0] or '1-2j'"),
        ("!hal.buffer_view", "[1.5]", "", "found no element type, expected dtype = …: the function declares !hal.buffer_view"),
        ("tensor<3x2xf32>", "'a.npy'", "", "found 2x3xf32, expected tensor<3x2xf32>"),
        ("tensor<2x3xf64>", "'a.npy'", "", "found 2x3xf32, expected tensor<2x3xf64>"),
        ("tensor<2x3xui32>", "{ npy = 'a.npy', dtype = 'f64' }", "", "found 2x3xf32, expected 2x3xf64"),
        ("tensor<2x3xsi32>", "'u.npy'", "", "found 2x3xui32, expected tensor<2x3xsi32>"),
        ("tensor<2x3xf64>", "'a.bin'", "", "data file suite/a.bin is short: expected 48 bytes for 2x3xf64, found 24"),
        ("tensor<2x2xf32>", "'a.bin'", "", "data file suite/a.bin is oversized: expected 16 bytes for 2x2xf32, found 24"),
        ("tensor<?x3xf32>", "'a.bin'", "", "found no shape, expected shape = […]: the function declares tensor<?x3xf32>, which leaves a size open"),
        ("tensor<2xi8>", "{ random = 'normal' }", "", "found numbers with a fraction, expected random = 'integers' for i8"),
        ("tensor<2xi1>", "{ random = 'uniform' }", "", "found numbers with a fraction, expected random = 'integers' for i1"),
        ("tensor<2xi8>", "{ random = 'integers', low = -200, high = 3 }", "", "found -200, expected -128 to 127 (i8)"),
        ("tensor<2xui8>", "{ random = 'integers', low = 0, high = 257 }", "", "found 256, expected 0 to 255 (ui8)"),
        ("tensor<2xi1>", "{ random = 'integers', low = 0, high = 3 }", "", "found 0 to 2, expected low = 0 and high = 2 for Booleans"),
        ("tensor<2xf32>", f"{{ random = 'integers', low = 0, high = {2**54} }}", "", f"found 0 to {2**54 - 1}, expected integers of at most 2^53 for f32"),
        ("tensor<1xf16>", "{ random = 'uniform', low = 1e6, high = 1e6 }", "", "found 1e+06 among the numbers, which f16 cannot hold"),
        ("tensor<1xcomplex<f32>>", "{ random = 'normal', mean = 1e300, std = 0 }", "", "found 1e+300 among the numbers, which f32 cannot hold"),
        ("tensor<9xf64>", "{ random = 'normal', std = 1.7e308 }", "", "found numbers past the largest of f64, which f64 cannot hold"),
        ("tensor<2xf64>", "{ iota = 1e308, step = 1e308 }", "", "found numbers past the largest of f64, which f64 cannot hold"),
        ("tensor<2xf64>", f"{{ iota = {10**400} }}", "", "found numbers past the largest of f64, which f64 cannot hold"),
        ("tensor<2xi8>", "{ iota = 127 }", "", "found 128, expected -128 to 127 (i8)"),
        ("tensor<2xi8>", "{ iota = 0.5 }", "", "found 0.5 and step 1, expected integers (i8)"),
        ("tensor<2xi1>", "{ iota = 0 }", "", "found numbers that count up, expected Booleans: values, fill or random = 'integers'"),
        ("tensor<2xf32>", "{ fill = [1, 2] }", "", "found 2xf32, expected f32"),
        ("tensor<2xf32>", "{ fill = 1, shape = [3] }", "", "found 3xf32, expected tensor<2xf32>"),
        ("tensor<?xf32>", "{ fill = 1 }", "", "found no shape, expected shape = […]: the function declares tensor<?xf32>, which leaves a size open"),
        ("!hal.buffer_view", "{ fill = 1, dtype = 'f32' }", "", "found no shape, expected shape = […]: the function declares !hal.buffer_view"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_named_with_both_types(
    folder: Path, type_: str, written: str, key: str, message: str
) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(folder / "a.npy", numbers)
    np.save(folder / "u.npy", numbers.astype(np.uint32))
    np.save(folder / "wide.npy", np.array([1, 100, 2, 3], np.int8))
    (folder / "packed.bin").write_bytes(bytes([0x21, 0xF3]))
    (folder / "a.bin").write_bytes(numbers.tobytes())
    assert diagnostic(folder, type_, written) == f"{key}: argument 0 of f: {message}"


# ---------------------------------------------------------------- files


def test_files_are_read_as_the_function_wants_them(folder: Path) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    (folder / "data").mkdir()
    np.save(folder / "data" / "a.npy", numbers)
    np.savez(folder / "one.npz", a=numbers)
    np.savez(folder / "two.npz", a=numbers, b=numbers * 2)
    (folder / "raw.bin").write_bytes(numbers.tobytes())
    np.save(folder / "half.npy", numbers.astype(ml_dtypes.bfloat16))
    np.save(folder / "u.npy", numbers.astype(np.uint32))
    for written in ("'data/a.npy'", "{ npy = 'data/a.npy', shape = [2, 3] }", "'one.npz'", "'raw.bin'"):
        assert same(value(folder, "tensor<2x3xf32>", written), numbers, np.float32)
    assert same(value(folder, "tensor<2x3xf32>", "{ npz = 'two.npz', array = 'b' }"), numbers * 2, np.float32)
    assert same(value(folder, "tensor<?x3xf32>", "{ bin = 'raw.bin', shape = [2, 3] }"), numbers, np.float32)
    assert same(value(folder, "tensor<2x3xbf16>", "'half.npy'"), numbers, ml_dtypes.bfloat16)
    assert same(value(folder, "tensor<2x3xi32>", "'u.npy'"), numbers, np.int32)


# ---------------------------------------------------------------- generators


def test_random_numbers_are_numpys_and_the_same_every_time(folder: Path) -> None:
    def random(seed: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(seed))

    expected: npt.NDArray[Any] = random(7).standard_normal((2, 3)) * 2 + 10
    assert same(
        value(folder, "tensor<2x3xf32>", "{ random = 'normal', mean = 10, std = 2.0, seed = 7 }"), expected, np.float32
    )
    expected = random(7).uniform(-1, 1, (2, 3))
    assert same(
        value(folder, "tensor<2x3xf64>", "{ random = 'uniform', low = -1, high = 1, seed = 7 }"), expected, np.float64
    )
    expected = random(7).integers(-3, 9, (2, 3))
    for type_, dtype in (("i8", np.int8), ("f16", np.float16)):
        written = "{ random = 'integers', low = -3, high = 9, seed = 7 }"
        assert same(value(folder, f"tensor<2x3x{type_}>", written), expected, dtype)
    assert default_seed("m", "f", 0) == 465347534521420644
    expected = random(default_seed("m", "f", 0)).standard_normal(4)
    assert same(value(folder, "tensor<4xf32>", "{ random = 'normal' }"), expected, np.float32)


def test_integers_reach_the_ends_of_their_types(folder: Path) -> None:
    highest = value(folder, "tensor<50xui64>", f"{{ random = 'integers', low = {2**64 - 2}, high = {2**64} }}")
    assert set(highest.tolist()) == {2**64 - 2, 2**64 - 1}
    assert set(value(folder, "tensor<50xi1>", "{ random = 'integers', low = 0, high = 2 }").tolist()) == {False, True}


@pytest.mark.parametrize(
    ("type_", "written", "values", "dtype"),
    [
        ("tensor<2x2xi32>", "{ iota = 0 }", [[0, 1], [2, 3]], np.int32),
        ("tensor<3xf16>", "{ iota = 1.5, step = -0.5 }", [1.5, 1, 0.5], np.float16),
        ("tensor<2xui64>", "{ iota = 18446744073709551614 }", [2**64 - 2, 2**64 - 1], np.uint64),
        ("tensor<2xi64>", "{ iota = 0, step = -9223372036854775808 }", [0, -(2**63)], np.int64),
        ("tensor<3xi4>", "{ iota = -8, step = 7 }", [-8, -1, 6], ml_dtypes.int4),
        ("tensor<2xui4>", "{ fill = 15 }", [15, 15], ml_dtypes.uint4),
        ("tensor<2xf8E8M0FNU>", "{ iota = 1, step = 3 }", [1, 4], ml_dtypes.float8_e8m0fnu),
        ("tensor<2xbf16>", "{ fill = nan }", [NAN, NAN], ml_dtypes.bfloat16),
        ("tensor<2xcomplex<f32>>", "{ fill = [1, 2] }", [1 + 2j, 1 + 2j], np.complex64),
        ("tensor<2xi8>", "{ fill = 255 }", [-1, -1], np.int8),
        ("tensor<?xi1>", "{ fill = true, shape = [3] }", [True, True, True], np.bool_),
    ],
)
def test_fillings_and_counts(folder: Path, type_: str, written: str, values: object, dtype: Any) -> None:
    assert same(value(folder, type_, written), values, dtype)


@pytest.mark.parametrize("written", ["{ fill = 1 }", "{ iota = 1 }", "{ random = 'normal' }"])
def test_what_would_take_several_gigabytes_is_refused_with_the_limit(folder: Path, written: str) -> None:
    assert diagnostic(folder, "tensor<100000x100000xf32>", written) == (
        ": argument 0 of f: found 100000x100000xf32, which takes 40000000000 bytes, over the limit of 1073741824; "
        f"to make it, set the environment variable {LIMIT_VARIABLE} to 40000000000 or more"
    )
