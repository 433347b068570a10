"""Which shared store a session uses, from the environment: where it is, whether it is written, how long a request may
take."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from msgspec import Struct

from retarget.support.errors import RetargetError
from retarget.support.files import user_path

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
