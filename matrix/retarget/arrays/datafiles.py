"""Reads arrays from files: `.npy`, `.npz` and raw `.bin`. Runs in worker processes, never in pytest's.

Nothing of a file is trusted: no pickles, sizes are checked before memory is taken, and a path stays inside the suite's
folder once links are resolved. Files of `MAP_FROM` bytes and more are mapped, not read; those arrays are read-only.
"""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from retarget.arrays.dtypes import type_text
from retarget.support.datapaths import data_limit, too_large
from retarget.support.errors import RetargetError, did_you_mean, display_path

if TYPE_CHECKING:
    from retarget.extension import Array

__all__ = ["MAP_FROM", "RawFile", "StoredArrays", "read_bin", "read_npy", "read_npz"]

MAP_FROM = 1 << 20
"""Bytes from which an array is mapped: below, reading costs less than a mapping."""

_SHOWN = 8
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How a file begins that Git LFS has put in place of one that was not fetched."""


def _unreadable(path: Path, error: Exception) -> RetargetError:
    msg = f"data file {display_path(path)} cannot be read: {_first_line(error)}"
    return RetargetError(msg)


def _unfetched(path: Path) -> str:
    """Return the hint for a file of Git LFS whose data was not fetched; empty for others."""
    try:
        with path.open("rb") as stream:
            is_pointer = stream.read(len(_LFS_POINTER)) == _LFS_POINTER
    except OSError:
        return ""
    return "; it is a pointer of Git LFS: `git lfs pull` fetches the data" if is_pointer else ""


# ---------------------------------------------------------------- raw bytes


def read_bin(path: Path, *, dtype: npt.DTypeLike, shape: Sequence[int]) -> Array:
    """Return a file of raw little-endian elements, row-major, that holds one array and nothing else.

    Raises `RetargetError` for a file that is shorter or longer.
    """
    raw = RawFile(path=path)
    array = raw.next(dtype=dtype, shape=shape)
    raw.close()
    return array


@dataclass(slots=True, kw_only=True)
class _Sequence:
    """A file that several arrays follow each other in. `position` is in bytes."""

    path: Path
    position: int = 0
    _size: int = field(default=-1, repr=False)

    @property
    def size(self) -> int:
        """The file's size in bytes."""
        if self._size < 0:
            try:
                self._size = self.path.stat().st_size
            except OSError as error:
                raise _unreadable(self.path, error) from error
        return self._size


@dataclass(slots=True, kw_only=True)
class RawFile(_Sequence):
    """A file of raw elements, of one array after the other."""

    _types: list[str] = field(default_factory=list, repr=False)

    def next(self, *, dtype: npt.DTypeLike, shape: Sequence[int]) -> Array:
        """Return the next array. Raises `RetargetError` for a file that is too short."""
        element = np.dtype(dtype)
        length = math.prod(shape) * element.itemsize
        left = self.size - self.position
        if length > left:
            where = f" at byte {self.position}" if self.position else ""
            msg = (
                f"data file {display_path(self.path)} is short: "
                f"expected {length} bytes for {type_text(shape, element)}{where}, found {left}{_explained(self.path)}"
            )
            raise RetargetError(msg)
        self._types.append(type_text(shape, element))
        array = _raw_array(self.path, element, shape, self.position)
        self.position += length
        return array

    def close(self) -> None:
        """Raise `RetargetError` if bytes are left that no array was read from."""
        if self.size != self.position:
            msg = (
                f"data file {display_path(self.path)} is oversized: "
                f"expected {self.position} bytes for {' and '.join(self._types) or 'nothing'}, found {self.size}"
                f"{_explained(self.path)}"
            )
            raise RetargetError(msg)


def _explained(path: Path) -> str:
    """Return what may be the cause of a size that does not fit, for the end of a message."""
    unfetched = _unfetched(path)
    if unfetched or path.suffix.lower() != ".npy":
        return unfetched
    return "; it is read as raw bytes here: a .npy file has its type, name it without one"


def _raw_array(path: Path, dtype: np.dtype[Any], shape: Sequence[int], offset: int, order: str = "C") -> Array:
    """Return an array of the bytes from `offset`, which are there."""
    count = math.prod(shape)
    stored = np.dtype(np.uint8) if dtype == np.bool_ else dtype
    flat: npt.NDArray[Any]
    try:
        if count == 0:
            flat = np.empty(0, stored)
        elif count * dtype.itemsize >= MAP_FROM:
            mapped = np.memmap(path, np.uint8, "r", offset=offset, shape=(count * dtype.itemsize,))
            flat = np.asarray(mapped).view(stored)
        else:
            content = bytearray(count * dtype.itemsize)
            with path.open("rb") as stream:
                stream.seek(offset)
                stream.readinto(content)
            flat = np.frombuffer(content, stored)
        if dtype == np.bool_:
            flat = flat != 0  # a byte of another value is no NumPy Boolean
        return flat.reshape(tuple(shape), order="F" if order == "F" else "C")
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(path, error) from error


# ---------------------------------------------------------------- .npy


def read_npy(path: Path) -> Array:
    """Return the array of a `.npy` file that holds one, in native byte order.

    Raises `RetargetError` for a file of another format, for pickled objects, for one cut short, and for further arrays.
    """
    arrays = StoredArrays(path=path)
    array = arrays.next()
    if not arrays.at_end:
        msg = (
            f"data file {display_path(path)} holds {arrays.size - arrays.position} bytes after its first array; "
            "expected one array"
        )
        raise RetargetError(msg)
    return array


@dataclass(slots=True, kw_only=True)
class StoredArrays(_Sequence):
    """The arrays of a `.npy` file that `numpy.save` wrote one after the other."""

    @property
    def at_end(self) -> bool:
        """Whether no array is left."""
        return self.position >= self.size

    def next(self) -> Array:
        """Return the next array. Raises `RetargetError` as `read_npy` does, and at the end."""
        name = display_path(self.path)
        if self.at_end and self.position:
            msg = f"data file {name} holds no further array: all its {self.size} bytes were read"
            raise RetargetError(msg)
        try:
            with self.path.open("rb") as stream:
                stream.seek(self.position)
                shape, fortran, dtype = _header(stream)
                start = stream.tell()
            _expect_numbers(shape, dtype)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        except (ValueError, EOFError) as error:
            where = f" at byte {self.position}" if self.position else ""
            msg = f"data file {name} is no .npy file{where}: {_first_line(error)}{_unfetched(self.path)}"
            raise RetargetError(msg) from error
        length = math.prod(shape) * dtype.itemsize
        if length > self.size - start:
            msg = (
                f"data file {name} is short: expected {length} bytes for {type_text(shape, dtype)} "
                f"after its header, found {self.size - start}"
            )
            raise RetargetError(msg)
        self.position = start + length
        array = _raw_array(self.path, dtype, shape, start, "F" if fortran else "C")
        return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def _header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is not None:
        try:
            return read(stream)
        except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError) as error:
            if isinstance(error, ValueError) and " object at 0x" not in str(error):
                raise
            msg = "its header is no literal of Python, expected one as numpy.save writes it"
            raise ValueError(msg) from error
    msg = f"format version {version[0]}.{version[1]}, expected 1.0 or 2.0"
    raise ValueError(msg)


def _expect_numbers(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise `ValueError` for anything but an array of numbers. Elements without a type (`V2`) are for the reader to
    name."""
    if dtype.hasobject:
        msg = (
            "it holds pickled Python objects, which are never loaded; expected numbers, such as array.astype('float32')"
        )
        raise ValueError(msg)
    if dtype.kind not in "biufcV" or dtype.names is not None:
        msg = f"elements of type {dtype}, expected numbers"
        raise ValueError(msg)
    if any(size < 0 for size in shape):
        msg = f"shape {shape}, expected sizes of 0 and more"
        raise ValueError(msg)


# ---------------------------------------------------------------- .npz


def read_npz(path: Path, name: str = "") -> Array:
    """Return one array of a `.npz` archive by name; without a name its only one.

    Raises `RetargetError` for a file that is not an archive, a name that is not in it, an array over the limit once
    unpacked, and as `read_npy` does.
    """
    shown = display_path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            chosen = _chosen(name, members, shown)
            entry = members[chosen]
            limit = data_limit()
            if entry.file_size > limit:
                raise too_large(path, entry.file_size, limit, what=f"unpacks its array {chosen!r} to")
            with archive.open(entry) as stream:
                shape, fortran, dtype = _header(stream)  # type: ignore[arg-type]  # it reads, which is all that is used
                _expect_numbers(shape, dtype)
                content = stream.read(limit + 1)
    except RetargetError:
        raise
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        msg = f"data file {shown} is no .npz archive of arrays: {_first_line(error)}{_unfetched(path)}"
        raise RetargetError(msg) from error
    length = math.prod(shape) * dtype.itemsize
    if length != len(content):
        msg = (
            f"array {chosen!r} of data file {shown}: expected {length} bytes for {type_text(shape, dtype)}, "
            f"found {len(content)}"
        )
        raise RetargetError(msg)
    array: npt.NDArray[Any] = np.frombuffer(bytearray(content), np.uint8 if dtype == np.bool_ else dtype)
    if dtype == np.bool_:
        array = array != 0
    try:
        array = array.reshape(shape, order="F" if fortran else "C")
    except ValueError as error:
        msg = f"array {chosen!r} of data file {shown}: {_first_line(error)}"
        raise RetargetError(msg) from error
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def _chosen(name: str, members: dict[str, zipfile.ZipInfo], shown: str) -> str:
    if name in members:
        return name
    names = [member if member.isprintable() else repr(member) for member in members]
    known = ", ".join(names[:_SHOWN]) + (f" and {len(members) - _SHOWN} more" if len(members) > _SHOWN else "")
    if name:
        msg = f"data file {shown} holds no array {name!r}; it holds: {known or 'none'}{did_you_mean(name, members)}"
        raise RetargetError(msg)
    if len(members) != 1:
        msg = f"data file {shown} holds {len(members)} arrays, expected the name of one; it holds: {known or 'none'}"
        raise RetargetError(msg)
    return next(iter(members))


def _first_line(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).strip().partition("\n")[0] or type(error).__name__
