"""Device leases between processes and users: a limit on the runs at a time per physical device, whoever starts them.

A device has a queue and numbered slots, each a file that is locked with flock. A run locks the queue, looks who has
slots, waits there until it may have one too, takes the lowest that is free, and leaves the queue. A slot's file says
who has it, and how many runs at a time its holder admits: no more runs share a device than each of them admits. Later
runs wait for the queue, so that a run that wants the device for itself gets it when those before it are done.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import shlex
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from retarget.support.errors import RetargetError
from retarget.support.files import user_path
from retarget.support.text import printable

_QUEUE_PAUSE = 0.002
"""Seconds between two looks at the queue. The same for all: a run that polled less and less often would starve."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0001, 0.005
"""Seconds between two looks at the slots, by the first run in the queue: an eighth of what it has waited."""

PATIENCE = 2.0
"""Seconds of waiting before anything is shown."""

_CALLBACK_SECONDS = 0.5
_LONGEST_TEXT = 1000
_LARGEST_RECORD = 32 * _LONGEST_TEXT


class Lease(Struct, frozen=True, kw_only=True):
    """A run's need: a slot of a physical device that it shares with at most `concurrency - 1` others.

    `device` is what the device is called, for people.
    """

    physical_id: str
    device: str
    concurrency: int = 1


class Holder(Struct, frozen=True, kw_only=True):
    """The holder of a slot. `since` is in seconds of the wall clock; `session` is equal for the processes of one
    session."""

    pid: int
    user: str
    command: str
    folder: str
    session: str
    concurrency: int = 1
    since: float = 0.0


msgspec.json.Decoder(Holder)
"""As in `retarget.session.cache.sealed_files`: several threads of a cluster's worker may read slots."""


class LeaseWait(Struct, frozen=True, kw_only=True):
    """A wait in progress: for what, for how many seconds, and who has the device. The holders' text may be another
    user's: it has no control characters."""

    device: str
    seconds: float
    holders: tuple[Holder, ...]

    @property
    def text(self) -> str:
        """The message for people: `waiting for vulkan device llvmpipe, held for 12 s by pid 1234 (pytest, in
        /home/u)`."""
        first, *others = self.holders
        user = "" if first.user == _user() else f" of user {first.user}"
        held = max(0.0, time.time() - first.since)
        more = f" and {len(others)} more" if others else ""
        by = f"pid {first.pid}{user} ({first.command}, in {first.folder}){more}"
        return f"waiting for {self.device}, held for {held:.0f} s by {by}"


OnLeaseWait = Callable[[LeaseWait], None]


def current_holder(command: Sequence[str], session: str = "") -> Holder:
    """Return this process as the holder of leases. Processes that work together have one `session`."""
    pid = os.getpid()
    program = Path(command[0]) if command else Path()
    name = program.parent.name if program.name == "__main__.py" else program.name
    text = shlex.join([name, *command[1:]])
    return Holder(
        pid=pid,
        user=printable(_user()),
        command=printable(text[:_LONGEST_TEXT]),
        folder=printable(_current_folder()),  # JSON has no bytes that are no text
        session=session or f"{os.uname().nodename} {pid}",
    )


class WaitNotes:
    """Writes a line on a wait that has lasted for two seconds; one for each holder of a device."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._written: set[tuple[str, int]] = set()

    def __call__(self, wait: LeaseWait) -> None:
        """Implements `OnLeaseWait`."""
        key = (wait.device, wait.holders[0].pid)
        if wait.seconds >= PATIENCE and key not in self._written:
            self._written.add(key)
            self._write(wait.text)


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's user without a name
        return str(os.getuid())


def _current_folder() -> str:
    try:
        return str(Path.cwd())[:_LONGEST_TEXT]
    except OSError:  # deleted meanwhile
        return ""


class DeviceLeases:
    """Leases in one folder. To be used from one thread, and closed.

    Several devices are leased in an order that is the same for everyone, so that two runs cannot wait for one another.
    """

    def __init__(self, folder: Path, holder: Holder) -> None:
        self._folder = folder
        self._holder = holder
        self._devices: dict[str, _Device] = {}

    @contextmanager
    def hold(self, leases: Iterable[Lease], on_wait: OnLeaseWait | None = None) -> Iterator[tuple[int, ...]]:
        """Hold a slot of each device; wait for it as long as it takes.

        Gives the descriptors of the locked files: a process that has them open holds the slots, too. `on_wait` is
        called twice a second while another session has a device. Raises `RetargetError` if the folder cannot be used.
        """
        wanted: dict[str, Lease] = {}
        for lease in leases:
            known = wanted.get(lease.physical_id)
            if known is None or lease.concurrency < known.concurrency:
                wanted[lease.physical_id] = lease
        start, slots = time.monotonic(), []
        with ExitStack() as held:
            for _, lease in sorted(wanted.items()):
                slots.append(slot := self._acquire(lease, on_wait, start))
                held.callback(_release, slot)
            yield tuple(slot.descriptor for slot in slots)

    def hold_at_once(self, leases: Sequence[Lease], held: ExitStack) -> tuple[int, ...] | None:
        """Hold a slot of a device until a stack is closed; None where others have it or wait for it, or where there are
        several devices. Gives and raises what `hold` does."""
        if len(leases) > 1:
            return None
        for lease in leases:
            if (slot := self._acquire_at_once(lease)) is None:
                return None
            held.callback(_release, slot)
            return (slot.descriptor,)
        return ()

    def close(self) -> None:
        """Close all files, which frees what is held."""
        for device in self._devices.values():
            device.close()
        self._devices.clear()

    def _device(self, physical_id: str) -> _Device:
        if physical_id not in self._devices:
            create_lease_folder(self._folder)
            self._devices[physical_id] = _Device(self._folder, physical_id)
        return self._devices[physical_id]

    def _acquire_at_once(self, lease: Lease) -> LockFile | None:
        """Take a slot of a device for which nobody waits, if there is one."""
        device = self._device(lease.physical_id)
        if not device.queue.try_lock():
            return None
        try:
            if (slot := device.take(lease.concurrency)) is not None:
                self._sign(slot, lease)
            return slot
        finally:
            device.queue.unlock()

    def _sign(self, slot: LockFile, lease: Lease) -> None:
        slot.write(msgspec.json.encode(replace(self._holder, concurrency=lease.concurrency, since=time.time())))

    def _acquire(self, lease: Lease, on_wait: OnLeaseWait | None, start: float) -> LockFile:
        """Wait for a slot of a device and take it. `start` is when the wait began, by the monotonic clock."""
        device = self._device(lease.physical_id)
        came = time.monotonic()
        due = came + _CALLBACK_SECONDS

        def pause(seconds: float, holders: Callable[[], tuple[Holder, ...]]) -> None:
            nonlocal due
            now = time.monotonic()
            if on_wait is not None and now >= due:
                due = now + _CALLBACK_SECONDS
                others = tuple(holder for holder in holders() if holder.session != self._holder.session)
                if others:
                    on_wait(LeaseWait(device=lease.device, seconds=now - start, holders=others))
            time.sleep(seconds)

        while not device.queue.try_lock():
            pause(_QUEUE_PAUSE, device.holders)
        try:
            while (slot := device.take(lease.concurrency)) is None:
                waited = time.monotonic() - came
                pause(min(max(waited / 8, _FIRST_PAUSE), _LONGEST_PAUSE), device.holders)
            self._sign(slot, lease)
            return slot
        finally:
            device.queue.unlock()


class _Device:
    """The files of one device: its queue, and as many slots as were ever used at a time."""

    def __init__(self, folder: Path, physical_id: str) -> None:
        self._folder = folder
        self._name = hashlib.sha256(physical_id.encode()).hexdigest()[:32]
        self._slots: list[LockFile] = []
        self.queue = LockFile(folder / f"{self._name}.queue")

    def take(self, concurrency: int) -> LockFile | None:
        """Lock the lowest free slot, if all holders admit one more run.

        Call it while holding the queue: no other process locks a slot meanwhile.
        """
        free: LockFile | None = None
        busy, admitted = 0, concurrency
        number = 0
        while (is_free := self._slot(number).try_lock(create=False)) is not None:
            slot = self._slot(number)
            if not is_free:
                holder = _read(slot)
                busy, admitted = busy + 1, min(admitted, holder.concurrency if holder is not None else 1)
            elif free is None:
                free = slot
            else:
                slot.unlock()
            number += 1
        if busy >= admitted:
            if free is not None:
                free.unlock()
            return None
        if free is None:
            free = self._slot(number)
            free.try_lock(create=True)
        return free

    def holders(self) -> tuple[Holder, ...]:
        """Return who has slots, without locking any."""
        found = []
        number = 0
        while (slot := self._slot(number)).exists():
            if (holder := _read(slot)) is not None:
                found.append(holder)
            number += 1
        return tuple(found)

    def close(self) -> None:
        for file in (self.queue, *self._slots):
            file.close()

    def _slot(self, number: int) -> LockFile:
        if number == len(self._slots):
            self._slots.append(LockFile(self._folder / f"{self._name}.{number}"))
        return self._slots[number]


def _release(slot: LockFile) -> None:
    slot.write(b"")
    slot.unlock()


def _read(slot: LockFile) -> Holder | None:
    return parse_holder(slot.read(_LARGEST_RECORD))


def parse_holder(text: bytes) -> Holder | None:
    """Return what a slot says of its holder; None where it says nothing valid."""
    try:
        found = msgspec.json.decode(text, type=Holder)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    texts = {name: printable(getattr(found, name)[:_LONGEST_TEXT]) for name in ("user", "command", "folder")}
    return replace(found, **texts, concurrency=max(1, found.concurrency))


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

        Creation is a separate step: in a folder like /tmp, Linux refuses O_CREAT for another user's file.
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
