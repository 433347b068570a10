"""Which runner takes a target: known from declarations alone, the same on every machine.

A run target needs of a runner, in this order: `host_os` and `host_arch`; the toolchain of its runtime config; the
command of its `run_under`; each of its drivers; its devices (as many as its ordinals and `distinct` say, named ones by
their URI, that of its profile); and that a profile of the runner fails none of its requirements. A driver without a
profile says nothing against a requirement: then the device answers, when it runs.

A compile target needs a runner that `builds`, the toolchain of its compiler config, and the devices that it is
compiled for, `host:` and a URI in `target_from`. A target is bound to the machine where `host` is a value of
`target_from`, of a device or of a flag (`--iree-llvmcpu-target-cpu=host`): such code is for the very machine that
compiles it. Its run targets are compiled where they run. So are all where no runner `builds`.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from retarget.model import MAJORITY, CompilerConfig, CompileTarget, RunTarget, RuntimeConfig, SourceLocations, Toolchain
from retarget.profiles import Profile, parse_requirement
from retarget.session import Declared, DeclaredTarget
from retarget.support import RetargetError, did_you_mean

from retarget_ci.schema import CiConfig, Runner

_DIGITS = 4
"""Of the number of a device; a longer one is of none."""

_HOST = re.compile(r"(?:^|[=,])host(?:[:,]|$)")


class Refused(Struct, frozen=True, kw_only=True):
    """Why a runner does not take a target. The one with the greatest `step` came nearest, and is why none does."""

    step: int = -1
    reason: str = "there is no runner"


def is_bound(target: CompileTarget) -> bool:
    """Return whether an artifact is for the machine that compiles it."""
    words = (*target.flags, *target.compiler.target_from, *(value for _, value in target.compiler.devices))
    return any(_HOST.search(word) for word in words)


class Assigner:
    """Finds the first runner, in declared order, that takes a target. Each distinct question is answered once."""

    def __init__(self, runners: Sequence[Runner]) -> None:
        """Raises `RetargetError` for a profile that cannot be read."""
        self._machines = [_Machine.of(runner) for runner in runners]
        self.builds = any(runner.builds for runner in runners)
        self._answers: dict[tuple[object, ...], tuple[object, Runner | Refused]] = {}
        self._bound: dict[tuple[int, int], tuple[object, bool]] = {}

    def is_bound(self, target: CompileTarget) -> bool:
        """Return `is_bound` of a target."""
        # The targets of a suite share them; they are kept, so that ids stay theirs.
        key = id(target.flags), id(target.compiler)
        if key not in self._bound:
            self._bound[key] = (target.flags, target.compiler), is_bound(target)
        return self._bound[key][1]

    def run(
        self, target: RunTarget, *, compiles: bool, references: Sequence[Sequence[RunTarget]] = ()
    ) -> Runner | Refused:
        """Return the runner of a run target, or why there is none.

        With `compiles` the leg compiles what it runs. `references` are, for each config that its cases are to agree
        with, the run targets that give its results: the runner must take one of each.
        """
        others = tuple(tuple(_run_key(other) for other in group) for group in references)
        kept = (target.runtime, target.requires, target.compile.compiler, references)
        key = (*_run_key(target), id(target.compile.compiler), compiles, others)

        def refusal(machine: _Machine) -> Refused | None:
            if no := machine.refuses_run(target):
                return no
            if compiles and (no := machine.refuses_compile(target.compile.compiler)):
                return no
            for group in references:
                reasons = [machine.refuses_run(other) for other in group]
                if all(reasons):
                    said = next((one.reason for one in reasons if one), "nothing runs it")
                    config = group[0].compile.compiler.name if group else "a config without run targets"
                    return Refused(step=_LAST, reason=f"its cases are to agree with {config!r}, and {said}")
            return None

        return self._first(key, kept, refusal)

    def build(self, target: CompileTarget) -> Runner | Refused:
        """Return the runner that compiles a target for others, or why there is none."""
        config = target.compiler

        def refusal(machine: _Machine) -> Refused | None:
            if self.builds and not machine.runner.builds:
                return Refused(step=_BUILDS, reason=f"runner {machine.runner.name!r} has no builds = true")
            return machine.refuses_compile(config)

        return self._first(("build", id(config)), config, refusal)

    def takes(self, runner: Runner, target: RunTarget) -> bool:
        """Return whether a runner takes a run target, compiled elsewhere."""
        machine = next(machine for machine in self._machines if machine.runner is runner)
        return machine.refuses_run(target) is None

    def _first(
        self, key: tuple[object, ...], kept: object, refusal: Callable[[_Machine], Refused | None]
    ) -> Runner | Refused:
        if key not in self._answers:
            nearest = Refused()
            found: Runner | Refused | None = None
            for machine in self._machines:
                if (no := refusal(machine)) is None:
                    found = machine.runner
                    break
                nearest = max(nearest, no, key=lambda one: one.step)
            self._answers[key] = kept, found or nearest
        return self._answers[key][1]


def _run_key(target: RunTarget) -> tuple[int, int]:
    return id(target.runtime), id(target.requires)


_BUILDS, _SYSTEM, _HOST_NAME, _TOOLCHAIN, _TOOL, _DRIVER, _DEVICE, _PROFILE, _LAST = range(9)


class _Machine(Struct, frozen=True, kw_only=True):
    """A runner with its profiles read. `drivers` says how many devices it has of each."""

    runner: Runner
    profiles: tuple[Profile, ...]
    uris: tuple[str, ...]
    drivers: Mapping[str, int]

    @classmethod
    def of(cls, runner: Runner) -> _Machine:
        uris = tuple(device for device in runner.devices if "://" in device)
        profiles = tuple(Profile.find(device) for device in runner.devices if device not in uris)
        ways = (runner.drivers, (one.driver for one in profiles), (uri.partition("://")[0] for uri in uris))
        drivers: Counter[str] = Counter()
        for way in ways:  # one device may be written in each
            drivers |= Counter(way)
        return cls(runner=runner, profiles=profiles, uris=uris, drivers=drivers)

    # ------------------------------------------------------------ what is refused

    def refuses_compile(self, config: CompilerConfig) -> Refused | None:
        if no := self._lacks_toolchain(config.toolchain):
            return no
        for reference in config.target_from:
            driver, is_uri, _ = reference.removeprefix("host:").partition("://")
            if reference.startswith("host:") and is_uri and (no := self._lacks_driver(driver)):
                return no
        return None

    def refuses_run(self, target: RunTarget) -> Refused | None:
        runtime = target.runtime
        if runtime.host is not None:  # which has the devices and what runs there
            return self._lacks_host(runtime.host.name) or self._lacks_toolchain(runtime.toolchain)
        for has, wanted in ((self.runner.os, runtime.host_os), (self.runner.arch, runtime.host_arch)):
            if wanted and has not in wanted:
                return self._no(_SYSTEM, f"is {self.runner.os} on {self.runner.arch}, not {' or '.join(wanted)}")
        if no := self._lacks_toolchain(runtime.toolchain):
            return no
        if runtime.run_under and (tool := Path(runtime.run_under[0]).name) not in self.runner.tools:
            return self._no(_TOOL, f"has no {tool!r} in tools{did_you_mean(tool, self.runner.tools)}")
        for driver in runtime.drivers:
            if no := self._lacks_driver(driver):
                return no
        return self._lacks_devices(runtime) or self._lacks_capability(target)

    def _lacks_host(self, name: str) -> Refused | None:
        has = self.runner.hosts
        if any(fnmatch.fnmatchcase(name, one) for one in has):
            return None
        return self._no(_HOST_NAME, f"has no {name!r} in hosts{did_you_mean(name, has)}")

    def _lacks_toolchain(self, toolchain: Toolchain | None) -> Refused | None:
        has = self.runner.toolchains
        if toolchain is None or any(fnmatch.fnmatchcase(toolchain.name, one) for one in has):
            return None
        return self._no(_TOOLCHAIN, f"has no toolchain {toolchain.name!r}{did_you_mean(toolchain.name, has)}")

    def _lacks_driver(self, driver: str) -> Refused | None:
        if driver in self.drivers:
            return None
        return self._no(_DRIVER, f"has no driver {driver!r}{did_you_mean(driver, self.drivers)}")

    def _lacks_devices(self, runtime: RuntimeConfig) -> Refused | None:
        wanted = [_device(device, runtime.driver) for device in runtime.devices]
        for driver, which in wanted:
            count = self.drivers[driver]
            if which.isdecimal() and (len(which) > _DIGITS or int(which) >= count):
                return self._no(_DEVICE, f"has {count} of {driver!r}, and device {which} is counted from 0")
            if which and not which.isdecimal() and f"{driver}://{which}" not in self.uris:
                uri = f"{driver}://{which}"
                return self._no(_DEVICE, f"has no device {uri!r} in devices{did_you_mean(uri, self.uris)}")
        for driver in {driver for driver, _ in wanted} if runtime.distinct else ():
            number, count = sum(one == driver for one, _ in wanted), self.drivers[driver]
            if number > count:
                return self._no(_DEVICE, f"has {count} of {driver!r}, and {number} distinct ones are wanted")
        own = self._own(runtime.driver)
        if runtime.profile and own and _profile_file(runtime) not in [one.file for one in own]:
            has = ", ".join(one.name for one in own)
            return self._no(_PROFILE, f"has {has}, and the profile {Path(runtime.profile).stem!r} is wanted")
        return None

    def _lacks_capability(self, target: RunTarget) -> Refused | None:
        runtime = target.runtime
        if not target.requires:
            return None
        wanted = [_device(device, runtime.driver) for device in runtime.devices] or [(runtime.driver, "")]
        devices = [self._profile(driver, which, runtime) for driver, which in wanted]
        for requirement in target.requires:
            try:
                found = parse_requirement(requirement.text).answer(devices)
            except RetargetError as error:
                return self._no(_LAST, f"cannot be asked: {error}")
            if found.is_unmet:
                return self._no(_LAST, f"does not meet {requirement.text!r}: {found.reason}")
        return None

    def _profile(self, driver: str, which: str, runtime: RuntimeConfig) -> Profile:
        """The profile of a device; one that says nothing where the runner has none."""
        own = self._own(driver)
        if not own:
            return Profile(name=f"{driver} of runner {self.runner.name}", driver=driver)
        if runtime.profile:
            wanted = _profile_file(runtime)
            return next((one for one in own if one.file == wanted), own[0])
        return own[min(int(which), len(own) - 1) if which.isdecimal() else 0]

    def _own(self, driver: str) -> Sequence[Profile]:
        return [profile for profile in self.profiles if profile.is_of_family([driver])]

    def _no(self, step: int, reason: str) -> Refused:
        return Refused(step=step, reason=f"runner {self.runner.name!r} {reason}")


@cache
def _profile_file(runtime: RuntimeConfig) -> Path | None:
    """Return the file of a runtime config's profile. Raises `RetargetError` with its place where there is none."""
    try:
        return Profile.find(runtime.profile).file
    except RetargetError as error:
        where = SourceLocations().location(runtime.origin, "profile")
        msg = f"runtime config {runtime.name!r} ({where}): {error}"
        raise RetargetError(msg) from error


def _device(written: str, driver: str) -> tuple[str, str]:
    """Return a device's driver and what says which one it is: an ordinal, a name, or nothing."""
    scheme, is_uri, which = written.partition("://")
    return (scheme, which) if is_uri else (driver, written)


class Place(Struct, frozen=True, kw_only=True):
    """A target's runner. With `alone` its leg takes no artifacts and compiles what it runs. `needs` are the ids of the
    compile targets whose artifacts it takes otherwise."""

    runner: Runner
    alone: bool = False
    needs: tuple[str, ...] = ()


class Placement:
    """Places targets: the same for the same declarations, whatever an event selects."""

    def __init__(self, config: CiConfig, declared: Declared) -> None:
        """Raises `RetargetError` for a profile of a runner that cannot be read."""
        self._assigner = Assigner(config.runners)
        self._comparing = {
            kind: loader for kind, loader in declared.registry.case_loaders.items() if loader.overrides("references")
        }
        self._of_module: dict[tuple[str, str], list[tuple[DeclaredTarget, RunTarget]]] = {}
        for one in declared.targets:
            if isinstance(one.target, RunTarget) and one.target.compile.kind in self._comparing:
                self._of_module.setdefault((one.suite_id, one.compiled.module.name), []).append((one, one.target))

    def of(self, one: DeclaredTarget) -> Place | Refused:
        """Return where a target goes, or why it goes nowhere.

        A compile target goes where it is compiled for others; a run target that compiles alone takes it along. Raises
        `RetargetError` for invalid case files.
        """
        target = one.target
        if isinstance(target, CompileTarget):
            runner = self._assigner.build(target)
            return runner if isinstance(runner, Refused) else Place(runner=runner)
        groups = [*self._references(one, target)]
        compiled = [target.compile, *(run.compile for group in groups for _, run in group)]
        # An artifact does not travel that is bound to its machine, or that no item of pytest's exports.
        stays = (one.name != one.item or self._assigner.is_bound(one) for one in compiled)
        alone = not self._assigner.builds or any(stays)
        references = [[run for _, run in group] for group in groups]
        runner = self._assigner.run(target, compiles=alone, references=references)
        if isinstance(runner, Refused):
            return runner
        if alone:
            return Place(runner=runner, alone=True)
        taken = ([other for other, run in group if self._assigner.takes(runner, run)] for group in groups)
        needed = [one, *(other for group in taken for other in group)]
        for other in needed:
            builder = self._assigner.build(other.compiled)
            if isinstance(builder, Refused):
                return builder
        return Place(runner=runner, needs=tuple(dict.fromkeys(other.compile_id for other in needed)))

    def _references(
        self, one: DeclaredTarget, target: RunTarget
    ) -> Iterable[Sequence[tuple[DeclaredTarget, RunTarget]]]:
        """Yield, for each config that a target's cases are to agree with, the run targets that give its results; for a
        majority all others."""
        loader = self._comparing.get(target.compile.kind)
        if loader is None:
            return
        others = self._of_module[one.suite_id, target.compile.module.name]
        for name in loader.agreed(target.compile):
            rest = [(other, run) for other, run in others if run.name != target.name]
            group = rest if name == MAJORITY else [pair for pair in rest if pair[1].compile.compiler.name == name]
            if group:
                yield group
