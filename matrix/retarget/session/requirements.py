"""The devices of run targets, and whether they meet what declarations require."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from retarget.extension import UnavailableError
from retarget.model import Requirement, RunTarget, RuntimeConfig
from retarget.model.locations import SourceLocations
from retarget.model.outcomes import DeviceInfo
from retarget.profiles.files import Profile
from retarget.profiles.requirements import Answer, RequirementStatus, parse_requirement
from retarget.support.errors import RetargetError
from retarget.targets.availability import profile_mismatch


class UnsuitableError(UnavailableError):
    """A device is here, and lacks what a target requires."""


class OpenedDevices:
    """The devices of a session's runtime configs, and the profiles that these are declared with."""

    def __init__(self, open_devices: Callable[[RuntimeConfig], tuple[DeviceInfo, ...]]) -> None:
        """`open_devices` returns the devices of a runtime config. It is called each time: a device may be gone."""
        self._open = open_devices
        self._locations = SourceLocations()
        self._profiles: dict[RuntimeConfig, Profile] = {}

    def of(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Return the devices of a runtime config. Raises what opening them does, `RetargetError` for its profile."""
        devices = self._open(runtime)
        self._expected(runtime)
        return devices

    def of_target(self, target: RunTarget) -> tuple[DeviceInfo, ...]:
        """Return the devices of a target. Raises as `of` does, and `UnavailableError` where they do not meet its
        requirements."""
        devices = self.of(target.runtime)
        if target.requires:
            self._check(self.answers(target))
        return devices

    def answers(self, target: RunTarget) -> tuple[tuple[Requirement, Answer], ...]:
        """Return what the devices of a target answer to each of its requirements. Raises as `of` does, and
        `RetargetError` for one that cannot be asked.

        Where nothing is reported of them, as behind `run_under`, the profile of the runtime config answers.
        """
        runtime = target.runtime
        profiles = profiles_of(self.of(runtime)) or unknown_devices(runtime)
        if (expected := self._expected(runtime)) is not None and not any(one.capabilities for one in profiles):
            profiles = (expected,) * len(profiles)
        found = []
        for requirement in target.requires:
            try:
                found.append((requirement, parse_requirement(requirement.text).answer(profiles)))
            except RetargetError as error:
                msg = f"{self._locations.location(requirement.origin)}: {error}"
                raise RetargetError(msg) from error
        return tuple(found)

    def _expected(self, runtime: RuntimeConfig) -> Profile | None:
        """Return the profile that a runtime config is declared with. Raises `RetargetError` with its place."""
        if runtime.profile and runtime not in self._profiles:
            try:
                profile = Profile.find(runtime.profile)
                message = profile_mismatch(runtime, profile)
            except RetargetError as error:
                message = str(error)
            if message:
                where = self._locations.location(runtime.origin, "profile")
                msg = f"runtime config {runtime.name!r} ({where}): {message}"
                raise RetargetError(msg)
            self._profiles[runtime] = profile
        return self._profiles.get(runtime)

    def _check(self, asked: Sequence[tuple[Requirement, Answer]]) -> None:
        """Raise `UnavailableError` with all that is not met, or not known to be met, and where it is declared.

        It is an `UnsuitableError` where a device is known to lack something.
        """
        unmet = [
            f"needs {requirement.text} ({self._locations.location(requirement.origin)}), and {found.reason}"
            for requirement, found in asked
            if found.status is not RequirementStatus.MET
        ]
        if unmet:
            lacks = any(found.is_unmet for _, found in asked)
            raise (UnsuitableError if lacks else UnavailableError)("; ".join(unmet))


def profiles_of(devices: Iterable[DeviceInfo]) -> tuple[Profile, ...]:
    """Return the profiles of devices as their driver reports them."""
    return tuple(Profile.of_device(info, info.runtime) for info in devices)


def unknown_devices(runtime: RuntimeConfig) -> tuple[Profile, ...]:
    """Return profiles without capabilities for the devices of a runtime config of which nothing is known."""
    name = f"the device of {runtime.name}"
    return (Profile(name=name, driver=runtime.driver),) * max(1, len(runtime.devices))
