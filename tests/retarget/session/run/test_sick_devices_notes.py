"""What sessions on a machine tell each other of sick devices."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from retarget.model.outcomes import DeviceInfo
from retarget.session.limits import CoolDowns
from retarget.session.run.lease import current_holder
from retarget.session.run.sick_devices import SickDevices, sickness_keys
from targets_of_doubles import runtime_config

HOLDER = replace(current_holder(["pytest", "suites"], "this"), user="ada")
COOL_DOWNS = CoolDowns(first=2.0, longest=5.0)
KEYS = ("named", "gpu-1")
FOUND = "it is\nnot on the bus"


def sick(folder: Path, *, session: str = "this", pid: int | None = None) -> SickDevices:
    holder = replace(HOLDER, session=session, pid=os.getpid() if pid is None else pid)
    return SickDevices(folder, holder=holder, cool_downs=COOL_DOWNS)


def test_each_cool_down_is_twice_as_long_up_to_the_longest_and_ends_with_a_recovery(tmp_path: Path) -> None:
    devices = sick(tmp_path)
    noted = [devices.lost(KEYS, "GPU 1", after=after, found=FOUND) for after in ("a", "b", "c")]
    assert [one.cool_down for one in noted] == [2.0, 4.0, 5.0]
    assert {one.reason for one in noted} == {noted[0].reason}
    assert noted[0].reason.endswith(", after a: it is not on the bus")
    devices.recovered(KEYS)
    known = devices.of(KEYS)
    assert known is not None
    assert (known.until, known.when) == (0.0, noted[0].when)
    assert devices.lost(KEYS, "GPU 1", after="d", found=FOUND).cool_down == 2.0


def test_other_sessions_learn_who_found_it_and_leave_the_device_alone(tmp_path: Path) -> None:
    sick(tmp_path).lost(KEYS, "GPU 1", after="a", found=FOUND)
    same, other = sick(tmp_path).of(["gpu-1"]), sick(tmp_path, session="other").of(["named"])
    assert same is not None
    assert other is not None
    assert min(same.until, other.until) > time.time()
    assert other.reason == f"{same.reason} (found by ada: pytest suites (pid {os.getpid()}))"
    assert sick(tmp_path).of(["gpu-2"]) is None


def test_what_a_session_that_has_ended_found_keeps_no_other_from_looking(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    sick(tmp_path, pid=ended.pid).lost(KEYS, "GPU 1", after="a", found=FOUND)
    known = sick(tmp_path).of(KEYS)
    assert known is not None
    assert 0 < known.until <= time.time()


@pytest.mark.parametrize("text", [b"", b"\xff", b"[]", b'{"device": "x"}', b"{" * 100_000])
def test_a_note_that_is_none_says_nothing(tmp_path: Path, text: bytes) -> None:
    sick(tmp_path).lost(["gpu-1"], "GPU 1", after="a", found=FOUND)
    (note,) = tmp_path.iterdir()
    note.write_bytes(text)
    assert sick(tmp_path).of(["gpu-1"]) is None


def test_a_folder_that_cannot_be_used_keeps_what_this_process_knows(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    devices = sick(tmp_path / "file" / "leases")
    devices.lost(KEYS, "GPU 1", after="a", found=FOUND)
    assert devices.of(KEYS) is not None


def test_the_hosts_cpu_is_sick_for_one_config_alone(tmp_path: Path) -> None:
    cpu = DeviceInfo(driver="local-sync", uri="local-sync://", ordinal=0, name="CPU", physical_id="cpu")
    keys, others = (sickness_keys(runtime_config(name), [cpu]) for name in ("one", "two"))
    devices = sick(tmp_path)
    devices.lost(keys, "CPU", after="a", found=FOUND)
    assert devices.of(keys) is not None
    assert devices.of(others) is None
    assert devices.present is None
    assert list(tmp_path.iterdir()) == []
