"""Device leases: configs of different concurrency share a device as the strictest of them says, across processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from retarget.session.run.lease import (
    DeviceLeases,
    Holder,
    Lease,
    LeaseWait,
    WaitNotes,
    current_holder,
    default_lease_folder,
)
from retarget.support.errors import RetargetError
from targets_of_doubles import wait_until

_HOLDER = """
import sys
from pathlib import Path
from retarget.session.run.lease import DeviceLeases, Lease, current_holder
leases = DeviceLeases(Path(sys.argv[1]), current_holder(["/usr/bin/pytest", "suites", "-m", "vulkan or opencl"]))
print("asking", flush=True)
with leases.hold([Lease(physical_id="gpu", device="gpu", concurrency=int(sys.argv[2]))]):
    print("held", flush=True)
    sys.stdin.readline()
print("left", flush=True)
"""


class Process:
    """A process that holds the device `gpu` until it must leave."""

    def __init__(self, folder: Path, concurrency: int) -> None:
        argv = [sys.executable, "-c", _HOLDER, str(folder), str(concurrency)]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "asking"
        self.is_held = threading.Event()
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def _wait(self) -> None:
        if self._line() == "held":
            self.is_held.set()

    def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.process.wait(timeout=600)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.session.run.lease._CALLBACK_SECONDS", 0.02)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[int], Process]]:
    """Start a process that asks for the device, with a concurrency; it has it, unless it has to wait."""
    started: list[Process] = []

    def start_one(concurrency: int) -> Process:
        started.append(Process(tmp_path / "leases", concurrency))
        return started[-1]

    yield start_one
    for process in started:
        process.end()


def leases(folder: Path) -> DeviceLeases:
    return DeviceLeases(folder / "leases", current_holder(["pytest"]))


def gpu(concurrency: int = 1) -> list[Lease]:
    return [Lease(physical_id="gpu", device="vulkan device gpu", concurrency=concurrency)]


class ImpatienceError(Exception):
    """Raised to end a wait."""


def waits(folder: Path, concurrency: int) -> bool:
    """Whether a run of this process has to wait for the device now."""

    def give_up(wait: LeaseWait) -> None:
        raise ImpatienceError

    try:
        with leases(folder).hold(gpu(concurrency), give_up):
            return False
    except ImpatienceError:
        return True


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 2), (2, 1), (1, 9), (9, 1)])
def test_a_config_of_one_run_at_a_time_shares_with_no_config(
    tmp_path: Path, start: Callable[[int], Process], first: int, second: int
) -> None:
    assert start(first).is_held.wait(60)
    assert waits(tmp_path, second)


def test_configs_share_a_device_up_to_the_smallest_of_their_numbers(
    tmp_path: Path, start: Callable[[int], Process]
) -> None:
    assert start(3).is_held.wait(60)
    assert start(2).is_held.wait(60)
    assert waits(tmp_path, 2)
    assert waits(tmp_path, 3)


def test_a_larger_number_is_of_use_where_all_have_it(tmp_path: Path, start: Callable[[int], Process]) -> None:
    for _ in range(2):
        assert start(3).is_held.wait(60)
    assert not waits(tmp_path, 3)
    assert waits(tmp_path, 2)


def test_who_holds_a_device_frees_it_when_it_is_killed(tmp_path: Path, start: Callable[[int], Process]) -> None:
    holder = start(1)
    assert holder.is_held.wait(60)
    holder.end()
    assert not waits(tmp_path, 1)


def test_who_wants_a_device_for_itself_is_passed_by_nobody(tmp_path: Path, start: Callable[[int], Process]) -> None:
    holder = start(2)
    assert holder.is_held.wait(60)
    alone = start(1)
    queue = next((tmp_path / "leases").glob("*.queue"))
    assert wait_until(lambda: is_locked(queue))
    assert waits(tmp_path, 2)
    holder.leave()
    assert alone.is_held.wait(60)


def is_locked(path: Path) -> bool:
    import fcntl

    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_two_devices_are_leased_in_one_order(tmp_path: Path) -> None:
    both = [Lease(physical_id="b", device="b"), Lease(physical_id="a", device="a"), Lease(physical_id="b", device="b")]
    with leases(tmp_path).hold(both):
        locked = [path for path in (tmp_path / "leases").iterdir() if is_locked(path)]
        assert len(locked) == 2
    assert not any(is_locked(path) for path in (tmp_path / "leases").iterdir())


def test_who_waits_for_one_of_two_devices_holds_the_one_before_it(
    tmp_path: Path, start: Callable[[int], Process]
) -> None:
    holder = start(1)
    assert holder.is_held.wait(60)
    other = Lease(physical_id="a", device="a")
    both, waits_for_both = threading.Event(), threading.Event()

    def run() -> None:
        with leases(tmp_path).hold([*gpu(), other], lambda _: waits_for_both.set()):
            both.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert waits_for_both.wait(60)

    def give_up(wait: LeaseWait) -> None:
        raise ImpatienceError

    third = DeviceLeases(tmp_path / "leases", current_holder(["pytest"], session="third"))
    with pytest.raises(ImpatienceError), third.hold([other], give_up):
        pass
    assert not both.is_set()
    holder.leave()
    assert both.wait(60)
    thread.join()


def test_a_user_without_a_name_goes_by_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    assert current_holder(["pytest"]).user == str(os.getuid())


def test_runs_of_one_session_wait_for_one_another_without_a_word(
    tmp_path: Path, start: Callable[[int], Process]
) -> None:
    mine = current_holder(["pytest"], "one")
    with DeviceLeases(tmp_path, mine).hold(gpu()):
        waited: list[LeaseWait] = []
        done = threading.Event()

        def other() -> None:
            try:
                with DeviceLeases(tmp_path, mine).hold(gpu(), waited.append):
                    pass
            finally:
                done.set()

        threading.Thread(target=other, daemon=True).start()
        assert not done.wait(0.2)
    assert done.wait(60)
    assert waited == []


def test_a_line_comes_after_two_seconds_and_once_for_each_holder() -> None:
    lines: list[str] = []
    notes = WaitNotes(lines.append)
    holder = replace(current_holder(["pytest"]), since=9e9)
    for pid, seconds in ((1, 0.5), (1, 2.0), (1, 2.5), (2, 2.0), (1, 2.1)):
        notes(LeaseWait(device="gpu", seconds=seconds, holders=(replace(holder, pid=pid, user="ann"), holder)))
    where = f"of user ann (pytest, in {Path.cwd()}) and 1 more"
    assert lines == [f"waiting for gpu, held for 0 s by pid {pid} {where}" for pid in (1, 2)]


@pytest.mark.parametrize("record", [b"", b"\xff", b"[]", b'{"pid": 1e999}', b"[" * 5000])
def test_a_holder_that_says_nothing_of_itself_is_alone(tmp_path: Path, record: bytes) -> None:
    """Such as one that found the disk full."""
    with leases(tmp_path).hold(gpu(2)):
        next((tmp_path / "leases").glob("*.0")).write_bytes(record)
        done = threading.Event()

        def other() -> None:
            with leases(tmp_path).hold(gpu(2)):
                done.set()

        threading.Thread(target=other, daemon=True).start()
        assert not done.wait(0.1)
    assert done.wait(60)


def test_what_another_user_wrote_cannot_steer_a_terminal(tmp_path: Path) -> None:
    forged = Holder(pid=1, user="\x1b[2J", command="\x1b]0;x\x07", folder="a\nb", session="s", concurrency=1)
    with DeviceLeases(tmp_path / "leases", forged).hold(gpu()):
        texts: list[str] = []

        def note(wait: LeaseWait) -> None:
            texts.append(wait.text)
            raise ImpatienceError

        with pytest.raises(ImpatienceError), leases(tmp_path).hold(gpu(), note):
            pass
    assert "of user ?[2J (?]0;x?, in a?b)" in texts[0]


# ---------------------------------------------------------------- the folder


def test_the_folder_is_for_all_users(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with leases(tmp_path).hold(gpu()):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "leases").stat().st_mode) == 0o1777
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "leases").iterdir()} == {0o666}


def test_the_folder_is_one_for_all_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RETARGET_LEASE_DIR")
    for name in ("RETARGET_CACHE_DIR", "TMPDIR", "XDG_RUNTIME_DIR", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert default_lease_folder() == Path("/", "tmp", "retarget-leases")
    monkeypatch.setenv("RETARGET_LEASE_DIR", "~/leases")
    assert default_lease_folder() == tmp_path / "leases"


def test_a_folder_that_was_deleted_meanwhile_is_created_again(tmp_path: Path) -> None:
    mine = leases(tmp_path)
    with mine.hold(gpu()):
        pass
    for path in (tmp_path / "leases").iterdir():
        path.unlink()
    (tmp_path / "leases").rmdir()
    with mine.hold(gpu()):
        assert sum(is_locked(path) for path in (tmp_path / "leases").iterdir()) == 1


_NEXT = "set RETARGET_LEASE_DIR to a folder that all sessions on this machine share"


@pytest.mark.parametrize("put", ["link", "second name", "fifo", "folder"])
def test_what_others_put_in_a_lock_files_place_is_never_written_to(tmp_path: Path, put: str) -> None:
    with leases(tmp_path).hold(gpu()):
        path = next((tmp_path / "leases").glob("*.0"))
    path.unlink()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    if put == "link":
        path.symlink_to(victim)
    elif put == "second name":
        path.hardlink_to(victim)
    elif put == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()

    with pytest.raises(RetargetError) as caught, leases(tmp_path).hold(gpu()):
        pass
    reason = {"link": "Too many levels of symbolic links", "folder": "Is a directory"}.get(put)
    if reason is None or sys.platform != "linux":
        assert str(path) in str(caught.value)
    else:
        assert str(caught.value) == f"device lease {path} cannot be used: {reason}; " + _NEXT.replace(
            "share", "can write"
        )
    assert victim.read_text() == "precious"


def test_a_link_in_the_folders_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "leases").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RetargetError) as caught, leases(tmp_path).hold(gpu()):
        pass
    found = f"found {tmp_path / 'leases'}, which is not a folder, expected the folder of device leases"
    assert str(caught.value) == f"{found}; remove it, or {_NEXT}"
    assert list((tmp_path / "elsewhere").iterdir()) == []
