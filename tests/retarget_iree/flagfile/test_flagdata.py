"""What a flagfile's values become, held against the function's signature; errors have the value's location."""

# One row a line reads better in a table of messages.
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from retarget.extension import CaseData, FunctionInfo
from retarget.support import DiagnosticsError
from retarget_iree.flagfile.data import read_case
from retarget_iree.flagfile.parse import parse_flagfile

ANY = FunctionInfo(name="f", arguments=None)


def function(*arguments: str, results: tuple[str, ...] = ()) -> FunctionInfo:
    return FunctionInfo(name="f", arguments=len(arguments), argument_types=arguments, result_types=results)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETARGET_MAX_DATA_BYTES", raising=False)


def read(info: FunctionInfo, *lines: str) -> CaseData:
    return read_case(parse_flagfile(Path.cwd() / "flags.txt", "\n".join(lines), Path.cwd()), info, Path.cwd())


def diagnostics(info: FunctionInfo, *lines: str) -> list[str]:
    with pytest.raises(DiagnosticsError) as caught:
        read(info, *lines)
    return str(caught.value).splitlines()


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2x2xf32=1 2 3 4", np.array([[1, 2], [3, 4]], np.float32)),
        ("3xf64=0.1", np.full(3, 0.1)),
        ("2xf16=1e9 0.1", np.array([np.inf, 0.1], np.float16)),
        ("3xf32=0x1.8p1 -0X2 0x1p9999", np.array([3, -2, np.inf], np.float32)),
        ("bf16=1.5", np.array(1.5, ml_dtypes.bfloat16)),
        ("2xi8=255 -1", np.array([-1, -1], np.int8)),
        ("2xui8=255 1", np.array([255, 1], np.uint8)),
        ("2xi64=18446744073709551615 -9223372036854775808", np.array([-1, -(2**63)])),
        ("3xi1=01", np.array([True, True, True])),
        ("1xcf64=0000803f00000040", np.array([1 + 2j], np.complex64)),
        ("f8E5M2=2", np.array(2, ml_dtypes.float8_e5m2)),
        ("4xi4=1 -2 15 7", np.array([1, -2, -1, 7], ml_dtypes.int4)),
        ("5xi4=21", np.array([1, 2, 1, 2, 1], ml_dtypes.int4)),
        ("2x2xui2=e4", np.array([[0, 1], [2, 3]], ml_dtypes.uint2)),
        ("3xsi4=-8", np.full(3, -8, ml_dtypes.int4)),
        ("4xi4=@packed.bin", np.array([1, 2, 3, -1], ml_dtypes.int4)),
        ("2xf8E8M0FNU=0.5 4", np.array([0.5, 4], ml_dtypes.float8_e8m0fnu)),
        ("2x0xf32", np.zeros((2, 0), np.float32)),
        ("2xi32", np.zeros(2, np.int32)),
    ],
)
def test_numbers_become_arrays_of_their_type(written: str, expected: np.ndarray) -> None:
    Path("packed.bin").write_bytes(bytes([0x21, 0xF3]))
    (array,) = read(ANY, f"--input={written}").inputs
    assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
    assert array.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("written", "declared", "expected"),
    [
        ("5", "i32", np.int32(5)),
        ("-1", "i8", np.int8(-1)),
        ("4294967295", "i32", np.int32(-1)),
        ("5", "f32", np.float32(5)),
        ("1.5", "bf16", ml_dtypes.bfloat16(1.5)),
        ("1", "i1", np.bool_(True)),
        ("7", "index", np.int64(7)),
        ("15", "i4", ml_dtypes.int4(-1)),
        ("2.5", "f8E5M2", ml_dtypes.float8_e5m2(2.5)),
        ("f32=5", "f32", np.float32(5)),
        ("7", "", np.int64(7)),
        ("2.5", "", np.float64(2.5)),
    ],
)
def test_bare_numbers_take_the_declared_type(written: str, declared: str, expected: np.generic) -> None:
    info = function(declared) if declared else ANY
    (array,) = read(info, f"--input={written}").inputs
    assert (array.dtype, array.shape, array.tobytes()) == (expected.dtype, (), expected.tobytes())


def test_a_tensor_that_no_file_backs_is_held_against_the_limit() -> None:
    assert diagnostics(ANY, "--input=1000000x1000000xf32=1") == [
        "flags.txt:1:9: found 1000000x1000000xf32, which takes 4000000000000 bytes, over the limit of 1073741824; "
        "to make it, set the environment variable RETARGET_MAX_DATA_BYTES to 4000000000000 or more"
    ]


# ---------------------------------------------------------------- files


def test_readings_go_on_where_the_last_one_ended() -> None:
    first, second = np.arange(3, dtype=np.float32), np.float32(5)
    with Path("two.npy").open("wb") as stream:
        np.save(stream, first)
        np.save(stream, second)
    Path("a.bin").write_bytes(first.tobytes())
    assert [array.tolist() for array in read(ANY, "--input=@two.npy", "--input=+two.npy").inputs] == [[0, 1, 2], 5]
    assert [array.tolist() for array in read(ANY, "--input=*two.npy").inputs] == [[0, 1, 2], 5]
    assert [array.tolist() for array in read(ANY, "--input=@two.npy", "--input=*two.npy").inputs] == [[0, 1, 2], 5]
    again = read(ANY, "--input=@two.npy", "--input=@two.npy").inputs
    assert [array.tolist() for array in again] == [[0, 1, 2], [0, 1, 2]]
    pieces = read(ANY, "--input=1xf32=@a.bin", "--input=2xf32=+a.bin", "--expected_output=3xf32=+a.bin")
    assert [array.tolist() for array in pieces.inputs] == [[0], [1, 2]]
    assert pieces.expected is not None
    assert pieces.expected[0] is not None
    assert pieces.expected[0].tolist() == [0, 1, 2]


def test_files_of_another_size_are_errors_at_their_value_all_at_once() -> None:
    Path("a.bin").write_bytes(bytes(20))
    assert diagnostics(ANY, "--input=2x3xf32=@a.bin", "--expected_output=4xf32=@a.bin") == [
        "flags.txt:1:9: data file a.bin is short: expected 24 bytes for 2x3xf32, found 20",
        "flags.txt:2:19: data file a.bin is oversized: expected 16 bytes for 4xf32, found 20",
    ]
    assert diagnostics(ANY, "--input=1xf32=@a.bin", "--input=2xf32=+a.bin") == [
        "flags.txt:2:9: data file a.bin is oversized: expected 12 bytes for 1xf32 and 2xf32, found 20"
    ]


def test_elements_that_numpy_stores_without_a_type_take_the_declared_one() -> None:
    np.save("bf.npy", np.array([1, 2], ml_dtypes.bfloat16))
    (array,) = read(function("tensor<2xbf16>"), "--input=@bf.npy").inputs
    assert array.dtype == ml_dtypes.bfloat16
    assert array.astype(float).tolist() == [1, 2]
    message = "found elements of 2 bytes without a type, and the module does not say which it takes"
    for flag, column in (("input", 9), ("expected_output", 19)):
        assert diagnostics(ANY, f"--{flag}=@bf.npy") == [f"flags.txt:1:{column}: {message}"]


# ---------------------------------------------------------------- signatures


@pytest.mark.parametrize(
    ("written", "declared", "message"),
    [
        ("2x2xf32", "tensor<2x3xf32>", "found 2x2xf32, expected tensor<2x3xf32> for argument 0 of f"),
        ("6xf32", "tensor<?x?xf32>", "found 6xf32, expected tensor<?x?xf32> for argument 0 of f"),
        ("2xf16", "tensor<2xbf16>", "found 2xf16, expected tensor<2xbf16> for argument 0 of f"),
        ("2xi32", "tensor<2xf32>", "found 2xi32, expected tensor<2xf32> for argument 0 of f"),
        ("2xi32", "tensor<2xi1>", "found 2xi32, expected tensor<2xi1> for argument 0 of f"),
        ("4xi32", "i32", "found 4xi32, expected i32 for argument 0 of f"),
        ("i64=1", "i32", "found i64, expected i32 for argument 0 of f; if the compiler converted it, its flag --iree-input-demote-i64-to-i32=false keeps the type"),
        ("2xf64", "tensor<2xf32>", "found 2xf64, expected tensor<2xf32> for argument 0 of f; if the compiler converted it, its flag --iree-input-demote-f64-to-f32=false keeps the type"),
        ("5", "tensor<f32>", "found the number 5, expected tensor<f32> for argument 0 of f: write its type before it, f32=5"),
        ("5", "!hal.buffer_view", "found the number 5, expected !hal.buffer_view for argument 0 of f"),
        ("2.5", "i32", "found 2.5, expected an integer of 32 bits for argument 0 of f (i32)"),
        ("2xi32", "tensor<2xi4>", "found 2xi32, expected tensor<2xi4> for argument 0 of f"),
        ("2xi8=1 100", "tensor<2xi4>", "found 100 in 2xi8, expected -8 to 15 for tensor<2xi4> for argument 0 of f"),
        ("16", "i4", "found 16, expected an integer of 4 bits for argument 0 of f (i4)"),
        ("300", "i8", "found 300, expected an integer of 8 bits for argument 0 of f (i8)"),
        ("(null)", "tensor<f32>", "found (null), expected a value for argument 0 of f (tensor<f32>)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_an_error_before_the_call(written: str, declared: str, message: str) -> None:
    assert diagnostics(function(declared), f"--input={written}") == [f"flags.txt:1:9: {message}"]


def test_the_number_of_values_is_held_against_the_signature_too() -> None:
    info = function("tensor<2xf32>", "i32", results=("tensor<2xf32>",))
    assert diagnostics(info, "--input=2xf32", "--expected_output=2xf32", "--expected_output=3xi32") == [
        "flags.txt:1:9: found 1 value by --input, expected 2 for f(tensor<2xf32>, i32)",
        "flags.txt:3:19: found 2 values by --expected_output, expected 1 for the results of f (tensor<2xf32>)",
    ]
    assert diagnostics(function("tensor<2xf32>"), "--input=2xf32", "--expected_output=2xf32") == [
        "flags.txt:2:19: found 1 value by --expected_output, expected 0 for the results of f"
    ]
    assert diagnostics(info, "--function=f") == [
        "flags.txt: found 0 values by --input, expected 2 for f(tensor<2xf32>, i32)"
    ]


def test_ignored_results_are_kept_as_places() -> None:
    info = function(results=("tensor<2xf32>", "tensor<2xf32>"))
    data = read(info, "--expected_output=(ignored)", "--expected_output=2xf32=1")
    assert data.expected is not None
    assert data.expected[0] is None
    assert data.expected[1] is not None
    assert read(info).expected is None
