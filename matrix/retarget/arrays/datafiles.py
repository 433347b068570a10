"""Reads arrays from files: `.npy`, `.npz` and raw `.bin`. Runs in worker processes, never in pytest's.

Nothing of a file is trusted: no pickles, sizes are checked before memory is taken, and a path stays inside the suite's
folder once links are resolved. Files of `MAP_FROM` bytes and more are mapped, not read; those arrays are read-only.
"""

from __future__ import annotations

import io
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

from retarget.arrays.dtypes import Elements
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.files import data_limit, too_large
from retarget.support.text import listed

if TYPE_CHECKING:
    from retarget.extension import Array

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
    """A file of raw little-endian elements, row-major, of one array after the other. Elements of 2 and 4 bits are
    packed (`retarget.arrays.dtypes`)."""

    _types: list[str] = field(default_factory=list, repr=False)

    def only(self, *, dtype: npt.DTypeLike, shape: Sequence[int]) -> Array:
        """Return the array of a file that holds no other. Raises `RetargetError` for one that is shorter or longer."""
        array = self.next(dtype=dtype, shape=shape)
        self.close()
        return array

    def next(self, *, dtype: npt.DTypeLike, shape: Sequence[int]) -> Array:
        """Return the next array. Raises `RetargetError` for a file that is too short."""
        element = np.dtype(dtype)
        length = Elements.of(element).size(shape)
        left = self.size - self.position
        text = Elements.of(element).text(shape) + (
            f" ({8 // Elements.of(element).bits} to a byte)" if Elements.of(element).is_packed else ""
        )
        if length > left:
            where = f" at byte {self.position}" if self.position else ""
            msg = (
                f"data file {display_path(self.path)} is short: "
                f"expected {length} bytes for {text}{where}, found {left}{_explained(self.path)}"
            )
            raise RetargetError(msg)
        self._types.append(text)
        content = _content(self.path, self.position, length)
        self.position += length
        return Elements.of(element).unpack(content, shape)

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


def _content(path: Path, offset: int, length: int) -> npt.NDArray[np.uint8]:
    """Return the bytes from `offset`, which are there."""
    try:
        if length >= MAP_FROM:
            return np.asarray(np.memmap(path, np.uint8, "r", offset=offset, shape=(length,)))
        content = bytearray(length)
        with path.open("rb") as stream:
            stream.seek(offset)
            stream.readinto(content)
        return np.frombuffer(content, np.uint8)
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(path, error) from error


# ---------------------------------------------------------------- .npy


@dataclass(slots=True, kw_only=True)
class StoredArrays(_Sequence):
    """The arrays of a file that NumPy wrote, in native byte order: those of `.npy`, one after the other, or a `.npz`
    archive's."""

    @property
    def at_end(self) -> bool:
        """Whether no array is left."""
        return self.position >= self.size

    def only(self) -> Array:
        """Return the array of a file that holds no other. Raises `RetargetError` as `next` does, and for others."""
        array = self.next()
        if not self.at_end:
            msg = (
                f"data file {display_path(self.path)} holds {self.size - self.position} bytes after its first array; "
                "expected one array"
            )
            raise RetargetError(msg)
        return array

    def next(self) -> Array:
        """Return the next array. Raises `RetargetError` for a file of another format, for pickled objects, for one cut
        short, and at the end."""
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
                f"data file {name} is short: expected {length} bytes for {Elements.of(dtype).text(shape)} "
                f"after its header, found {self.size - start}"
            )
            raise RetargetError(msg)
        self.position = start + length
        return _shaped(_content(self.path, start, length), dtype, shape, is_fortran=fortran)

    def of_archive(self, name: str = "") -> Array:
        """Return one array of a `.npz` archive by name; without a name its only one.

        Raises `RetargetError` for a file that is not an archive, a name that is not in it, an array over the limit once
        unpacked, and as `next` does.
        """
        path, shown = self.path, display_path(self.path)
        try:
            with zipfile.ZipFile(path) as archive:
                members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
                chosen = _chosen(name, members, shown)
                entry = members[chosen]
                limit = data_limit()
                if entry.file_size > limit:
                    raise too_large(path, entry.file_size, limit, what=f"unpacks its array {chosen!r} to")
                with archive.open(entry) as stream:
                    shape, fortran, dtype = _header(stream)  # type: ignore[arg-type]  # it reads: all that is used
                    _expect_numbers(shape, dtype)
                    content = stream.read()
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
                f"array {chosen!r} of data file {shown}: expected {length} bytes for {Elements.of(dtype).text(shape)}, "
                f"found {len(content)}"
            )
            raise RetargetError(msg)
        try:
            return _shaped(np.frombuffer(bytearray(content), np.uint8), dtype, shape, is_fortran=fortran)
        except ValueError as error:
            msg = f"array {chosen!r} of data file {shown}: {_first_line(error)}"
            raise RetargetError(msg) from error


def _shaped(content: npt.NDArray[np.uint8], dtype: np.dtype[Any], shape: tuple[int, ...], *, is_fortran: bool) -> Array:
    """Return the array of a `.npy` file's bytes, in native byte order. A Boolean is true where its byte is not 0."""
    flat: npt.NDArray[Any] = content != 0 if dtype == np.bool_ else content.view(dtype)
    array = flat.reshape(shape, order="F" if is_fortran else "C")
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


def _header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is not None:
        prefix = stream.read(2 * version[0])
        # What numpy.save writes of float8_e5m2 names no type of NumPy. The other types of ml_dtypes are V1 and V2.
        text = stream.read(int.from_bytes(prefix, "little")).replace(b"'<f1'", b"'|V1'")
        try:
            return read(io.BytesIO(prefix + text))
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
    if dtype.kind not in "biufcV" or dtype.names is not None or not dtype.itemsize:
        msg = f"elements of type {dtype}, expected numbers"
        raise ValueError(msg)
    if any(size < 0 for size in shape):
        msg = f"shape {shape}, expected sizes of 0 and more"
        raise ValueError(msg)


def _chosen(name: str, members: dict[str, zipfile.ZipInfo], shown: str) -> str:
    if name in members:
        return name
    names = [member if member.isprintable() else repr(member) for member in members]
    known = listed(names, _SHOWN)
    if name:
        msg = f"data file {shown} holds no array {name!r}; it holds: {known or 'none'}{did_you_mean(name, members)}"
        raise RetargetError(msg)
    if len(members) != 1:
        msg = f"data file {shown} holds {len(members)} arrays, expected the name of one; it holds: {known or 'none'}"
        raise RetargetError(msg)
    return next(iter(members))


def _first_line(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).strip().partition("\n")[0] or type(error).__name__
