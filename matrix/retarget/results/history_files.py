"""Where a history is kept: a folder of this machine, or of any file system that fsspec knows (`s3://bucket/history`).

Each run has its own file, named by its start and a digest of its content, and written atomically. So any number of
writers may add at once, adding a run twice changes nothing, and no file is ever changed or removed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from retarget.results.files import SessionResults
from retarget.results.history import SUFFIX, History, Run, pack, unpack
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import UNFINISHED, read_regular, user_path, write_atomically
from retarget.support.installing import install_hint


def add_run(sessions: Sequence[SessionResults], place: str) -> tuple[Run, bool]:
    """Add the run that `sessions` make to the history in `place`, a folder or a URL; return it, and whether it is new.

    Raises `RetargetError` where the place cannot be written.
    """
    run, content = pack(sessions)
    folder = _opened(place)
    name = f"{run.name}{SUFFIX}"
    try:
        if name in folder.names() and not unpack([(name, "", folder.read(name))]).damaged:
            return run, False
        folder.write(name, content)
    except Exception as error:  # each file system has its own
        msg = f"cannot write the history {place}: {_why(error)}; give a folder that you may write with --to"
        raise RetargetError(msg) from error
    return run, True


def read_history(place: str, *, last: int = 0, now: Sequence[SessionResults] = (), if_any: bool = False) -> History:
    """Read the history in `place`, a folder or a URL: its `last` runs, 0 for all.

    With `now`, the run that these sessions make is the last one, whether it was added or not; later ones are left out.
    A file that cannot be read is named in `History.damaged`, the others are read. Raises `RetargetError` where there is
    no such folder, or no run in it, but not with `if_any`.
    """
    folder = _opened(place)
    next_step = f"`retarget history add RESULTS --to {place}` writes one"
    try:
        names = sorted(name for name in folder.names() if name.endswith(SUFFIX) and not name.startswith(UNFINISHED))
    except Exception as error:  # as above
        msg = f"cannot read the history {place}: {_why(error)}"
        raise RetargetError(msg) from error
    if not names and not if_any:
        msg = f"{place}: found no history, expected files {'*' + SUFFIX!r}; {next_step}"
        raise RetargetError(msg)
    if not now:
        return unpack(_read(folder, names[-last:]))
    run, content = pack(now)
    until = [name for name in names if name.partition("-")[0] <= run.name.partition("-")[0]]
    return unpack([*_read(folder, until[-last:]), (run.name, "", content)])


def _read(folder: _Folder, names: Sequence[str]) -> Iterator[tuple[str, str, bytes | str]]:
    for name in names:
        content: bytes | str
        try:
            content = folder.read(name)
        except Exception as error:  # as above
            content = f"cannot read it: {_why(error)}"
        yield name.removesuffix(SUFFIX), folder.shown(name), content


def _why(error: Exception) -> str:
    strerror = getattr(error, "strerror", None)
    return str(strerror or error or type(error).__name__)


class _Folder(Protocol):
    """Names of files, without folders; none where the folder is not there yet."""

    def names(self) -> list[str]: ...

    def read(self, name: str) -> bytes: ...

    def write(self, name: str, content: bytes) -> None: ...

    def shown(self, name: str) -> str: ...


class _Local:
    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        try:
            return [path.name for path in self._path.iterdir()]
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        return read_regular(self._path / name)

    def write(self, name: str, content: bytes) -> None:
        write_atomically(self._path / name, content)

    def shown(self, name: str) -> str:
        return display_path(self._path / name)


class _Remote:
    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            msg = f"the history {url} needs the package fsspec; {install_hint('history')}"
            raise RetargetError(msg) from error
        try:
            self._system: Any
            self._system, self._path = fsspec.core.url_to_fs(url)
        except Exception as error:  # no such protocol, a package of it is missing, or the URL is none of it
            msg = f"cannot open the history {url}: {error}; expected a folder, or a URL that fsspec can open"
            raise RetargetError(msg) from error
        self._url = url.rstrip("/")

    def names(self) -> list[str]:
        self._system.invalidate_cache()
        try:
            return [path.rpartition("/")[2] for path in self._system.ls(self._path, detail=False)]
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        content: bytes = self._system.cat_file(f"{self._path}/{name}")
        return content

    def write(self, name: str, content: bytes) -> None:
        self._system.makedirs(self._path, exist_ok=True)
        self._system.pipe_file(f"{self._path}/{name}", content)

    def shown(self, name: str) -> str:
        return f"{self._url}/{name}"


def _opened(place: str) -> _Folder:
    if not place:
        msg = "found an empty text, expected the folder or URL of a history"
        raise RetargetError(msg)
    scheme, separator, rest = place.partition("://")
    if separator and scheme != "file":
        return _Remote(place)
    return _Local(user_path(rest if separator else place))
