"""Leases of the devices of hosts: one session at a time, whoever it is of; a dead one's are free."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from retarget.extension import UnavailableError
from retarget.model import Host
from retarget.session.run import host_leases
from retarget.session.run.host_leases import HostLeases
from retarget.session.run.lease import Holder, Lease, LeaseWait
from ssh_server import SshServer, local_host

LEASE = Lease(physical_id="command sh -c {command} gpu-1", device="vulkan device X of host 'here'")


def holder(name: str) -> Holder:
    return Holder(pid=1, user=name, command="pytest", folder="/home/é \\n", session=name)


class Other(threading.Thread):
    """Another session that wants a device."""

    def __init__(self, host: Host, lease: Lease = LEASE) -> None:
        super().__init__(daemon=True)
        self.host, self.lease = host, lease
        self.has_waited, self.has_it = threading.Event(), threading.Event()
        self.waits: list[LeaseWait] = []
        self.start()

    def run(self) -> None:
        with closing(HostLeases(holder("other"))) as leases, leases.hold(self.host, [self.lease], self._waits):
            self.has_it.set()

    def _waits(self, wait: LeaseWait) -> None:
        self.waits.append(wait)
        if len(self.waits) > 3:
            self.has_waited.set()


def test_a_session_waits_for_another_and_says_who_has_the_device(tmp_path: Path) -> None:
    host = local_host(tmp_path)
    with closing(HostLeases(holder("first"))) as leases:
        for _ in range(2):  # it was given back
            with leases.hold(host, [LEASE]):
                pass
        with leases.hold(host, [LEASE]):
            other = Other(host)
            assert other.has_waited.wait(20)
            assert not other.has_it.is_set()
        assert other.has_it.wait(20)
    other.join(20)
    wait = other.waits[-1]
    assert (wait.device, wait.holders[0].user, wait.holders[0].folder) == (LEASE.device, "first", "/home/é \\n")
    (left,) = (tmp_path / "host leases").iterdir()  # no more of them, however often it is taken
    assert left.name.endswith("-0.4")


def test_the_host_gives_back_what_a_killed_session_had(tmp_path: Path) -> None:
    host = local_host(tmp_path, run=("sh", "-c", 'cat | sh -c "$0"', "{command}"))
    with closing(HostLeases(holder("first"))) as leases, leases.hold(host, [LEASE]):
        other = Other(host)
        assert other.has_waited.wait(20)
        held = leases._hosts[host]
        held._connection.close()  # its standard input ends, as where the connection does
        assert other.has_it.wait(20)
        other.join(20)


def test_a_lease_that_is_held_beats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_leases, "BEAT_SECONDS", 0.01)
    beats: set[str] = set()
    with closing(HostLeases(holder("first"))) as leases, leases.hold(local_host(tmp_path), [LEASE]):
        end = time.monotonic() + 60
        while len(beats) < 3 and time.monotonic() < end:
            beats |= {one.name for one in (tmp_path / "host leases").glob("*/beat.*")}
    assert len(beats) >= 3


@pytest.mark.slow
def test_a_lease_without_a_beat_is_that_of_a_dead_session_and_one_with_beats_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_leases, "STALE_SECONDS", 1.0)
    monkeypatch.setattr(host_leases, "BEAT_SECONDS", 0.05)
    host = local_host(tmp_path)
    with closing(HostLeases(holder("first"))) as leases:
        with leases.hold(host, [LEASE]):
            pass
        (last,) = (tmp_path / "host leases").iterdir()
        dead = last.with_name(last.name.replace("-0.1", "-0.7"))
        dead.mkdir()
        (dead / "owner").write_text(json.dumps({"pid": 1}))
        (dead / "beat.3").touch()
        with leases.hold(host, [LEASE]):
            other = Other(host)
            while not any(wait.seconds > 1.5 for wait in other.waits):
                other.join(0.05)
            assert not other.has_it.is_set()
        assert other.has_it.wait(20)
        other.join(20)


def test_a_folder_without_permission_is_a_reason_to_skip(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    host = local_host(tmp_path, lease_folder=str(tmp_path / "file" / "leases"))
    leases = HostLeases(holder("first"))
    with closing(leases), pytest.raises(UnavailableError) as error, leases.hold(host, [LEASE]):
        pass
    assert str(error.value).startswith(f"host 'here': no lease can be taken in {tmp_path}/file/leases: mkdir: ")
    assert error.value.hint == "`lease_folder` of the [[host]] names another folder"


@pytest.mark.needs_sshd
def test_over_ssh_a_connection_that_is_killed_gives_its_lease_back(ssh_server: SshServer, tmp_path: Path) -> None:
    host = ssh_server.host(tmp_path)
    with closing(HostLeases(holder("first"))) as leases, leases.hold(host, [LEASE]):
        other = Other(host)
        assert other.has_waited.wait(20)
        leases._hosts[host]._connection._process.kill()
        assert other.has_it.wait(20)
        other.join(20)
