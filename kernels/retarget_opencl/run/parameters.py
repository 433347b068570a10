# ruff: noqa: PLR0917 - an instruction's words are positional
"""Parameters of a loaded program: where they are in their archives, and what is read and written of them."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import iree.runtime as rt
import numpy as np
from msgspec import Struct
from retarget.support import did_you_mean, display_path
from retarget_iree.runtime.parameters import NO_PARAMETERS, load_archive

from retarget_opencl.run.commands import Commands
from retarget_opencl.run.errors import ProgramError
from retarget_opencl.run.memory import Bytes, HostData, Span


class _Archive(Struct):
    """A mapped file. `identity` tells its content from all others; None once a program has written into it."""

    path: Path
    mapping: mmap.mmap
    entries: dict[str, Any]
    identity: tuple[int, ...] | None


def _open(path: Path) -> _Archive:
    index = rt.ParameterIndex()
    mapping = load_archive(index, path)
    status = path.stat()
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return _Archive(path, mapping, dict(index.items()), identity)


class Parameters:
    """The archives by scope, and the program's commands on them. Writes stay in this process."""

    def __init__(self, commands: Commands, files: Sequence[tuple[str, Path]]) -> None:
        self._commands = commands
        self._scopes: dict[str, list[_Archive]] = {}
        for scope, path in files:
            self._scopes.setdefault(scope, []).append(_open(path))

    def load(
        self, scope: Bytes | None, keys: Sequence[Bytes], offsets: Sequence[int], sizes: Sequence[int], kinds: str
    ) -> list[Span]:
        """Return parameters in device memory: constants once for all programs of the device, others each time anew."""
        return [
            self._load(_text(scope), _text(key), offset, size, is_constant=kind == "constant")
            for key, offset, size, kind in zip(keys, offsets, sizes, kinds.split(), strict=True)
        ]

    def read(self, *ranges: Any) -> None:
        """Copy parameters into ranges of a span."""
        for _, (_, data), span, start in self._ranges(*ranges):
            self._commands.pool.write_host_data(span, start, data)

    def write(self, *ranges: Any) -> None:
        """Copy ranges of a span into parameters. Raises `ProgramError` for one that is no bytes of a file."""
        for key, (archive, data), span, start in self._ranges(*ranges):
            if data.mapping is None:
                where = f"the parameter {key!r} of {display_path(archive.path)}"
                msg = f"{where} is one value repeated, and cannot be written"
                raise ProgramError(msg)
            archive.identity = None
            data.bytes[:] = self._commands.read(span, start, len(data.bytes))

    def _ranges(
        self,
        scope: Bytes | None,
        keys: Sequence[Bytes],
        offsets: Sequence[int],
        span: Span,
        starts: Sequence[int],
        lengths: Sequence[int],
    ) -> Iterator[tuple[str, tuple[_Archive, HostData], Span, int]]:
        """Yield keys of parameters, ranges of them in their archives, and where in a span these belong."""
        for key, offset, start, length in zip(keys, offsets, starts, lengths, strict=True):
            yield _text(key), self._find(_text(scope), _text(key), offset, length), span, start

    def _load(self, scope: str, key: str, offset: int, size: int, *, is_constant: bool) -> Span:
        archive, data = self._find(scope, key, offset, size)
        if is_constant and archive.identity is not None:
            return self._commands.pool.upload((archive.identity, key, offset, size), data)
        span = self._commands.allocate(size)
        self._commands.pool.write_host_data(span, 0, data)
        return span

    def _find(self, scope: str, key: str, offset: int, length: int) -> tuple[_Archive, HostData]:
        """Return a range of a parameter, and where it is. Raises `ProgramError` where there is none."""
        archives = self._scopes.get(scope, [])
        archive = next((one for one in archives if key in one.entries), None)
        if archive is None:
            raise ProgramError(self._missing(scope, key))
        entry = archive.entries[key]
        if not 0 <= offset <= entry.length - length:
            where = f"the parameter {key!r} of the scope {scope!r}, of {display_path(archive.path)},"
            msg = f"{where} has {entry.length} bytes, expected at least {offset + length}"
            raise ProgramError(msg)
        if entry.is_splat:
            pattern = np.frombuffer(entry.splat_pattern, np.uint8)
            return archive, HostData(np.resize(np.roll(pattern, -offset), length))
        start = entry.file_storage[1] + offset
        mapping = archive.mapping
        data = np.frombuffer(mapping, np.uint8, length, start) if length else np.empty(0, np.uint8)
        return archive, HostData(data, mapping, start, is_dropped=archive.identity is not None)

    def _missing(self, scope: str, key: str) -> str:
        wanted = f"the module takes the parameter {key!r} of the scope {scope!r}"
        if not self._scopes:
            return f"{wanted}, and no parameter files are given; {NO_PARAMETERS}"
        if scope not in self._scopes:
            given = ", ".join(
                f"{name!r} ({display_path(archive.path)})" for name, found in self._scopes.items() for archive in found
            )
            return f"{wanted}; files are given for the scopes {given}{did_you_mean(scope, self._scopes)}"
        files = ", ".join(display_path(archive.path) for archive in self._scopes[scope])
        known = [name for archive in self._scopes[scope] for name in archive.entries]
        return f"{wanted}, which {files} with {len(known)} keys does not hold{did_you_mean(key, known)}"


def _text(name: Bytes | None) -> str:
    return "" if name is None else name.tobytes().decode()
