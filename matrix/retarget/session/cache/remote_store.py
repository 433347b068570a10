"""A shared store as the cache sees it: sealed bodies and artifacts, read when asked and uploaded in the background.

Objects below its URL::

    v1/<kind>/<k>/<key>               a body of the cache (`retarget.session.cache.store`), sealed together with its
                                      kind and key, so that an object under another name is not taken for it
    v1/artifacts/<d>/<digest><suffix> an artifact, by the SHA-256 hex of its content

An artifact is uploaded before what names it. Nothing of the store is trusted: what has other content than it should is
not used, and made again. Two machines that make the same at the same time both upload it; the last one stays.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from retarget.session.cache.key import digest_of
from retarget.session.cache.remote_objects import (
    MODE_VARIABLE,
    Guard,
    LeftOutError,
    Objects,
    RemoteSettings,
    open_objects,
    remote_settings,
)
from retarget.session.cache.sealed_files import DamagedError, seal, unseal
from retarget.support.text import counted

_FORMAT = 1
_MOST_SEALED = 16 << 20
_MOST_ARTIFACT = 1 << 30
"""Bytes; what is larger is neither uploaded nor used."""
_MOST_QUEUED = 4096
_BATCH = 32
_BATCH_BYTES = 64 << 20
_OPENING_SECONDS = 30.0
"""Seconds that a client may need in addition, to be imported and to log in."""


class RemoteStatistics(Struct, kw_only=True):
    """Outcomes and bytes that came from the shared store, outcomes that it did not have, and what was uploaded.

    An outcome of no use, such as a damaged one, counts as one that it did not have; its bytes came all the same.
    """

    fetched: int = 0
    absent: int = 0
    fetched_bytes: int = 0
    uploaded: int = 0
    uploaded_bytes: int = 0


class _Upload(Struct, frozen=True, kw_only=True):
    """A sealed body under its name, and the artifact that it names: its name, digest and file. Where the store has
    `stays` under the name, that stays, and `on_stays` is called."""

    name: str
    content: bytes
    artifact: tuple[str, str, Path] | None
    stays: bytes
    on_stays: Callable[[], None] | None


class RemoteStore:
    """One shared store, for any number of threads. To be closed. Nothing is opened before something is asked of it.

    No method raises an error of the store: what it does not give counts as not there. `statistics` are the transfers so
    far.
    """

    def __init__(self, settings: RemoteSettings) -> None:
        self.settings = settings
        self._reads, self._writes = Guard(settings.seconds), Guard(settings.seconds)
        self._opening = threading.Lock()
        self._objects: Objects | None = None
        self._absent: set[str] = set()
        self._wrong: dict[str, str] = {}
        self._queue: deque[_Upload] = deque()
        self._sending = 0
        self._dropped = 0
        self.statistics = RemoteStatistics()
        self._closed = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @classmethod
    def configured(cls) -> RemoteStore | None:
        """Return the store that the environment names; None where it names none. Raises as `remote_settings` does."""
        settings = remote_settings()
        return None if settings is None else cls(settings)

    # ------------------------------------------------------------ reading

    def read(self, kind: str, key: str) -> dict[str, Any] | None:
        """Return the body under `key`, or None. Each missing object is requested once."""
        name = _name(kind, key)
        if name in self._absent:
            return None
        data = self._read(name, _MOST_SEALED, size=0)
        if data is None:
            self.statistics.absent += name in self._absent
            return None
        try:
            body = _body(data, name, kind, key)
        except DamagedError as error:
            self._reject(name, str(error))
            self.statistics.absent += 1
            return None
        self.statistics.fetched += 1
        return body

    def artifact(self, digest: str, size: int, suffix: str) -> bytes | None:
        """Return an artifact of `size` bytes, its content verified, or None."""
        name = _name("artifacts", digest, suffix)
        if size > _MOST_ARTIFACT:
            self._reject(name, f"{name} is said to have {size} bytes, more than {_MOST_ARTIFACT}")
            return None
        data = self._read(name, size, size=size)
        if data is not None and (len(data) != size or digest_of(data) != digest):
            self._reject(name, f"the content of {name} has another SHA-256 or size")
            return None
        return data

    def reject(self, kind: str, key: str, reason: str) -> None:
        """Note that a body that was read is of no use, and ask no more for it."""
        name = _name(kind, key)
        self._reject(name, f"{name}: {reason}")
        self.count_as_absent()

    def count_as_absent(self) -> None:
        """Count a body that was read among those that are not there: it is of no use, or its artifact is not there."""
        self.statistics.fetched -= 1
        self.statistics.absent += 1

    def forget(self, kind: str, key: str) -> None:
        """Do not request a body again: it will be made anew."""
        self._absent.add(_name(kind, key))

    def _reject(self, name: str, reason: str) -> None:
        self._absent.add(name)
        self._wrong[name] = reason

    def _read(self, name: str, most: int, *, size: int) -> bytes | None:
        try:
            objects = self._opened(self._reads)
            data = self._reads.call(partial(objects.read, name, most), size=size)
        except FileNotFoundError:
            self._absent.add(name)
            return None
        except LeftOutError:
            return None
        self.statistics.fetched_bytes += len(data)
        return data

    def _opened(self, guard: Guard) -> Objects:
        with self._opening:
            if self._objects is None:
                self._objects = guard.call(partial(open_objects, self.settings), patience=_OPENING_SECONDS)
            return self._objects

    # ------------------------------------------------------------ uploading

    def offer(
        self,
        kind: str,
        key: str,
        body: dict[str, Any],
        artifact: tuple[str, str, Path] | None = None,
        *,
        stays: dict[str, Any] | None = None,
        on_stays: Callable[[], None] | None = None,
    ) -> None:
        """Upload a body in the background, after its artifact if there is one: its digest, its suffix and its file.

        Where the store has the body `stays`, nothing is uploaded, and `on_stays` is called in the background. Where it
        does not say what it has, nothing is uploaded either.
        """
        if not self.settings.writes:
            return
        content = _sealed(kind, key, body)
        named = None
        if artifact is not None:
            digest, suffix, path = artifact
            named = (_name("artifacts", digest, suffix), digest, path)
        with self._changed:
            if self._closed or len(self._queue) >= _MOST_QUEUED or len(content) > _MOST_SEALED:
                self._dropped += 1
                return
            kept = b"" if stays is None else _sealed(kind, key, stays)
            upload = _Upload(name=_name(kind, key), content=content, artifact=named, stays=kept, on_stays=on_stays)
            self._queue.append(upload)
            if self._thread is None:
                self._thread = threading.Thread(target=self._upload, name="retarget-upload", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    @property
    def unsent(self) -> int:
        """How many files are still to be uploaded."""
        with self._changed:
            return len(self._queue) + self._sending

    def flush(self, seconds: float) -> bool:
        """Wait until all is uploaded, for at most `seconds`, and not for a store that is left out. Return whether there
        is nothing more to wait for."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._queue or self._sending) or self._writes.is_open or self._closed, seconds
            )

    def close(self) -> None:
        """Ask and upload nothing more; a caller that waits for an answer goes on without."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._reads.close()
        self._writes.close()

    def _upload(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (not self._queue or self._writes.is_open):
                    self._changed.wait()
                if self._closed:
                    return
                batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
                self._sending = len(batch)
            sent = size = 0
            while batch:
                done, count, moved = self._send(batch)
                batch = batch[done:]
                sent, size = sent + count, size + moved
            with self._changed:
                self.statistics.uploaded += sent
                self.statistics.uploaded_bytes += size
                self._dropped += self._sending - sent
                self._sending = 0
                self._changed.notify_all()

    def _send(self, batch: Sequence[_Upload]) -> tuple[int, int, int]:
        """Upload the first of a batch, as many as fit into memory; return how many were looked at, how many were
        uploaded, and their bytes."""
        artifacts: dict[str, bytes] = {}
        bodies: dict[str, bytes] = {}
        size = looked = 0
        for upload in batch:
            if looked and size >= _BATCH_BYTES:
                break
            looked += 1
            try:
                stays = bool(upload.stays) and self._has(upload.name, upload.stays)
            except LeftOutError:
                continue  # what is there is not known: it must not be lost
            if stays:
                if upload.on_stays is not None:
                    upload.on_stays()
                with self._changed:
                    self._sending -= 1  # nothing is missing
                continue
            if upload.artifact is not None:
                name, digest, path = upload.artifact
                content = _content(path, digest)
                if content is None:
                    continue
                artifacts[name] = content
                size += len(content)
            bodies[upload.name] = upload.content
            size += len(upload.content)
        try:
            objects = self._opened(self._writes)
            for group in (artifacts, bodies):
                if group:
                    self._writes.call(partial(objects.write, group), size=sum(map(len, group.values())))
        except (LeftOutError, FileNotFoundError):
            return looked, 0, 0
        return looked, len(bodies), size

    def _has(self, name: str, content: bytes) -> bool:
        try:
            objects = self._opened(self._reads)
            return self._reads.call(partial(objects.read, name, len(content))) == content
        except FileNotFoundError:
            return False

    # ------------------------------------------------------------ what to report

    @property
    def notes(self) -> tuple[str, ...]:
        """What did not work: a line on a store that was left out or did not get everything, one on damaged objects."""
        where = f"the shared store {self.settings.shown}"
        again = "`retarget cache info` asks it again"
        notes = []
        reads, writes = self._reads.note, self._writes.note
        with self._changed:
            missing = self._dropped + len(self._queue) + self._sending
        lost = f"; {counted(missing, 'outcome')} not uploaded" if missing else ""
        if reads:
            used = "neither read nor written" if writes else "not read"
            notes.append(f"{where} was {used}: {reads}; what it may have was made here{lost}; {again}")
        elif writes:
            only = f"to only read it, set {MODE_VARIABLE}=read"
            notes.append(f"{where} was not written: {writes}{lost}; {only}; {again}")
        elif missing:
            notes.append(f"{where} did not get everything{lost}, and made again elsewhere")
        if self._wrong:
            count, first = len(self._wrong), next(iter(self._wrong.values()))
            notes.append(f"{where} has {counted(count, 'object')} of no use, made again here: {first}")
        return tuple(notes)

    def ask(self) -> str:
        """Ask the store for something; return what does not work, empty if it answers."""
        try:
            self._reads.call(partial(self._opened(self._reads).read, _name("entries", "0" * 64), 1))
        except FileNotFoundError:
            return ""
        except LeftOutError as error:
            return str(error) or "it does not answer"
        return ""


def _name(kind: str, key: str, suffix: str = "") -> str:
    return f"v1/{kind}/{key[:2]}/{key}{suffix}"


def _sealed(kind: str, key: str, body: dict[str, Any]) -> bytes:
    return seal({"format": _FORMAT, "kind": kind, "key": key, "body": body})


def _body(data: bytes, name: str, kind: str, key: str) -> dict[str, Any]:
    """Return what `RemoteStore.offer` has sealed. Raises `DamagedError`."""
    if len(data) > _MOST_SEALED:
        msg = f"{name} has more than {_MOST_SEALED} bytes"
        raise DamagedError(msg)
    sealed = unseal(data, name)
    if sealed.get("format") != _FORMAT:
        msg = f"{name} is in another format than {_FORMAT}: another version of retarget wrote it"
        raise DamagedError(msg)
    if (sealed.get("kind"), sealed.get("key")) != (kind, key) or not isinstance(sealed.get("body"), dict):
        msg = f"{name} has something else than its name says"
        raise DamagedError(msg)
    body: dict[str, Any] = sealed["body"]
    return body


def _content(path: Path, digest: str) -> bytes | None:
    """Return an artifact's content; None if it has gone, has changed, or is too large."""
    with suppress(OSError):
        if path.stat().st_size <= _MOST_ARTIFACT:
            content = path.read_bytes()
            return content if digest_of(content) == digest else None
    return None
