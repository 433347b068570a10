"""Reading arrays from files: what is read, what is refused, and how it is reported."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from data_errors import error_of
from retarget.arrays.datafiles import MAP_FROM, RawFile, StoredArrays

pytestmark = pytest.mark.usefixtures("here")


def read_bin(path: Path, **known: Any) -> Any:
    return RawFile(path=path).only(**known)


def read_npy(path: Path) -> Any:
    return StoredArrays(path=path).only()


# ---------------------------------------------------------------- .bin


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("float32", (2, 3)),
        ("int8", (5,)),
        ("complex64", (2,)),
        (ml_dtypes.bfloat16, (4,)),
        (ml_dtypes.float8_e5m2, (4,)),
        (ml_dtypes.float6_e2m3fn, (3,)),
        ("float64", ()),
        ("float32", (0, 4)),
    ],
)
def test_raw_bytes_are_read_as_the_type_says(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    (tmp_path / "a.bin").write_bytes(array.tobytes())
    read = read_bin(tmp_path / "a.bin", dtype=dtype, shape=shape)
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    assert read.tobytes() == array.tobytes()


def test_elements_of_less_than_a_byte_are_packed(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes.fromhex("21f30705"))
    raw = RawFile(path=tmp_path / "a.bin")
    assert raw.next(dtype=ml_dtypes.int4, shape=(2, 2)).tolist() == [[1, 2], [3, -1]]
    assert raw.next(dtype=ml_dtypes.uint2, shape=(3,)).tolist() == [3, 1, 0]
    assert raw.next(dtype=ml_dtypes.float4_e2m1fn, shape=(1,)).tolist() == [3.0]
    raw.close()
    assert error_of(read_bin, tmp_path / "a.bin", dtype=ml_dtypes.int4, shape=(4,)) == (
        "data file a.bin is oversized: expected 2 bytes for 4xi4 (2 to a byte), found 4"
    )


def test_a_npy_file_that_is_read_as_raw_bytes_is_reported(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(6, np.float32))
    assert error_of(RawFile(path=tmp_path / "a.npy").next, dtype="float32", shape=(99,)) == (
        "data file a.npy is short: expected 396 bytes for 99xf32, found 152; "
        "it is read as raw bytes here: a .npy file has its type, name it without one"
    )


def test_large_files_are_mapped_and_not_copied(tmp_path: Path) -> None:
    values = np.arange(MAP_FROM // 4, dtype=np.float32)
    (tmp_path / "a.bin").write_bytes(values.tobytes())
    np.save(tmp_path / "a.npy", values)
    for read in (
        read_bin(tmp_path / "a.bin", dtype="float32", shape=(4, -(-MAP_FROM // 16))),
        read_npy(tmp_path / "a.npy"),
    ):
        assert not read.flags.owndata
        assert not read.flags.writeable
        assert np.array_equal(read.reshape(-1), values)


# ---------------------------------------------------------------- .npy


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(3, dtype=">i4"),
        np.float64(1.5),
        np.zeros((0, 4), np.uint8),
        np.array([True, False]),
        np.array([1 + 2j]),
    ],
)
def test_arrays_come_back_in_native_byte_order(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    read = read_npy(tmp_path / "a.npy")
    assert read.dtype == np.asarray(array).dtype.newbyteorder("=")
    assert np.array_equal(read, array)
    assert read.shape == np.shape(array)


def test_several_arrays_follow_each_other(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as stream:
        np.save(stream, np.arange(3))
        np.save(stream, np.float32(5))
    arrays = StoredArrays(path=tmp_path / "a.npy")
    assert arrays.next().tolist() == [0, 1, 2]
    assert not arrays.at_end
    assert arrays.next().tolist() == 5
    assert arrays.at_end
    assert error_of(arrays.next) == "data file a.npy holds no further array: all its 284 bytes were read"
    assert error_of(read_npy, tmp_path / "a.npy") == (
        "data file a.npy holds 132 bytes after its first array; expected one array"
    )


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    assert error_of(read_npy, tmp_path / "a.npy") == (
        "data file a.npy is no .npy file: it holds pickled Python objects, which are never loaded; "
        "expected numbers, such as array.astype('float32')"
    )


@pytest.mark.parametrize(("array", "named"), [(np.array(["a"]), "<U1"), (np.zeros(1, [("x", "i4")]), "[('x', '<i4')]")])
def test_other_than_numbers_is_refused(tmp_path: Path, array: np.ndarray, named: str) -> None:
    np.save(tmp_path / "a.npy", array)
    assert error_of(read_npy, tmp_path / "a.npy") == (
        f"data file a.npy is no .npy file: elements of type {named}, expected numbers"
    )


def test_a_file_cut_short_is_reported(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content[:-4])
    assert error_of(read_npy, tmp_path / "a.npy") == (
        "data file a.npy is short: expected 24 bytes for 2x3xf32 after its header, found 20"
    )
    for size in (0, 5, 9, 40):
        (tmp_path / "a.npy").write_bytes(content[:size])
        assert error_of(read_npy, tmp_path / "a.npy").startswith("data file a.npy is no .npy file: ")


@pytest.mark.parametrize("shape", ["(-4, -1)", "(1,)*70", "(1 << 62,)", "'ab'"])
def test_a_header_with_a_shape_that_is_none_is_refused(tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (118 - len(header)) + b"\n"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16))
    assert error_of(read_npy, tmp_path / "a.npy").startswith("data file a.npy is ")


@pytest.mark.parametrize("read", [read_npy, lambda path: StoredArrays(path=path).of_archive()])
def test_what_cannot_be_read_is_not_reported_as_of_another_format(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    (tmp_path / "folder").mkdir()
    assert error_of(read, tmp_path / "folder") == "data file folder cannot be read: Is a directory"


@pytest.mark.parametrize(
    "header",
    [b"{'descr': '<f4', 'shape': (\n", b"{b'descr': 1, 'shape': 2}\n", b"(" * 5000 + b"\n", b"-" * 9000 + b"1\n"],
)
def test_a_header_that_cannot_be_parsed_is_reported(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16))
    assert error_of(read_npy, tmp_path / "a.npy") == (
        "data file a.npy is no .npy file: its header is no literal of Python, expected one as numpy.save writes it"
    )


# ---------------------------------------------------------------- .npz


def test_an_array_that_unpacks_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(100_000))
    monkeypatch.setenv("RETARGET_MAX_DATA_BYTES", "1000")
    assert error_of(StoredArrays(path=tmp_path / "a.npz").of_archive, "x") == (
        "data file a.npz unpacks its array 'x' to 800128 bytes, over the limit of 1000; "
        "to read it, set the environment variable RETARGET_MAX_DATA_BYTES to 800128 or more"
    )


def test_what_is_no_archive_of_arrays_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK nonsense")
    assert error_of(StoredArrays(path=tmp_path / "a.npz").of_archive, "x") == (
        "data file a.npz is no .npz archive of arrays: File is not a zip file"
    )
    np.savez(tmp_path / "b.npz", x=np.array([{}], object), allow_pickle=True)
    assert "pickled Python objects" in error_of(StoredArrays(path=tmp_path / "b.npz").of_archive, "x")
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as archive:
        archive.writestr("x.npy", b"text")
    assert error_of(StoredArrays(path=tmp_path / "c.npz").of_archive, "x").startswith(
        "data file c.npz is no .npz archive of arrays: "
    )


@pytest.mark.parametrize(
    ("count", "name", "message"),
    [
        (8, "", "data file a.npz holds 8 arrays, expected the name of one; it holds: a0, a1, a2, a3, a4, a5, a6, a7"),
        (
            9,
            "",
            "data file a.npz holds 9 arrays, expected the name of one; it holds: a0, a1, a2, a3, a4, a5, a6, a7 and 1 "
            "more",
        ),
        (0, "", "data file a.npz holds 0 arrays, expected the name of one; it holds: none"),
        (0, "x", "data file a.npz holds no array 'x'; it holds: none"),
        (1, "x", "data file a.npz holds no array 'x'; it holds: a0"),
    ],
)
def test_of_an_archive_eight_arrays_are_named(tmp_path: Path, count: int, name: str, message: str) -> None:
    np.savez(tmp_path / "a.npz", **{f"a{number}": np.array([number]) for number in range(count)})  # type: ignore[arg-type]
    assert error_of(StoredArrays(path=tmp_path / "a.npz").of_archive, name) == message


def test_the_one_array_of_an_archive_needs_no_name_and_a_name_is_shown_as_text(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **{"x\ny": np.array([7])})  # type: ignore[arg-type]
    assert StoredArrays(path=tmp_path / "a.npz").of_archive().tolist() == [7]
    assert (
        error_of(StoredArrays(path=tmp_path / "a.npz").of_archive, "z")
        == "data file a.npz holds no array 'z'; it holds: 'x\\ny'"
    )
