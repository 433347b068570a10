"""The per-machine folder of device leases, which sessions of all users share, and files in it that are safe to open.

Anyone may write to the folder, as to /tmp: what is found in it is checked before it is used, and its text is not
trusted. Nobody can make a session write to a file outside it; who wants to keep others from a device can.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from retarget.support.errors import RetargetError
from retarget.support.files import user_path

__all__ = ["LEASE_FOLDER_VARIABLE", "LockFile", "create_lease_folder", "default_lease_folder"]

LEASE_FOLDER_VARIABLE = "RETARGET_LEASE_DIR"

_DEFAULT_FOLDER = "/tmp/retarget-leases"  # noqa: S108  (one for all users: neither TMPDIR nor XDG_RUNTIME_DIR is)
_FOLDER_MODE = 0o1777
_FILE_MODE = 0o666
_OPEN_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO in the way must not block


def default_lease_folder() -> Path:
    """Return the folder: `RETARGET_LEASE_DIR`, else one below /tmp. It need not exist."""
    given = os.environ.get(LEASE_FOLDER_VARIABLE)
    return user_path(given).resolve() if given else Path(_DEFAULT_FOLDER)


def create_lease_folder(folder: Path) -> None:
    """Create the folder for all users, if it is not there.

    Raises `RetargetError` if it cannot be created, or is no folder: a link there may be another user's.
    """
    try:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if not stat.S_ISDIR(folder.lstat().st_mode):
                msg = f"found {folder}, which is not a folder, expected the folder of device leases; {_NEXT}"
                raise RetargetError(msg) from None
        else:
            folder.chmod(_FOLDER_MODE)  # the umask has cut mkdir's mode
    except OSError as error:
        raise _unusable(folder, error) from error


class LockFile:
    """A file of the folder that is locked with flock, which the kernel frees when its holder dies.

    It is opened when it is first locked, and again when somebody has deleted it.
    """

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    @property
    def descriptor(self) -> int:
        """The descriptor of the open file; negative where it is closed."""
        return self._descriptor

    def exists(self) -> bool:
        """Return whether the file is there. Raises `RetargetError` if it is there and cannot be opened."""
        return self._is_current() or self._open(create=False)

    def try_lock(self, *, create: bool = True) -> bool | None:
        """Lock the file; False if another process has locked it, None if it is not there and not to be created.

        Raises `RetargetError` if it cannot be opened or locked.
        """
        while True:
            if self._descriptor < 0 and not self._open(create=create):
                return None
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._is_current():
                    return False
            except OSError as error:
                raise _unusable(self._path, error) from error
            else:
                if self._is_current():
                    return True
            self.close()

    def unlock(self) -> None:
        """Let others lock the file."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def read(self, size: int) -> bytes:
        """Return the first `size` bytes; nothing where they cannot be read."""
        try:
            return os.pread(self._descriptor, size, 0)
        except OSError:
            return b""

    def write(self, content: bytes) -> None:
        """Replace the content; a failure, such as a full disk, is ignored."""
        try:
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))
        except OSError:
            return

    def close(self) -> None:
        """Close the file, which frees its lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _is_current(self) -> bool:
        """Whether the open file is still the one of that name."""
        if self._descriptor < 0:
            return False
        try:
            named = self._path.lstat()
        except OSError:
            return False
        opened = os.fstat(self._descriptor)
        return (named.st_ino, named.st_dev) == (opened.st_ino, opened.st_dev)

    def _open(self, *, create: bool) -> bool:
        """Open the file; False if it is not there and not to be created.

        Creation is a step of its own: in a folder like /tmp, Linux refuses O_CREAT for another user's file.
        """
        self.close()
        while self._descriptor < 0:
            try:
                self._take(os.open(self._path, _OPEN_FLAGS))
            except FileNotFoundError:
                if not create:
                    return False
                self._create()
            except OSError as error:
                raise _unusable(self._path, error) from error
        return True

    def _create(self) -> None:
        try:
            descriptor = os.open(self._path, _OPEN_FLAGS | os.O_CREAT | os.O_EXCL, _FILE_MODE)
        except FileExistsError:
            return  # another process was faster
        except FileNotFoundError:
            create_lease_folder(self._path.parent)
        except OSError as error:
            raise _unusable(self._path, error) from error
        else:
            os.fchmod(descriptor, _FILE_MODE)  # the umask has cut the mode
            self._take(descriptor)

    def _take(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            os.close(descriptor)
            msg = f"found {self._path}, which is not a file with one name, expected a device lease; {_NEXT}"
            raise RetargetError(msg)
        self._descriptor = descriptor


_NEXT = f"remove it, or set {LEASE_FOLDER_VARIABLE} to a folder that all sessions on this machine share"


def _unusable(path: Path, error: OSError) -> RetargetError:
    reason = error.strerror or str(error)
    return RetargetError(
        f"device lease {path} cannot be used: {reason}; "
        f"set {LEASE_FOLDER_VARIABLE} to a folder that all sessions on this machine can write"
    )
