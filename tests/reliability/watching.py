"""Watches what a reader does with one input: which paths it opens, how long it takes, and how much memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["CPU_SECONDS", "MEMORY_BYTES", "TooLong", "Watch"]

CPU_SECONDS = 5.0
"""Seconds of the processor that one input may take, on a machine that does other work."""

MEMORY_BYTES = 512 * 1024**2
"""Address space that a process may take beyond what it has when all is imported."""

_PATHS = {
    "open": 1, "os.mkdir": 1, "os.rename": 2, "os.remove": 1, "os.rmdir": 1, "os.symlink": 2, "os.link": 2,
    "os.chmod": 1, "os.utime": 1, "os.truncate": 1, "os.listdir": 1, "os.scandir": 1, "shutil.rmtree": 1,
    "tempfile.mkstemp": 1, "tempfile.mkdtemp": 1,
}  # fmt: skip
"""Audit events, and how many of their first arguments are paths."""

_FORBIDDEN = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.connect",
    "pickle.find_class",
}


class TooLong(BaseException):
    """An input took longer than `CPU_SECONDS`."""


class Watch:
    """Of this process, from the first use until its end: an audit hook cannot be removed."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the one that readers may use. Python's own files, and those of this checkout, may be read."""
        self._folder = f"{folder.resolve()}/"
        sys.dont_write_bytecode = True  # of what is imported late
        code = [sys.prefix, sys.base_prefix, Path(__file__).parents[2], *filter(None, [sys.pycache_prefix])]
        self._code = tuple(f"{Path(one).resolve()}/" for one in code)
        self._found: list[str] | None = None
        sys.addaudithook(self._hook)
        signal.signal(signal.SIGPROF, _too_long)

    @contextmanager
    def input(self) -> Iterator[Callable[[], list[str]]]:
        """Watch one input. Yields a function that returns what was touched outside the folder."""
        found: list[str] = []
        self._found = found
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        try:
            yield lambda: found
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._found = None

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._found is None:
            return
        if event in _FORBIDDEN:
            self._found.append(f"{event} {arguments[:2]!r}")
        for path in arguments[: _PATHS.get(event, 0)]:
            if isinstance(path, str | bytes | os.PathLike):
                self._path(event, os.fsdecode(path), arguments)

    def _path(self, event: str, path: str, arguments: tuple[object, ...]) -> None:
        found, self._found = self._found, None  # what follows is not the reader's
        try:
            real = f"{os.path.realpath(path)}/"
        except ValueError:  # a NUL: it is refused
            return
        finally:
            self._found = found
        writes = event not in {"open", "os.listdir", "os.scandir"} or (
            event == "open" and bool(int(arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))  # type: ignore[call-overload]
        )
        if found is None or real.startswith(self._folder) or (not writes and real.startswith(self._code)):
            return
        found.append(f"{event} {real[:-1]}{' for writing' if writes else ''}")


def bound_memory() -> None:
    """Let this process take no more than `MEMORY_BYTES` from now on."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _too_long(number: int, frame: object) -> None:
    raise TooLong
