"""The fit of run targets to the profiles of their runtime configs, before there is a device: which can never run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from retarget.model import Origin, Requirement, RunTarget, RuntimeConfig
from retarget.model.locations import SourceLocations
from retarget.profiles.profile import Profile
from retarget.profiles.requirements import Status, answer, parse_requirement
from retarget.support.errors import RetargetError
from retarget.support.text import counted
from retarget.support.toml.keypaths import Problem

_Unmet = tuple[Requirement, str]
"""A requirement, and what the profile has instead."""


def is_of_family(driver: str, others: Iterable[str]) -> bool:
    """Return whether a driver reports the devices of one of the others: the first word of their names is the same, as
    of `local-task` and `local-sync`."""
    return driver.partition("-")[0] in {other.partition("-")[0] for other in others}


def profile_mismatch(runtime: RuntimeConfig, profile: Profile) -> str | None:
    """Return why a profile cannot be that of a runtime config's device; None if it can."""
    if is_of_family(profile.driver, runtime.drivers):
        return None
    wanted = " or ".join(map(repr, runtime.drivers))
    return f"found {profile.name!r}, a profile of the driver {profile.driver!r}, expected one of {wanted}"


class ProfileFit:
    """The requirements of run targets that the profiles of their runtime configs do not meet."""

    def __init__(self, targets: Sequence[RunTarget], profiles: Mapping[RuntimeConfig, Profile]) -> None:
        @cache
        def first(runtime: RuntimeConfig, texts: tuple[str, ...]) -> tuple[int, str] | None:
            devices = [profiles[runtime]] * max(1, len(runtime.devices))
            for index, text in enumerate(texts):
                try:
                    found = answer(parse_requirement(text), devices)
                except RetargetError as error:
                    return index, str(error)
                if found.status is Status.UNMET:  # the rest may be met
                    return index, found.reason
            return None

        self._ways: dict[tuple[str, str], list[tuple[RuntimeConfig, _Unmet | None]]] = {}
        self._by_runtime: dict[RuntimeConfig, list[_Unmet | None]] = {}
        for target in targets:
            runtime, unmet = target.runtime, None
            if runtime in profiles:
                if found := first(runtime, tuple(one.text for one in target.requires)):
                    unmet = target.requires[found[0]], found[1]
                self._by_runtime.setdefault(runtime, []).append(unmet)
            self._ways.setdefault((target.compile.suite, target.compile.name), []).append((runtime, unmet))
        self._useless = {runtime for runtime, unmet in self._by_runtime.items() if None not in unmet}

    def problems(self, locations: SourceLocations) -> Iterator[tuple[Origin, Problem]]:
        """Yield an error for each profile that meets none of its run targets, and for targets that no profile meets."""
        for runtime in self._useless:
            message = f"found a profile that meets no run target of this config: {self._unmet(runtime, locations)}"
            yield runtime.origin, Problem(("profile",), f"{message}; expected another profile, or other requirements")
        names: dict[Origin, list[str]] = {}
        reasons: dict[Origin, dict[str, None]] = {}
        for (_, name), ways in self._ways.items():
            unmet = [one for _, one in ways if one is not None]
            if len(unmet) == len(ways) and not self._useless.issuperset(runtime for runtime, _ in ways):
                origin = unmet[0][0].origin
                names.setdefault(origin, []).append(name)
                said = (f"{way[0].name}: {one[1]}" for way, one in zip(ways, unmet, strict=True))
                reasons.setdefault(origin, {}).update(dict.fromkeys(said))
        for origin, found in names.items():
            which = found[0] if len(found) == 1 else f"{found[0]} and {len(found) - 1} more"
            message = f"found no profile that meets this for {which}: {'; '.join(reasons[origin])}"
            yield origin, Problem((), f"{message}; expected a runtime config whose profile does, or exclude_targets")

    def notes(self, locations: SourceLocations) -> Iterator[str]:
        """Yield a line for each runtime config whose profile does not meet some of its run targets."""
        for runtime, unmet in self._by_runtime.items():
            if (count := sum(one is not None for one in unmet)) and runtime not in self._useless:
                which = f"{count} of {counted(len(unmet), 'run target')} of runtime config {runtime.name!r}"
                where = locations.location(runtime.origin, "profile")
                verb = "asks" if count == 1 else "ask"
                yield f"{which} ({where}) {verb} more than its profile has: {self._unmet(runtime, locations)}"

    def _unmet(self, runtime: RuntimeConfig, locations: SourceLocations) -> str:
        found = [one for one in self._by_runtime[runtime] if one is not None]
        counts = Counter((one.text, locations.location(one.origin), reason) for one, reason in found)
        return "; ".join(
            f"{counted(count, 'time')} {text} ({where}), and {reason}"
            for (text, where, reason), count in counts.most_common()
        )
