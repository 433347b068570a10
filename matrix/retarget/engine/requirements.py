"""Whether the devices of a run target meet what its declarations require."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retarget.extension import UnavailableError
from retarget.model import Requirement
from retarget.model.locations import SourceLocations
from retarget.model.outcomes import DeviceInfo
from retarget.profiles.profile import Profile, profile_of_device
from retarget.profiles.requirements import Answer, Standing, answer, parse_requirement
from retarget.support.errors import RetargetError

__all__ = ["answers", "check_requirements", "profiles_of"]


def profiles_of(devices: Iterable[DeviceInfo]) -> tuple[Profile, ...]:
    """Return the profiles of devices as their driver reports them."""
    return tuple(profile_of_device(info, info.runtime) for info in devices)


def answers(requires: Iterable[Requirement], devices: Sequence[Profile]) -> Iterable[tuple[Requirement, Answer]]:
    """Yield each requirement with what devices answer. Raises `RetargetError` for one that cannot be asked."""
    for requirement in requires:
        try:
            yield requirement, answer(parse_requirement(requirement.text), devices)
        except RetargetError as error:
            msg = f"{SourceLocations().location(requirement.origin)}: {error}"
            raise RetargetError(msg) from error


def check_requirements(requires: Sequence[Requirement], devices: Sequence[Profile], locations: SourceLocations) -> None:
    """Raise `UnavailableError` with all that devices do not meet, or are not known to meet, and where it is declared.

    Raises `RetargetError` for a requirement that does not compare with what a device has.
    """
    unmet = [
        f"needs {requirement.text} ({locations.location(requirement.origin)}), and {found.reason}"
        for requirement, found in answers(requires, devices)
        if found.standing is not Standing.MET
    ]
    if unmet:
        raise UnavailableError("; ".join(unmet))
