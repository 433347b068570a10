"""What a process knows of sick devices."""

from __future__ import annotations

from retarget.model.outcomes import DeviceInfo
from retarget.session.limits import CoolDowns
from retarget.session.run.sick_devices import SickDevices, sickness_keys
from targets_of_doubles import runtime_config

COOL_DOWNS = CoolDowns(first=2.0, longest=5.0)
KEYS = ("named", "gpu-1")
FOUND = "it is\nnot on the bus"


def test_each_cool_down_is_twice_as_long_up_to_the_longest_and_ends_with_a_recovery() -> None:
    devices = SickDevices(COOL_DOWNS)
    noted = [devices.lost(KEYS, "GPU 1", after=after, found=FOUND) for after in ("a", "b", "c")]
    assert [one.cool_down for one in noted] == [2.0, 4.0, 5.0]
    assert {one.reason for one in noted} == {noted[0].reason}
    assert noted[0].reason.endswith(", after a: it is not on the bus")
    assert (devices.of(["gpu-1"]), devices.of(["gpu-2"])) == (noted[-1], None)
    assert devices.present == noted[-1]
    devices.recovered(KEYS)
    known = devices.of(KEYS)
    assert known is not None
    assert (known.until, known.when, devices.present) == (0.0, noted[0].when, None)
    assert devices.lost(KEYS, "GPU 1", after="d", found=FOUND).cool_down == 2.0


def test_the_hosts_cpu_is_sick_for_one_config_alone() -> None:
    cpu = DeviceInfo(driver="local-sync", uri="local-sync://", ordinal=0, name="CPU", physical_id="cpu")
    keys, others = (sickness_keys(runtime_config(name), [cpu]) for name in ("one", "two"))
    devices = SickDevices(COOL_DOWNS)
    devices.lost(keys, "CPU", after="a", found=FOUND)
    assert devices.of(keys) is not None
    assert devices.of(others) is None
    assert devices.present is None
