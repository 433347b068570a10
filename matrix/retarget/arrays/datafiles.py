"""Reads arrays from files that others wrote: `.npy`, `.npz` and raw `.bin`. Runs in runners, never in pytest's process.

Nothing of a file is trusted: no pickles, sizes are checked before memory is taken, and a path stays inside the suite's
folder once links are resolved. Files of `MAP_FROM` bytes and more are mapped, not read; those arrays are read-only.
"""

from __future__ import annotations

import os
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
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.files import OutsideError, resolve_inside

if TYPE_CHECKING:
    from retarget.extension import Array

__all__ = [
    "DEFAULT_LIMIT",
    "LIMIT_VARIABLE",
    "MAP_FROM",
    "DataFiles",
    "RawFile",
    "StoredArrays",
    "data_limit",
    "read_bin",
    "read_npy",
    "read_npz",
]

DEFAULT_LIMIT = 1 << 30
"""Bytes that a data file may have, and an array of one once unpacked."""
LIMIT_VARIABLE = "RETARGET_MAX_DATA_BYTES"
"""The environment variable that raises the limit."""
MAP_FROM = 1 << 20
"""Bytes from which an array is mapped: below, reading costs less than a mapping."""

_SHOWN = 8
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How a file begins that Git LFS has put in the place of one that was not fetched."""


def data_limit() -> int:
    """Return the limit in bytes. Raises `RetargetError` for a variable that is no positive number."""
    written = os.environ.get(LIMIT_VARIABLE)
    if written is None:
        return DEFAULT_LIMIT
    try:
        limit = int(written)
    except ValueError:
        limit = 0
    if limit <= 0:
        msg = (
            f"the environment variable {LIMIT_VARIABLE} is {written!r}, expected a number of bytes, such as 4294967296"
        )
        raise RetargetError(msg)
    return limit


# ---------------------------------------------------------------- paths


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFiles:
    """Finds data files. Relative paths start at `base`; none may lie outside `folder`, the suite's."""

    folder: Path
    base: Path

    def path(self, written: str) -> Path:
        """Return the existing file that `written` names, links resolved.

        Raises `RetargetError` for a path outside the folder, a missing file, what is no regular file, and one larger
        than `data_limit`.
        """
        return self._path(written, limit=data_limit())

    def large_path(self, written: str) -> Path:
        """Do what `path` does for a file that is never read as a whole, of any size."""
        return self._path(written, limit=None)

    def _path(self, written: str, *, limit: int | None) -> Path:
        try:
            path = resolve_inside(self.base / written, self.folder)
            exists, regular = path.exists(), path.is_file()
            size = path.stat().st_size if regular else 0
        except OutsideError as error:
            msg = (
                f"data file {written} leads to {error.path}, outside the suite's folder {self.folder}; "
                "expected a file inside it: copy it there"
            )
            raise RetargetError(msg) from error
        except OSError as error:  # a cycle of links, a name too long, a NUL
            msg = f"{written!r} is not a path that can be read: {error.strerror or error}"
            raise RetargetError(msg) from error
        if not regular:
            what = "is no regular file" if exists else "does not exist"
            near = "" if exists else did_you_mean(path.name, _neighbours(path.parent))
            msg = f"data file {display_path(path)} {what}{near}"
            raise RetargetError(msg)
        if limit is not None and size > limit:
            raise _too_large(path, size, limit)
        return path


def _neighbours(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def _unreadable(path: Path, error: Exception) -> RetargetError:
    msg = f"data file {display_path(path)} cannot be read: {_first_line(error)}"
    return RetargetError(msg)


def _unfetched(path: Path) -> str:
    """Say so if a file only stands for data that was not fetched."""
    try:
        with path.open("rb") as stream:
            is_pointer = stream.read(len(_LFS_POINTER)) == _LFS_POINTER
    except OSError:
        return ""
    return "; it is a pointer of Git LFS: `git lfs pull` fetches the data" if is_pointer else ""


def _too_large(path: Path, size: int, limit: int, what: str = "has") -> RetargetError:
    msg = (
        f"data file {display_path(path)} {what} {size} bytes, over the limit of {limit}; "
        f"to read it, set the environment variable {LIMIT_VARIABLE} to {size} or more"
    )
    return RetargetError(msg)


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
class RawFile:
    """A file of raw elements that several arrays follow each other in. `position` is in bytes."""

    path: Path
    position: int = 0
    _size: int = field(default=-1, repr=False)
    _types: list[str] = field(default_factory=list, repr=False)

    @property
    def size(self) -> int:
        """The file's size in bytes."""
        if self._size < 0:
            self._size = _size_of(self.path)
        return self._size

    def next(self, *, dtype: npt.DTypeLike, shape: Sequence[int]) -> Array:
        """Return the next array. Raises `RetargetError` for a file that is too short."""
        element = np.dtype(dtype)
        length = _count(shape) * element.itemsize
        left = self.size - self.position
        if length > left:
            place = f" at byte {self.position}" if self.position else ""
            msg = (
                f"data file {display_path(self.path)} is short: "
                f"expected {length} bytes for {type_text(shape, element)}{place}, found {left}{_explained(self.path)}"
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
    return "; it is read as raw bytes here: a .npy file brings its type, name it without one"


def _raw_array(path: Path, dtype: np.dtype[Any], shape: Sequence[int], offset: int, order: str = "C") -> Array:
    """Return an array of the bytes from `offset`, which are there."""
    count = _count(shape)
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


def _count(shape: Sequence[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from error


# ---------------------------------------------------------------- .npy


def read_npy(path: Path) -> Array:
    """Return the array of a `.npy` file that holds one, in native byte order.

    Raises `RetargetError` for what is no such file, for pickled objects, for one cut short, and for further arrays.
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
class StoredArrays:
    """The arrays of a `.npy` file that `numpy.save` wrote one after the other. `position` is in bytes."""

    path: Path
    position: int = 0
    _size: int = field(default=-1, repr=False)

    @property
    def size(self) -> int:
        """The file's size in bytes."""
        if self._size < 0:
            self._size = _size_of(self.path)
        return self._size

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
            place = f" at byte {self.position}" if self.position else ""
            msg = f"data file {name} is no .npy file{place}: {_first_line(error)}{_unfetched(self.path)}"
            raise RetargetError(msg) from error
        length = _count(shape) * dtype.itemsize
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
    """Raise `ValueError` for what is no array of numbers. Elements without a type (`V2`) are for the reader to name."""
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

    Raises `RetargetError` for what is no archive, a name that is not in it, an array over the limit once unpacked, and
    as `read_npy` does.
    """
    shown = display_path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            chosen = _chosen(name, members, shown)
            entry = members[chosen]
            limit = data_limit()
            if entry.file_size > limit:
                raise _too_large(path, entry.file_size, limit, what=f"unpacks its array {chosen!r} to")
            with archive.open(entry) as stream:
                shape, fortran, dtype = _header(stream)  # type: ignore[arg-type]  # it reads, which is all that is asked
                _expect_numbers(shape, dtype)
                content = stream.read(limit + 1)
    except RetargetError:
        raise
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        msg = f"data file {shown} is no .npz archive of arrays: {_first_line(error)}{_unfetched(path)}"
        raise RetargetError(msg) from error
    length = _count(shape) * dtype.itemsize
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
