"""Where the objects of a shared store are: in a folder, or anywhere that fsspec reaches.

Objects are read up to a size, and are seen whole or not at all: the put of an object store is atomic, elsewhere an
object is written beside and renamed.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from retarget.engine.cache.remote.settings import RemoteSettings
from retarget.support.errors import RetargetError
from retarget.support.files import UNFINISHED, irregular, write_atomically
from retarget.support.installing import install_hint

__all__ = ["Objects", "open_objects"]

_ATOMIC = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "ocilake", "oss", "tos", "memory"})
"""The protocols of object stores, in which nobody sees a part of an object."""
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
        """Read what a server sends up to `most`, whatever it says of ranges and sizes."""
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
