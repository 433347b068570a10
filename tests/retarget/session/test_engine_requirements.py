"""Which devices meet what targets require, and the profiles that are declared for them."""

from __future__ import annotations

from typing import Any

import pytest
from data_errors import error_of
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.model import Requirement, RunTarget
from retarget.model.outcomes import DeviceInfo
from retarget.profiles.files import Capability, Profile
from retarget.session import requirements
from retarget.session.requirements import OpenedDevices
from retarget.support.errors import RetargetError

GIB = 1 << 30


@pytest.fixture(autouse=True)
def _places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places are key paths: no file is read."""
    monkeypatch.setattr(requirements.SourceLocations, "location", lambda _, origin, *steps: ".".join(map(str, steps)))


def device(**features: Any) -> DeviceInfo:
    return DeviceInfo(
        driver="vulkan", uri="vulkan://0", ordinal=0, name="GPU", physical_id="0", features=tuple(features.items())
    )


def target(*texts: str, **fields: Any) -> RunTarget:
    asked = tuple(Requirement(text=text, origin=ORIGIN) for text in texts)
    return replace(run_target(compile_target(), driver="vulkan", **fields), requires=asked)


def profile(driver: str = "vulkan", **capabilities: Any) -> Profile:
    found = tuple(Capability(name=name, value=value, source="file") for name, value in capabilities.items())
    return Profile(name="gpu", driver=driver, capabilities=found)


def opened(*devices: DeviceInfo) -> OpenedDevices:
    return OpenedDevices(lambda _: devices)


def test_what_is_not_known_of_devices_is_no_lack() -> None:
    with pytest.raises(UnavailableError) as caught:
        opened().of_target(target("memory >= 8 GiB"))
    assert type(caught.value) is UnavailableError
    assert str(caught.value).startswith("needs memory >= 8 GiB (), and ")
    assert "the device of r" in str(caught.value)


@pytest.mark.parametrize(
    ("devices", "memory"), [((), "4 GiB"), ((device(),), "4 GiB"), ((device(memory=8 * GIB),), "8 GiB")]
)
def test_the_profile_answers_for_devices_of_which_nothing_is_reported(
    monkeypatch: pytest.MonkeyPatch, devices: tuple[DeviceInfo, ...], memory: str
) -> None:
    monkeypatch.setattr(Profile, "find", lambda _: profile(memory=4 * GIB))
    ((_, found),) = opened(*devices).answers(target("memory >= 9 GiB", profile="gpu"))
    assert found.reason.endswith(f"has memory = {memory}")


@pytest.mark.parametrize("mismatched", [False, True])
def test_a_profile_that_cannot_be_used_is_named_with_its_place(
    monkeypatch: pytest.MonkeyPatch, mismatched: bool
) -> None:
    def find(name: str) -> Profile:
        if mismatched:
            return profile()
        msg = f"no profile {name}"
        raise RetargetError(msg)

    monkeypatch.setattr(Profile, "find", find)
    monkeypatch.setattr(requirements, "profile_mismatch", lambda *_: "another driver")
    why = "another driver" if mismatched else "no profile gpu"
    assert error_of(opened(device()).of, target(profile="gpu").runtime) == f"runtime config 'r' (profile): {why}"


def test_a_requirement_that_cannot_be_asked_is_an_error_of_its_place() -> None:
    assert error_of(opened(device()).answers, target("memory >= many")).startswith(": ")
