"""Regular files, files that are written whole or not at all, and paths that must stay inside a folder;
data files of a suite, up to a limit of their size."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path, PurePosixPath

from msgspec import Struct

from retarget.support.errors import RetargetError, did_you_mean, display_path

UNFINISHED = ".new-"
"""The prefix of the names of files that are being written."""

_NO_LINKS = frozenset({errno.EPERM, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP})
"""The errors of a file system without hard links."""
_LARGEST_READ = 1 << 24
_MOMENT_SECONDS = 1.0
"""Seconds in which a file that was just written may change without new times."""
_SORTS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def user_path(text: str) -> Path:
    """Return a path with the home folder for `~`. Where there is no such user, it stays as it is."""
    return Path(os.path.expanduser(text))  # noqa: PTH111  (Path.expanduser raises RuntimeError)


def below_error(text: str, folder: Path, *, called: str = "", is_there: bool = True) -> str | None:
    """Return what is wrong with a path, of a module's entry too, that is to be below a folder; None if nothing is.

    `called` is how the message names the folder. Unless it `is_there`, nothing need be at the path.
    """
    written = PurePosixPath(text)
    if written.is_absolute() or ".." in written.parts:
        return f"found {text!r}, expected a path below {called or display_path(folder)}"
    # Path.exists raises OSError for a name that is too long.
    if is_there and not os.path.exists(folder / text.partition("::")[0]):  # noqa: PTH110
        return f"found no file or folder {text!r} in {display_path(folder)}"
    return None


def can_be_written(folder: Path) -> bool:
    """Return whether files can be written to a folder, which need not exist yet."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def irregular(path: Path) -> str:
    """Return the kind of a path that is not a regular file or a link to one: `a named pipe`; else empty.

    Nothing is opened. Raises `OSError` for a path where nothing is.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  called for each folder that pytest collects
    except OSError as error:
        if not os.path.islink(path):  # noqa: PTH114  as above
            raise
        if error.errno == errno.ELOOP:
            return "a link to itself"
        return f"a link to {str(path.readlink())!r}, which cannot be followed: {error.strerror or error}"
    if stat.S_ISREG(mode):
        return ""
    return next((what for is_sort, what in _SORTS if is_sort(mode)), "no regular file")


def read_regular(path: Path) -> bytes:
    """Return a regular file's bytes. Raises `OSError`, whose `strerror` says what else was found.

    Reading a named pipe without a writer would block forever.
    """
    if what := irregular(path):
        raise OSError(errno.EINVAL, f"found {what}")
    return read_bytes(path)


def read_bytes(path: str | Path) -> bytes:
    """Return a file's bytes, as `Path.read_bytes` does with twice the system calls. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        data = os.read(descriptor, size + 1)
        if len(data) != size:  # more than one read gives, or of a size that the system does not know
            parts = [data]
            while parts[-1]:
                parts.append(os.read(descriptor, _LARGEST_READ))
            data = b"".join(parts)
        return data
    finally:
        os.close(descriptor)


def files_below(folder: Path) -> Iterator[str]:
    """Yield the files of a tree by their paths in it; a linked folder's too, but no folder's twice."""
    seen = set()
    for root, folders, files in os.walk(folder, followlinks=True):
        status = Path(root).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders.sort()
        above = Path(root).relative_to(folder)
        yield from (str(above / file) for file in files)


def content_digest(path: Path) -> str:
    """Return a digest (SHA-256 hex) of a file's content, read again only if it changes; or why there is none.

    A device or a pipe is `special`: reading it might never end.
    """
    path = path.absolute()
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "special"
        signature = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        is_settled = time.time() - status.st_ctime > _MOMENT_SECONDS
        return (_digest if is_settled else _digest.__wrapped__)(path, signature)
    except FileNotFoundError:
        return "absent"
    except OSError as error:
        return f"unreadable: {error.strerror}"


@cache
def _digest(path: Path, _signature: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write a file to. The file replaces `path` at the end, or is removed on an error.

    Readers see all of `path` or nothing. Raises `OSError`, also for a device or a pipe, which would be gone then.
    """
    with suppress(FileNotFoundError):  # another process may remove it meanwhile
        if path.exists() and not path.is_dir() and (what := irregular(path)):
            raise OSError(errno.EINVAL, f"found {what}, expected a file")
    beside = path.parent / f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(8)}"
    try:
        yield beside
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to `path`, of which readers see all or nothing. Creates the folder. Raises `OSError`."""
    with replacing(path) as beside:
        _write(beside, data)


def write_once(path: Path, data: bytes) -> None:
    """Write `data` to `path` as `write_atomically` does, unless a file is there: it stays, with the locks on it.

    Raises `OSError`.
    """
    beside = path.parent / f"{UNFINISHED}{os.getpid()}-{secrets.token_hex(8)}"
    try:
        _write(beside, data)
        os.link(beside, path)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def write_files(
    files: Iterable[tuple[Path, str | bytes]], *, force: bool = False, remedy: str = "remove what is there"
) -> list[Path]:
    """Write files and their folders: all, or none. Return those written; unchanged ones are left out. Modes stay.

    Raises `RetargetError`, also where files of another content are there, unless `force` replaces them. `remedy` says
    what to do then.
    """
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in files}
    written: list[Path] = []
    differing: list[str] = []
    path = Path()
    try:
        for path, content in contents.items():
            there = read_regular(path) if os.path.lexists(path) else None
            if there != content:
                written.append(path)
                differing += [] if there is None else [display_path(path)]
        if differing and not force:
            msg = f"found {', '.join(differing)}, expected none or the same; {remedy}; nothing was written"
            raise RetargetError(msg)
        with ExitStack() as stack:
            for path in written:
                beside = stack.enter_context(replacing(path))
                _write(beside, contents[path])
                if path.exists():
                    beside.chmod(stat.S_IMODE(path.stat().st_mode))
    except OSError as error:
        msg = f"cannot write {display_path(path)}: {error.strerror or error}; nothing was written"
        raise RetargetError(msg) from error
    return written


class OutsideError(Exception):
    """A path leads outside the folder that it must stay in, to `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"{path} is outside its folder")


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path is inside a folder, with the links of both resolved."""
    return path.resolve().is_relative_to(folder.resolve())


def resolve_inside(path: Path, folder: Path) -> Path:
    """Return `path` with its links resolved; it need not exist.

    Raises `OutsideError`, and `OSError` for what cannot be a path: a cycle of links, a NUL character.
    """
    try:
        real = path.resolve()
    except (ValueError, RuntimeError) as error:
        raise OSError(errno.EINVAL, str(error)) from error
    if not is_inside(real, folder):
        raise OutsideError(real)
    return real


DEFAULT_LIMIT = 1 << 30
"""Bytes that a data file may have, and an array of one once unpacked."""
LIMIT_VARIABLE = "RETARGET_MAX_DATA_BYTES"
"""The environment variable that raises the limit."""


def data_limit() -> int:
    """Return the limit in bytes. Raises `RetargetError` for a variable that is no positive number."""
    written = os.environ.get(LIMIT_VARIABLE)
    if written is None:
        return DEFAULT_LIMIT
    try:
        limit = int(written)
    except ValueError:
        limit = 0
    if limit <= 0:
        msg = (
            f"the environment variable {LIMIT_VARIABLE} is {written!r}, expected a number of bytes, such as 4294967296"
        )
        raise RetargetError(msg)
    return limit


class DataFiles(Struct, frozen=True, kw_only=True):
    """Finds data files. Relative paths start at `base`; none may lie outside `folder`, the suite's."""

    folder: Path
    base: Path

    def path(self, written: str, *, is_large: bool = False) -> Path:
        """Return the existing file that `written` names, links resolved. `is_large`: it is never read as a whole.

        Raises `RetargetError` for a path outside the folder, a missing file, one that is not regular, and one larger
        than `data_limit`, unless it `is_large`.
        """
        try:
            path = resolve_inside(self.base / written, self.folder)
            exists, regular = path.exists(), path.is_file()
            size = path.stat().st_size if regular else 0
        except OutsideError as error:
            msg = (
                f"data file {written} leads to {error.path}, outside the suite's folder {self.folder}; "
                "expected a file inside it: copy it there"
            )
            raise RetargetError(msg) from error
        except OSError as error:  # a cycle of links, a name too long, a NUL
            msg = f"{written!r} is not a path that can be read: {error.strerror or error}"
            raise RetargetError(msg) from error
        if not regular:
            what = "is no regular file" if exists else "does not exist"
            near = "" if exists else did_you_mean(path.name, _neighbours(path.parent))
            msg = f"data file {display_path(path)} {what}{near}"
            raise RetargetError(msg)
        if not is_large and size > data_limit():
            raise too_large(path, size, data_limit())
        return path

    @staticmethod
    def room_error(what: str, size: int) -> str | None:
        """Return why an array of so many bytes is not made in place of one that is read; None if it may be. Raises as
        `data_limit` does."""
        if size <= (limit := data_limit()):
            return None
        hint = f"to make it, set the environment variable {LIMIT_VARIABLE} to {size} or more"
        return f"found {what}, which takes {size} bytes, over the limit of {limit}; {hint}"


def _neighbours(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []


def too_large(path: Path, size: int, limit: int, what: str = "has") -> RetargetError:
    msg = (
        f"data file {display_path(path)} {what} {size} bytes, over the limit of {limit}; "
        f"to read it, set the environment variable {LIMIT_VARIABLE} to {size} or more"
    )
    return RetargetError(msg)
