"""Modules that are generated when they are needed: kept in the cache, generated once, removed while unused.

Layout of the folder `made` of the cache, for each set of modules::

    <kind>-<digest>/        the modules, whole
    .<kind>-<digest>.sum    their digest and size
    .<kind>-<digest>.lock   held shared by each session that uses them, exclusively while they are written or removed
    .new-<kind>-<digest>/   while they are written
    .gone-<kind>-<digest>/  while they are removed
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from retarget.extension import CaseLoader
from retarget.model import CompileTarget
from retarget.session.cache.key import digest_of
from retarget.session.cache.sealed_files import DamagedError, read_sealed, seal
from retarget.support.errors import RetargetError
from retarget.support.files import UNFINISHED, files_below, read_regular, write_atomically
from retarget.support.scratch import HeldLock, hold_lock, lock_of, make_folder

GENERATED_FOLDER = "made"
"""The folder of the cache in which they lie."""

_GONE = ".gone-"

Generate = Callable[[str, Path, Path], None]
"""Takes a kind, the file that describes its modules, and an empty folder to write them to."""


class ModuleSet(Struct, frozen=True, kw_only=True):
    """One set of modules: its size in bytes, and its last use in seconds since the epoch."""

    path: Path
    size: int
    used: float

    def damage(self) -> str:
        """Return what is wrong with the files; the empty string if they are those that were generated."""
        try:
            body = read_sealed(_sum(self.path))
        except FileNotFoundError:
            return f"{self.path}: its digest is missing"
        except (OSError, DamagedError) as error:
            return str(error)
        return "" if _measured(self.path)["digest"] == body.get("digest") else f"{self.path}: its files were changed"


def module_sets(cache: Path) -> tuple[ModuleSet, ...]:
    """Return the sets of modules in a cache."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in sorted((cache / GENERATED_FOLDER).iterdir()):
            if path.is_dir() and not path.name.startswith("."):
                with suppress(FileNotFoundError):
                    found.append(ModuleSet(path=path, size=_size(path), used=path.stat().st_mtime))
    return tuple(found)


def remove_set(path: Path) -> bool:
    """Remove one set of modules. False if a session uses it. Raises `RetargetError` if it cannot be removed."""
    try:
        lock = hold_lock(lock_of(path), wait=False)
        if lock is None:
            return False
        with lock:
            gone = path.with_name(f"{_GONE}{path.name}")
            shutil.rmtree(gone, ignore_errors=True)
            with suppress(FileNotFoundError):
                path.rename(gone)  # what is half removed must not be taken for whole
                shutil.rmtree(gone)
            _sum(path).unlink(missing_ok=True)
            lock.delete()
    except OSError as error:
        msg = f"{path} cannot be removed: {error.strerror or error}"
        raise RetargetError(msg) from error
    return True


def unfinished_sets(cache: Path, *, remove: bool = False) -> tuple[Path, ...]:
    """Return what processes that were killed have left half written or half removed; `remove` it."""
    found = []
    with suppress(OSError):
        for path in sorted((cache / GENERATED_FOLDER).iterdir()):
            prefix = next((one for one in (UNFINISHED, _GONE) if path.name.startswith(one)), None)
            if prefix is None:
                continue
            whole = path.with_name(path.name.removeprefix(prefix))
            with suppress(OSError):
                lock = hold_lock(lock_of(whole), wait=False)
                if lock is None:  # its owner is at work
                    continue
                found.append(path)
                if remove:
                    shutil.rmtree(path, ignore_errors=True)
                if whole.is_dir():
                    lock.release()
                else:
                    lock.delete()
    return tuple(found)


class ModuleGenerator:
    """Finds the files of modules that a kind generates below `folder`; has `generate` write them if they are not there.

    Existing modules are complete, and stay until `close`.
    """

    def __init__(self, folder: Path, generate: Generate) -> None:
        self._folder = folder
        self._generate = generate
        self._folders: dict[tuple[str, Path], Path] = {}
        self._held: list[HeldLock] = []

    def resolve(self, target: CompileTarget, loader: CaseLoader) -> CompileTarget:
        """Return `target` with its module's files, which lie in the cache, and their folder as its own.

        Raises `RetargetError` for modules that cannot be generated, `UnavailableError` where what generates them is
        missing.
        """
        description = target.module.path
        folder = self._folders.get((target.kind, description))
        if folder is None:
            folder = self._folders[target.kind, description] = self._ensure(target.kind, description, loader)
        return replace(target, module=loader.made(target.module, folder), folder=folder)

    def close(self) -> None:
        """Use them no more."""
        while self._held:
            self._held.pop().release()
        self._folders.clear()

    def _ensure(self, kind: str, description: Path, loader: CaseLoader) -> Path:
        try:
            content = read_regular(description)
        except OSError as error:
            msg = f"{description} cannot be read: {error.strerror or error}"
            raise RetargetError(msg) from error
        digest = digest_of(b"\0".join((kind.encode(), loader.version().encode(), content)))
        folder = self._folder / f"{kind}-{digest[:24]}"
        try:
            while not self._use(folder):
                make_folder(folder, partial(self._fill, kind, description, _sum(folder)))
        except OSError as error:
            msg = f"modules cannot be kept in {self._folder}: {error.strerror or error}; see --retarget-cache-dir"
            raise RetargetError(msg) from error
        return folder

    def _use(self, folder: Path) -> bool:
        """Hold a set of modules and mark it as used now. False if it is not there."""
        if not folder.is_dir():
            return False
        try:
            lock = hold_lock(lock_of(folder), shared=True)
        except OSError:  # a read-only cache still serves, and is never cleaned
            return folder.is_dir()
        if lock is None or not folder.is_dir():
            if lock is not None:
                lock.release()
            return False
        self._held.append(lock)
        with suppress(OSError):
            os.utime(folder)
        return True

    def _fill(self, kind: str, description: Path, measured: Path, folder: Path) -> None:
        self._generate(kind, description, folder)
        write_atomically(measured, seal(_measured(folder)))


def _measured(folder: Path) -> dict[str, str | int]:
    """Return digest and size of a folder's files."""
    digest, size = hashlib.sha256(), 0
    for name in sorted(files_below(folder)):
        content = (folder / name).read_bytes()
        size += len(content)
        digest.update(f"{name}\0{digest_of(content)}\n".encode("utf-8", "surrogateescape"))
    return {"digest": digest.hexdigest(), "size": size}


def _size(folder: Path) -> int:
    try:
        return int(read_sealed(_sum(folder))["size"])
    except (OSError, DamagedError, KeyError, ValueError):
        return sum((folder / name).stat().st_size for name in files_below(folder))


def _sum(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.sum")
