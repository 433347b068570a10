"""The store of compile outcomes: content-addressed, verified on read, shared by many processes, bounded in size.

Layout below the cache folder::

    CACHEDIR.TAG                      makes backup tools skip it (https://bford.info/cachedir/)
    v1/entries/<k>/<key>              what a compile came to, by compile key: the SHA-256 hex of the rest, then JSON
    v1/artifacts/<d>/<digest><suffix> what it produced, by the SHA-256 hex of its content
    v1/resolutions/<k>/<key>          what a compiler config came to on this machine (`session.compile.pool`), and
                                      the tables in a declaration file (`declare.schema.kept`)
    v1/results/<k>/<key>              what a run came to (`session.run.reuse`)
    v1/binaries/<k>/<key>             what drivers made for devices (`retarget.worker.artifact`)
    v1/locks/<lock>                   held by the process that compiles a key which begins with these three digits,
                                      or runs a front end (`.1`, `.2` after them)
    v1/trim.lock                      held by the process that evicts
    v1/swept                          its time is that of the last sweep (`retarget.session.cache.folder`)
    made/                             generated modules (`retarget.session.cache.generated`)

`<k>` and `<d>` are the first two digits. Files are written beside and renamed, so that a reader sees all of one or none
of it. A file's modification time is the mark of its last use; what was used longest ago goes first when the store is
over its bound, down to 90 % of it. An entry whose artifact has gone counts as not there.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from retarget.model.outcomes import Artifact, CompileOutcome, Failure
from retarget.session.cache.generated import ModuleSet, module_sets, remove_set
from retarget.session.cache.key import digest_of
from retarget.session.cache.sealed_files import (
    DamagedError,
    StoredFile,
    outcome_body,
    read_outcome,
    read_sealed,
    seal,
    stored_files,
    unfinished_files,
)
from retarget.support.errors import RetargetError
from retarget.support.files import read_bytes, write_atomically, write_once
from retarget.support.scratch import HeldLock, hold_lock, remove_unheld
from retarget.worker.artifact import KEPT, is_damaged

if TYPE_CHECKING:
    from retarget.session.cache.remote_store import RemoteStore

DEFAULT_MAX_BYTES = 4 * 1024**3

_SIZE = re.compile(r"(\d+) ?([KMGT]?)(?:i?B)?", re.ASCII)
_TRIM_TO = 0.9
_CLOCKS_DIFFER = 60.0
"""Seconds between the clocks of machines that share a folder."""
_GROWTH = 0.05
_KINDS = ("entries", "artifacts", "resolutions", "results", KEPT)
"""The folders of files."""
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This file marks a cache folder of retarget.\n"


class StoreError(RetargetError):
    """The cache folder cannot be used: read-only, full, or no folder at all."""


class StoreInfo(Struct, frozen=True, kw_only=True):
    """Counts and sizes in bytes."""

    folder: Path
    entries: int
    failures: int
    artifacts: int
    resolutions: int
    results: int
    binaries: int
    generated: tuple[ModuleSet, ...]
    size: int
    max_bytes: int


class StoreVerification(Struct, frozen=True, kw_only=True):
    """How many files were read, and what was removed, each with its reason."""

    checked: int
    removed: tuple[str, ...]


class Store:
    """The outcomes of compiles and runs in one cache folder. Any number of processes and threads may use it.

    Nothing is written before the first outcome is. A folder that cannot be written still serves what it holds.
    """

    def __init__(self, folder: Path, max_bytes: int | None = None, remote: RemoteStore | None = None) -> None:
        """`max_bytes` is `default_max_bytes()` unless given. Missing entries are fetched from `remote`, and new ones
        are uploaded to it; resolutions hold on this machine, and stay here."""
        self.folder = folder
        self._remote = remote
        self.max_bytes = Store.default_max_bytes() if max_bytes is None else max_bytes
        self._root = folder / "v1"
        self._unmeasured = self.max_bytes
        self._small = 0
        self._notes: list[str] = []

    @property
    def exists(self) -> bool:
        """Whether something was stored here before."""
        return self._root.is_dir()

    @property
    def notes(self) -> tuple[str, ...]:
        """The damaged entries that were dropped, and the failures of the shared store, one line each."""
        return (*self._notes, *(self._remote.notes if self._remote is not None else ()))

    def lookup(self, key: str) -> CompileOutcome | None:
        """Return the outcome under `key`, its artifact's content verified, or None.

        A damaged entry or artifact is removed, noted, and counts as not there. A missing entry is fetched from the
        shared store, if there is one. Raises `StoreError` if the folder cannot be read, or cannot be written then.
        """
        outcome = self._local(key)
        return self._fetch(key) if outcome is None and self._remote is not None else outcome

    def _local(self, key: str) -> CompileOutcome | None:
        entry = self._path("entries", key)
        with self._reported():
            try:
                outcome = self._decode(key, read_sealed(entry))
                if outcome.artifact is not None:
                    self._verify(outcome.artifact)
                    _mark_used(outcome.artifact.path)
            except FileNotFoundError:
                return None
            except DamagedError as error:
                self._drop(entry, str(error))
                return None
        _mark_used(entry)
        return outcome

    def _fetch(self, key: str) -> CompileOutcome | None:
        """Take an outcome over from the shared store: its artifact first."""
        if self._remote is None or (body := self._remote.read("entries", key)) is None:
            return None
        try:
            outcome = self._decode(key, body)
        except DamagedError as error:
            self._remote.reject("entries", key, str(error))
            return None
        with self._reported():
            self._prepare()
            if (artifact := outcome.artifact) is not None and not self._has(artifact):
                content = self._remote.artifact(artifact.digest, artifact.size, body["artifact"]["suffix"])
                if content is None:
                    self._remote.count_as_absent()
                    return None
                write_once(Path(artifact.path), content)
                self._unmeasured += artifact.size
            self._write_entry(key, body)
        self._grown(0)
        return outcome

    def keep(self, artifact: Artifact) -> bool:
        """Mark `artifact` as used now, so that it is not evicted next. False if it has gone."""
        try:
            os.utime(artifact.path)
        except FileNotFoundError:
            return False
        except OSError:  # a read-only cache still serves
            return Path(artifact.path).exists()
        return True

    def put_artifact(
        self, key: str, artifact: bytes, *, suffix: str, seconds: float, diagnostics: str, entry: bool = True
    ) -> CompileOutcome:
        """Store a compile's artifact and return its outcome. Without an `entry` the next session compiles again.

        Raises `StoreError` if it cannot be written.
        """
        digest = digest_of(artifact)
        path = self._path("artifacts", digest, suffix)
        stored = Artifact(digest=digest, size=len(artifact), path=str(path))
        outcome = CompileOutcome(key=key, seconds=seconds, reused=False, artifact=stored, diagnostics=diagnostics)
        with self._reported():
            self._prepare()
            if self._has(stored):  # and another session may hold it
                _mark_used(path)
            else:
                write_once(path, artifact)
            if entry:
                self._write_entry(key, body := outcome_body(outcome, suffix))
                if self._remote is not None:
                    self._remote.offer("entries", key, body, (digest, suffix, path))
        self._grown(len(artifact))
        return outcome

    def put_failure(self, key: str, failure: Failure, *, seconds: float, diagnostics: str) -> CompileOutcome:
        """Store a diagnosed compile failure and return its outcome. Raises `StoreError` if it cannot be written.

        A transient one (crash, timeout) is refused with `ValueError`: it must be tried again.
        """
        if failure.transient:
            msg = f"a transient failure must not be stored: {failure.summary}"
            raise ValueError(msg)
        outcome = CompileOutcome(key=key, seconds=seconds, reused=False, failure=failure, diagnostics=diagnostics)
        with self._reported():
            self._prepare()
            self._write_entry(key, body := outcome_body(outcome))
        if self._remote is not None:
            self._remote.offer("entries", key, body)
        return outcome

    def forget_failure(self, key: str) -> None:
        """Drop a stored compile failure, so that the next compile is tried. An artifact stays."""
        outcome = self.lookup(key)
        if outcome is not None and outcome.failure is not None:
            self._remove(self._path("entries", key))
            if self._remote is not None:
                self._remote.forget("entries", key)

    def try_lock(self, key: str, *, step: int = 0) -> HeldLock | None:
        """Return the held lock of `key`, to be released by the caller; None if another process or thread holds it.

        Keys share 4096 locks, so that the folder does not grow with the keys: one that is held may be another key's,
        which only means to come back later. A holder of a key's lock that needs another for a step of it names the
        `step`, which has its own locks. Where the file system has no locks, each process compiles for itself. Raises
        `StoreError` if the folder cannot be written.
        """
        folder = self._root / "locks"
        with self._reported():
            folder.mkdir(parents=True, exist_ok=True)
            return hold_lock(folder / (f"{key[:3]}.{step}" if step else key[:3]), wait=False, is_needed=False)

    def read_resolution(self, key: str) -> dict[str, Any] | None:
        """Return what `write_resolution` stored under `key`, or None. A damaged one is removed and noted.

        Resolutions hold on this machine: no shared store has them.
        """
        return self._read("resolutions", key, is_shared=False)

    def write_resolution(self, key: str, body: dict[str, Any]) -> None:
        """Store a resolution. Raises `StoreError` if it cannot be written."""
        self._write_here("resolutions", key, body)

    def read_result(self, key: str, *, local_only: bool = False) -> dict[str, Any] | None:
        """Return what `write_result` stored under `key`, or None; `local_only` asks no shared store. A damaged one is
        removed and noted."""
        return self._read("results", key, is_shared=not local_only)

    def write_result(self, key: str, body: dict[str, Any], *, stays: dict[str, Any] | None = None) -> None:
        """Store the result of a run, in place of what is there. Where a shared store has the body `stays`, that stays
        there, and is soon here too. Raises `StoreError` if it cannot be written here."""
        self._write_here("results", key, body)
        if self._remote is not None:
            self._remote.offer("results", key, body, stays=stays, on_stays=partial(self._take_over, key, stays or {}))

    def _take_over(self, key: str, body: dict[str, Any]) -> None:
        with suppress(StoreError):  # the session's own writes report it
            self._write_here("results", key, body)

    def _read(self, kind: str, key: str, *, is_shared: bool) -> dict[str, Any] | None:
        path = self._path(kind, key)
        with self._reported():
            try:
                body = read_sealed(path)
            except FileNotFoundError:
                body = None
            except DamagedError as error:
                self._drop(path, str(error))
                body = None
        if body is not None:
            _mark_used(path)
        elif is_shared and self._remote is not None and (body := self._remote.read(kind, key)) is not None:
            self._write_here(kind, key, body)
        return body

    def _write_here(self, kind: str, key: str, body: dict[str, Any]) -> None:
        data = seal(body)
        with self._reported():
            self._prepare()
            write_atomically(self._path(kind, key), data)
        self._small += len(data)
        if self._small >= self.max_bytes * _GROWTH:  # what is small is not worth a look at the whole store at once
            self._small = 0
            self._grown(self.max_bytes)

    def info(self) -> StoreInfo:
        """Count what is there. Reads every entry, to distinguish failures from artifacts."""
        files = {kind: list(self._files(kind)) for kind in _KINDS}
        failures = 0
        for file in files["entries"]:
            with suppress(OSError, DamagedError):
                failures += "failure" in read_sealed(file.path)
        generated = module_sets(self.folder)
        return StoreInfo(
            folder=self.folder,
            failures=failures,
            generated=generated,
            size=sum(file.size for found in files.values() for file in found) + sum(one.size for one in generated),
            max_bytes=self.max_bytes,
            **{kind: len(found) for kind, found in files.items()},
        )

    def clear(self) -> int:
        """Remove every outcome, resolution, result and generated module that no session uses; return the bytes freed.

        Locks of keys stay, since they may be held. Raises `StoreError` if something cannot be removed.
        """
        try:
            freed = sum(modules.size for modules in module_sets(self.folder) if remove_set(modules.path))
        except RetargetError as error:
            raise StoreError(str(error)) from error
        with self._reported():
            for file in [file for kind in _KINDS for file in self._files(kind)]:
                file.path.unlink(missing_ok=True)
                freed += file.size
        return freed

    def unfinished(self, *, remove: bool = False) -> list[Path]:
        """Return what processes that were killed have left half written; `remove` it."""
        found = [file.path for kind in _KINDS for file in unfinished_files(self._root / kind)]
        for path in found if remove else ():
            self._remove(path)
        return found

    def verify(self) -> StoreVerification:
        """Read all of the store and remove what is damaged, or an entry whose artifact has gone."""
        removed = []
        checked = 0
        for file in list(self._files("artifacts")):
            checked += 1
            digest = file.path.name.partition(".")[0]
            try:
                found = digest_of(file.path.read_bytes())
            except FileNotFoundError:
                continue
            if found != digest:
                removed.append(f"{file.path}: its content has SHA-256 {found}")
                self._remove(file.path)
        binaries = [file.path for file in self._files(KEPT)]
        checked += len(binaries)
        for path in filter(is_damaged, binaries):
            removed.append(f"{path} is damaged: its content does not have the digest that it begins with")
            self._remove(path)
        for kind in ("entries", "resolutions", "results"):
            for file in list(self._files(kind)):
                checked += 1
                try:
                    body = read_sealed(file.path)
                    if kind == "entries":
                        artifact = self._decode(file.path.name, body).artifact
                        if artifact is not None and not Path(artifact.path).exists():
                            removed.append(f"{file.path}: its artifact {artifact.digest} is not there")
                            self._remove(file.path)
                except FileNotFoundError:
                    continue
                except DamagedError as error:
                    removed.append(str(error))
                    self._remove(file.path)
        for modules in module_sets(self.folder):
            checked += 1
            if damage := modules.damage():
                kept = "" if remove_set(modules.path) else "; a running session uses them, so they stay"
                removed.append(f"{damage}{kept}")
        return StoreVerification(checked=checked, removed=tuple(removed))

    def trim(self) -> int:
        """Remove what was used longest ago until the store is within its bound; return the bytes freed.

        The outcome used last always stays. Does nothing while another process does it.
        """
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            lock = hold_lock(self._root / "trim.lock", wait=False, is_needed=False)
        except OSError:
            lock = None
        if lock is None:
            return 0
        with lock:
            return self._trim()

    def _trim(self) -> int:
        now = time.time() + _CLOCKS_DIFFER

        def used(one: StoredFile | ModuleSet) -> float:
            return one.used if one.used <= now else 0.0  # the clock has jumped back since: it says nothing

        files = [file for kind in ("artifacts", "entries", "resolutions") for file in self._files(kind)]
        files.sort(key=used)
        kept: list[StoredFile | ModuleSet] = [*files[:-2], *module_sets(self.folder)]  # but the last outcome
        kept += [*self._files("results"), *self._files(KEPT)]
        total = sum(one.size for one in kept) + sum(file.size for file in files[-2:])
        freed = 0
        if total > self.max_bytes:
            for one in sorted(kept, key=used):
                if total - freed <= self.max_bytes * _TRIM_TO:
                    break
                if not _removed(one):
                    continue  # a session uses it
                freed += one.size
        return freed

    def _grown(self, size: int) -> None:
        """Trim when the store may have come over its bound: at the first outcome stored, then every 5 % of growth."""
        self._unmeasured += size
        if self._unmeasured >= self.max_bytes * _GROWTH:
            self._unmeasured = 0
            self.trim()

    def _files(self, kind: str) -> Iterator[StoredFile]:
        return stored_files(self._root / kind)

    def _write_entry(self, key: str, body: dict[str, Any]) -> None:
        data = seal(body)
        write_atomically(self._path("entries", key), data)
        self._unmeasured += len(data)

    def _decode(self, key: str, body: dict[str, Any]) -> CompileOutcome:
        """Convert an entry to an outcome. Raises `DamagedError` for one of another form."""
        try:
            return read_outcome(key, body, partial(self._path, "artifacts"))
        except (ValueError, msgspec.ValidationError) as error:
            msg = f"entry {key} is damaged: {error}"
            raise DamagedError(msg) from error

    def _has(self, artifact: Artifact) -> bool:
        try:
            self._verify(artifact)
        except (FileNotFoundError, DamagedError):
            return False
        return True

    def _verify(self, artifact: Artifact) -> None:
        """Raise `DamagedError` unless the artifact's content is what it was, `FileNotFoundError` if it has gone."""
        found = digest_of(read_bytes(artifact.path))
        if found != artifact.digest:
            self._remove(Path(artifact.path))
            msg = f"artifact {artifact.path} is damaged: its content has SHA-256 {found}"
            raise DamagedError(msg)

    def _drop(self, path: Path, reason: str) -> None:
        self._remove(path)
        self._notes.append(f"{reason}; it was dropped and is created again")

    def _remove(self, path: Path) -> None:
        with suppress(OSError):  # another process was faster, or the folder is read-only
            path.unlink()

    def _prepare(self) -> None:
        tag = self.folder / "CACHEDIR.TAG"
        if not tag.exists():
            write_atomically(tag, _TAG.encode())

    def _path(self, kind: str, key: str, suffix: str = "") -> Path:
        return self._root.joinpath(kind, key[:2], f"{key}{suffix}")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Raise `StoreError` in place of `OSError`."""
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                msg = (
                    f"the disk of the cache folder {self.folder} is full ({error.strerror}); free some space "
                    "('retarget cache clear' empties the cache), "
                    "or give another folder with --retarget-cache-dir or RETARGET_CACHE_DIR"
                )
            else:
                msg = (
                    f"the cache folder {self.folder} cannot be used ({error.strerror or error}: {error.filename}); "
                    "give one that can be written with --retarget-cache-dir or RETARGET_CACHE_DIR"
                )
            raise StoreError(msg) from error

    @staticmethod
    def default_max_bytes() -> int:
        """Return RETARGET_CACHE_SIZE in bytes, or `DEFAULT_MAX_BYTES`. Raises `RetargetError` for what is no size."""
        written = os.environ.get("RETARGET_CACHE_SIZE")
        if not written:
            return DEFAULT_MAX_BYTES
        size = _SIZE.fullmatch(written.strip())
        if size is None:
            expected = "expected a number of bytes, or one with K, M, G or T after it (times 1024 each), such as 20G"
            msg = f"found RETARGET_CACHE_SIZE={written!r}, {expected}"
            raise RetargetError(msg)
        return int(size[1]) << 10 * " KMGT".index(size[2] or " ")


def _removed(one: StoredFile | ModuleSet) -> bool:
    try:
        return remove_unheld(one.path) if isinstance(one, StoredFile) else remove_set(one.path)
    except (OSError, RetargetError):  # a read-only folder
        return False


def _mark_used(path: str | Path) -> None:
    with suppress(OSError):  # a read-only cache still serves
        os.utime(path)
