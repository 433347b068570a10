"""The objects of a shared store, in a folder or wherever fsspec reaches. Requests take a bounded time.

Reads are limited in size. Readers see a whole object or none: the put of an object store is atomic; in a folder, an
object is written to a temporary file and renamed.
"""

from __future__ import annotations

import math
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from retarget.support.errors import RetargetError, install_hint
from retarget.support.files import UNFINISHED, irregular, user_path, write_atomically
from retarget.support.text import first_line

_ATOMIC = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "ocilake", "oss", "tos", "memory"})
"""The protocols of object stores, whose put is atomic."""
_WEB = frozenset({"http", "https"})


class Objects(Protocol):
    """Objects by name (`v1/entries/ab/abc…`). Any method may raise anything that a file system raises."""

    def read(self, name: str, most: int) -> bytes:
        """Return an object; of one that is longer than `most` bytes the first `most + 1`. Raises `FileNotFoundError`
        where there is none."""
        ...

    def write(self, objects: Mapping[str, bytes]) -> None:
        """Write objects, several at a time where that is faster."""
        ...


def open_objects(settings: RemoteSettings) -> Objects:
    """Open a store. Raises `RetargetError` where it is not there or a package is missing."""
    return _Folder(settings.folder) if settings.folder is not None else _Remote(settings.url)


class _Folder:
    def __init__(self, path: Path) -> None:
        if not path.is_dir():  # it is not created: it may be a mount that is missing
            msg = f"there is no folder {path}: create it, or mount what it is on"
            raise RetargetError(msg)
        self._path = path

    def read(self, name: str, most: int) -> bytes:
        path = self._path / name
        if what := irregular(path):
            msg = f"{path} is {what}"
            raise OSError(msg)
        with path.open("rb") as stream:
            return stream.read(most + 1)

    def write(self, objects: Mapping[str, bytes]) -> None:
        if not self._path.is_dir():
            msg = f"the folder {self._path} has gone"
            raise RetargetError(msg)
        for name, content in objects.items():
            write_atomically(self._path / name, content)


class _Remote:
    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            msg = f"it needs the package fsspec; {install_hint('store')}"
            raise RetargetError(msg) from error
        self._scheme = url.partition("://")[0].lower()
        self._query = ""
        options: dict[str, Any] = {}
        if self._scheme in _WEB:
            parts = urlsplit(url)
            self._query = f"?{parts.query}" if parts.query else ""
            url = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
            options = {"client_kwargs": {"trust_env": True}}  # proxies
        self._system: Any
        self._system, self._path = fsspec.core.url_to_fs(url, skip_instance_cache=True, **options)

    def read(self, name: str, most: int) -> bytes:
        path = f"{self._path}/{name}{self._query}"
        if self._scheme in _WEB:
            return self._stream(path, most)
        try:
            content: bytes = self._system.cat_file(path, start=0, end=most + 1)
        except FileNotFoundError as error:
            if "bucket does not exist" in str(error):
                raise RetargetError(str(error)) from error
            raise
        except OSError as error:
            if "range" in str(error).lower():  # an object without content has no first byte
                return b""
            raise
        return content

    def _stream(self, path: str, most: int) -> bytes:
        """Read at most `most` bytes of a response, whatever sizes the server claims."""
        content = bytearray()
        with self._system.open(path, "rb", block_size=0, size=1) as stream:
            while len(content) <= most and (more := stream.read(most + 1 - len(content))):
                content += more
        return bytes(content)

    def write(self, objects: Mapping[str, bytes]) -> None:
        try:
            self._write({f"{self._path}/{name}": content for name, content in objects.items()})
        except FileNotFoundError as error:  # no such bucket
            raise RetargetError(str(error)) from error

    def _write(self, objects: Mapping[str, bytes]) -> None:
        if self._scheme in _ATOMIC:
            self._system.pipe(objects)
            return
        for path, content in objects.items():
            folder, _, _ = path.rpartition("/")
            beside = f"{folder}/{UNFINISHED}{secrets.token_hex(8)}"
            self._system.makedirs(folder, exist_ok=True)
            try:
                self._system.pipe_file(beside, content)
                self._system.mv(beside, path)
            except BaseException:
                with suppress(Exception):
                    self._system.rm_file(beside)
                raise


T = TypeVar("T")

_BYTES_PER_SECOND = 1 << 20
"""The minimum transfer rate."""
_PROMPT_SECONDS = 0.5
"""A request that takes longer counts as lost time."""
_MOST_FAILURES = 3
"""In succession."""
_DIGEST = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{56}\b")


class LeftOutError(Exception):
    """A request failed, for the reason that this says, or was not made."""


class Guard:
    """Makes requests of one kind to one store. Safe from several threads.

    A request that hangs is abandoned in its thread. After three consecutive failures, or once requests have lost three
    times the time limit in all, no more are made.
    """

    def __init__(self, seconds: float) -> None:
        """A small request may take `seconds`."""
        self._seconds = seconds
        self._lock = threading.Lock()
        self._waiting: set[Future[Any]] = set()
        self._closed = False
        self._failures = 0
        self._lost = 0.0
        self._reason = ""

    def call(self, request: Callable[[], T], *, size: int = 0, patience: float = 0.0) -> T:
        """Make a request that moves `size` bytes, and may take `patience` seconds more than others.

        Raises `LeftOutError`, or `FileNotFoundError` where the request does.
        """
        expected = patience + size / _BYTES_PER_SECOND
        if self.is_open:
            raise LeftOutError
        start, limit = time.monotonic(), self._seconds + expected
        future: Future[T] = Future()
        with self._lock:
            self._waiting.add(future)
        threading.Thread(target=_do, args=(request, future), name="retarget-remote-store", daemon=True).start()
        try:
            result = future.result(limit)
        except FileNotFoundError:
            self._succeeded(time.monotonic() - start - expected)
            raise
        except LeftOutError:  # closed
            raise
        except Exception as error:
            raise LeftOutError(self._failed(error, time.monotonic() - start, limit)) from error
        finally:
            with self._lock:
                self._waiting.discard(future)
        self._succeeded(time.monotonic() - start - expected)
        return result

    @property
    def is_open(self) -> bool:
        """Whether no more requests are made."""
        with self._lock:
            return self._closed or bool(self._reason)

    @property
    def note(self) -> str:
        """Why no more requests are made, other than by `close`; empty if they are."""
        with self._lock:
            return self._reason

    def close(self) -> None:
        """Make no more requests, and wait for none."""
        with self._lock:
            self._closed = True
            waiting = list(self._waiting)
        for future in waiting:
            with suppress(InvalidStateError):
                future.set_exception(LeftOutError())

    def _succeeded(self, seconds: float) -> None:
        with self._lock:
            self._failures = 0
            self._lose(seconds, f"its answers took {self._lost + seconds:.0f} s longer than they should")

    def _failed(self, error: Exception, seconds: float, limit: float) -> str:
        text = _DIGEST.sub(r"\1…", first_line(without_secrets(str(error))))[:300] or type(error).__name__
        if isinstance(error, TimeoutError):
            check = f"check network and server, or set {TIMEOUT_VARIABLE} higher"
            text = f"no good answer came within {min(seconds, limit):.1f} s; {check}"  # noticed later on a busy machine
        elif isinstance(error, PermissionError):
            text += "; check the credentials (they must allow to list, too: if not, what is absent is forbidden)"
        with self._lock:
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                self._reason = self._reason or text
            self._lose(seconds, text)
        return text

    def _lose(self, seconds: float, reason: str) -> None:
        self._lost += max(0.0, seconds - _PROMPT_SECONDS)
        if self._lost > _MOST_FAILURES * self._seconds:
            self._reason = self._reason or reason


def _do(request: Callable[[], T], future: Future[T]) -> None:
    try:
        result = request()
    except BaseException as error:
        with suppress(InvalidStateError):
            future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))
    else:
        with suppress(InvalidStateError):
            future.set_result(result)


URL_VARIABLE = "RETARGET_REMOTE_STORE"
MODE_VARIABLE = "RETARGET_REMOTE_STORE_MODE"
TIMEOUT_VARIABLE = "RETARGET_REMOTE_STORE_TIMEOUT"

_REQUEST_SECONDS = 10.0
_MODES = ("read", "read-write")
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*(?:::|://))", re.ASCII | re.IGNORECASE)
_SECRETS = re.compile(r"//[^/\s]*@|\?[^\s'\"]*")


class RemoteSettings(Struct, frozen=True, kw_only=True):
    """A shared store. `folder` is where it is on this machine; None for a URL. A small request may take `seconds`."""

    url: str
    folder: Path | None = None
    writes: bool = True
    seconds: float = _REQUEST_SECONDS

    @property
    def shown(self) -> str:
        """Where it is, for messages: without the user, the password and the query of a URL."""
        return without_secrets(self.url)


def remote_settings() -> RemoteSettings | None:
    """Return what the environment says; None where it names no shared store. Raises `RetargetError` for what is no
    URL, mode or time."""
    url = os.environ.get(URL_VARIABLE, "").strip()
    mode = os.environ.get(MODE_VARIABLE, "").strip()
    if mode and mode not in _MODES:
        msg = f"found {MODE_VARIABLE}={mode!r}, expected 'read' or 'read-write'"
        raise RetargetError(msg)
    seconds = _seconds(os.environ.get(TIMEOUT_VARIABLE, ""))
    if not url:
        return None
    scheme, separator, rest = url.partition("://")
    is_folder = scheme.lower() == "file" if separator else not _URL.match(url)
    path = user_path(rest if separator else url) if is_folder else None
    if path is not None and not path.is_absolute():
        expected = "expected a URL such as s3://bucket/folder, or the absolute path of a folder"
        msg = f"found {URL_VARIABLE}={without_secrets(url)!r}, {expected}"
        raise RetargetError(msg)
    is_web = scheme.lower() in {"http", "https"}
    if is_web and mode == "read-write":
        msg = f"found {MODE_VARIABLE}=read-write, but the store {without_secrets(url)} can only be read: leave it out"
        raise RetargetError(msg)
    return RemoteSettings(url=url.rstrip("/"), folder=path, writes=mode != "read" and not is_web, seconds=seconds)


def without_secrets(text: str) -> str:
    """Return `text` without what may be a secret in its URLs: user and password, and queries."""
    return _SECRETS.sub(lambda found: "//***@" if found[0].endswith("@") else "?***", text)


def _seconds(written: str) -> float:
    try:
        seconds = float(written) if written else _REQUEST_SECONDS
    except ValueError:
        seconds = 0.0
    if not (seconds > 0 and math.isfinite(seconds)):
        msg = f"found {TIMEOUT_VARIABLE}={written!r}, expected a number of seconds above 0, such as 10 or 2.5"
        raise RetargetError(msg)
    return seconds
