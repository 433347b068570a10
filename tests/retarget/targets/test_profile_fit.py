"""What the profiles of runtime configs say of run targets: skipped for sure, useless profiles, targets without any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from model_targets import compile_target, run_target
from retarget.model import Origin, Requirement, RunTarget, RuntimeConfig
from retarget.model.locations import SourceLocations
from retarget.model.outcomes import FeatureValue
from retarget.profiles.files import Capability, Profile
from retarget.targets.availability import ProfileFit, profile_mismatch

FP64 = Requirement(text="opencl.fp64", origin=Origin(file=Path("suite.toml"), key_path="a.requires[0]"))


def profile(name: str, driver: str = "opencl", **features: FeatureValue) -> Profile:
    capabilities = (Capability(name=f"opencl.{one}", value=value, source="test") for one, value in features.items())
    return Profile(name=name, driver=driver, capabilities=tuple(capabilities))


MALI = profile("mali", fp64=False, fp16=True)
CPU = profile("cpu", fp64=True)


def targets(*modules: str, on: Sequence[str], requires: Sequence[Requirement] = ()) -> list[RunTarget]:
    found = []
    for module in modules:
        compiled = compile_target(module)
        for name in on:
            one = run_target(compiled, name, "opencl")
            found.append(
                RunTarget(
                    name=one.name,
                    compile=compiled,
                    runtime=one.runtime,
                    timeout=None,
                    tags=(),
                    requires=tuple(requires),
                )
            )
    return found


def fit(runs: Sequence[RunTarget], **profiles: Profile) -> tuple[list[str], list[str]]:
    found = ProfileFit(runs, {one.runtime: profiles[one.runtime.name] for one in runs if one.runtime.name in profiles})
    problems = [f"{origin.key_path} {problem.path}: {problem.message}" for origin, problem in found.problems(HERE)]
    return problems, list(found.notes(HERE))


HERE = SourceLocations()


def test_what_a_profile_does_not_meet_is_noted_where_another_runs_it() -> None:
    runs = [*targets("a", "b", on=["mali", "cpu"], requires=[FP64]), *targets("c", on=["mali"])]
    assert fit(runs, mali=MALI, cpu=CPU) == (
        [],
        [
            "2 of 3 run targets of runtime config 'mali' (suite.toml) ask more than its profile has: 2 times "
            "opencl.fp64 (suite.toml), and mali has opencl.fp64 = false"
        ],
    )


def test_targets_that_no_profile_meets_are_one_error_of_the_requirement() -> None:
    runs = [*targets("a", "b", on=["mali", "weak"], requires=[FP64]), *targets("c", on=["mali", "weak"])]
    problems, notes = fit(runs, mali=MALI, weak=profile("weak", fp64=False))
    assert problems == [
        "a.requires[0] (): found no profile that meets this for a_c and 1 more: mali: mali has opencl.fp64 = false; "
        "weak: weak has opencl.fp64 = false; expected a runtime config whose profile does, or exclude_targets"
    ]
    assert len(notes) == 2


def test_a_profile_is_of_a_driver_of_its_runtime_config() -> None:
    origin = Origin(file=Path("m.toml"), key_path="")
    local = RuntimeConfig(name="sync", driver="local-sync", origin=origin)
    assert profile_mismatch(local, profile("x86", driver="local-task")) is None
    assert profile_mismatch(local, MALI) == (
        "found 'mali', a profile of the driver 'opencl', expected one of 'local-sync'"
    )
