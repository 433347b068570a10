"""Rules about devices: possible until the devices are known, then in force where they hold."""

from __future__ import annotations

from dataclasses import replace as replace_field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from model_targets import compile_target, run_target
from msgspec.structs import replace
from retarget.expect.matching import GoldenAssignment, RuleSet
from retarget.model import CompilerConfig, CompileTarget, Expectation, Golden, Observation, Origin
from retarget.model.devices import DeviceTraits
from retarget.model.metrics import Metric
from retarget.support.errors import RetargetError

LAVAPIPE = DeviceTraits(driver="llvmpipe", vendor="Mesa", name="llvmpipe", version="22.3.6", type="cpu")
H200 = DeviceTraits(driver="NVIDIA", vendor="NVIDIA", name="NVIDIA H200", version="580.95", type="gpu")

COMPILED = compile_target(tags=("compile", "vulkan"))
RUN = run_target(COMPILED, tags=("run", "vulkan"))
HOSTED: CompileTarget = replace(
    COMPILED,
    compiler=CompilerConfig(name="c", compiler="iree", target_from=("host:vulkan://",), origin=RUN.runtime.origin),
)


def rule(number: int, when: str = "", match: str = "m", stages: tuple[str, ...] = ("run",), **more: Any) -> Expectation:
    origin = Origin(file=Path("expectations.toml"), key_path=f"expectation[{number}]")
    return Expectation(match=(match,), when=when, stages=stages, reason=f"r{number}", origin=origin, **more)


def test_globs_that_meet_on_a_device_are_an_error_of_the_target_there() -> None:
    rules = [rule(0, "on(name='*a*')"), rule(1, "on(name='*b*')", stages=("load",))]
    book = RuleSet(rules)
    possible = book.rules_for(RUN)
    assert not book.contradictions
    assert possible.on(RUN, [DeviceTraits(name="a")]).whole == rules[0]
    with pytest.raises(RetargetError, match=r"m_c_r: found two expectations, .*\[0\] and .*\[1\], that are equally"):
        possible.on(RUN, [DeviceTraits(name="ab")])


def test_a_rule_with_a_signature_knows_a_way_to_fail_of_any_module_on_its_configs_and_devices() -> None:
    way = Observation(stage="run", signature="INTERNAL; lost")
    here, there = (replace(RUN, devices=(device,)) for device in (LAVAPIPE, H200))
    rules = RuleSet([rule(0, "vulkan and on(driver='llvmpipe')", match="other", signature="INTERNAL")])
    assert (rules.excuses(here, way), rules.excuses(there, way)) == (True, False)
    assert not rules.excuses(here, replace_field(way, stage="load"))
    assert not rules.excuses(here, replace_field(way, signature="lost"))
    for more in ({}, {"signature": "INTERNAL", "until": date(2020, 1, 1)}):
        assert not RuleSet([rule(0, match="other", **more)]).excuses(here, way)


def test_a_rule_of_the_compile_target_is_deferred_where_a_run_target_may_have_it() -> None:
    both = rule(0, "on(driver='llvmpipe')", stages=("compile", "run"))
    run = replace(RUN, compile=HOSTED)
    in_force = RuleSet([both]).assign([HOSTED, run]).in_force(HOSTED)
    for device, deferred in ((LAVAPIPE, True), (H200, False)):
        assert replace(in_force, compiled=in_force.compiled.on(HOSTED, [device])).is_deferred is deferred


def test_cases_and_golden_rules_ask_for_devices_as_well() -> None:
    rules = [rule(0, "on(driver='llvmpipe')", cases=("f",)), rule(1, cases=("f",), stages=("load",))]
    possible = RuleSet(rules).rules_for(RUN)
    assert [possible.on(RUN, [device]).of("f") for device in (LAVAPIPE, H200)] == rules
    goldens = [
        Golden(match=("m",), when=when, metric=Metric.LATENCY, most=most, origin=rule(number).origin)
        for number, (when, most) in enumerate([("", 9.0), ("on(driver='llvmpipe')", 90.0)])
    ]
    assigned = GoldenAssignment.assign(goldens, [COMPILED, RUN])
    assert [[one.most for one in assigned.of(RUN, [device])] for device in (LAVAPIPE, H200)] == [[90.0], [9.0]]
