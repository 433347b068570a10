"""What sessions on several devices showed becomes rules that say on(…), only where devices differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, assume, given, settings
from msgspec.structs import replace
from retarget.expect.matching import RuleSet
from retarget.expect.update.edited_rules import SuiteTargets, key_of
from retarget.expect.update.plan import Devices, Update, on_devices, plan_update
from retarget.expect.verdict import Ruling, judge
from retarget.model import Expectation, RunTarget, Target
from retarget.model.devices import DeviceTraits
from retarget.model.outcomes import Observation
from retarget.support.errors import RetargetError
from test_expectation_update import applied, rule, suite, texts

LAVAPIPE = DeviceTraits(driver="llvmpipe", vendor="Mesa", name="llvmpipe", version="22.3", type="cpu")
H200 = DeviceTraits(driver="NVIDIA", vendor="NVIDIA", name="H200", version="580.95", type="gpu")
RADV = DeviceTraits(driver="radv", vendor="AMD", name="Radeon", version="25.0", type="gpu")
OWN = DeviceTraits(driver="IREE", vendor="AMD", name="CPU", version="3.13", type="cpu")
WRONG = Observation(stage="compare", signature="values differ")
CRASHED = Observation(stage="crash", signature="SIGSEGV")
Ways = Mapping[tuple[str, DeviceTraits], Observation]


def at(target: Target, device: DeviceTraits) -> Devices:
    """Where a target is in a session with this Vulkan device."""
    if not isinstance(target, RunTarget):
        return (device,) if target.may_ask_devices else ()
    return (device,) if target.runtime.driver == "vulkan" else (OWN,)


def update(one: SuiteTargets, *devices: DeviceTraits, failed: Ways) -> Update:
    """The update from a session on each of these Vulkan devices, in which all passed but for these."""
    seen: dict[tuple[tuple[str, str], Devices], Observation | None] = {}
    for device in devices:
        for target in one.targets:
            compiled = target.compile if isinstance(target, RunTarget) else target
            if target is not compiled and (compiled.name, device) in failed:
                continue
            seen[key_of(target), at(target, device)] = failed.get((target.name, device))
    suites, names = on_devices([one], seen)
    return plan_update(suites, {name: seen[place] for place, name in names.items()})


def rules(one: SuiteTargets, *devices: DeviceTraits, failed: Ways) -> list[tuple[tuple[str, ...], str]]:
    """The match and the `when` of all rules after an update, which a second one leaves as they are."""
    found = update(one, *devices, failed=failed)
    (after,) = applied([one], texts([one]), found)
    assert not RuleSet(after.suite.expectations).assign(one.targets).contradictions
    assert update(after, *devices, failed=failed).edits == ()
    return [(made.match, made.when) for made in after.suite.expectations]


def test_of_a_list_of_devices_those_stay_that_no_session_had() -> None:
    when = "vulkan and (on(driver='radv') or on(driver='NVIDIA'))"
    one = suite(rules=[rule(0, "a", when, stages=("compare",), signature="values differ")])
    assert rules(one, H200, failed={}) == [(("a",), "vulkan and on(driver='radv')")]
    assert rules(one, RADV, H200, failed={}) == []


def test_what_a_run_writes_contradicts_nothing_before_a_device_is_opened() -> None:
    seen = {("vmvx_sync", H200): WRONG, ("vmvx_task", H200): CRASHED, ("vulkan_gpu", H200): CRASHED}
    seen |= {("vmvx_sync", LAVAPIPE): WRONG, ("vmvx_task", LAVAPIPE): CRASHED, ("vulkan_gpu", LAVAPIPE): WRONG}
    failed = {(f"a_{name}", device): way for (name, device), way in seen.items()}
    assert rules(suite(), LAVAPIPE, H200, failed=failed) == [
        (("a",), "on(driver='NVIDIA') or (vmvx and task)"),
        (("a",), "(vulkan and on(driver='llvmpipe')) or (vmvx and sync and on(driver='IREE'))"),
    ]


def test_nothing_is_written_where_rules_that_another_hid_would_contradict_each_other() -> None:
    hides = rule(0, "a", "run and not on(driver='llvmpipe')", stages=(WRONG.stage,), signature=WRONG.signature)
    hidden = [
        rule(index, "a", "on(version='>=30')", stages=(way.stage,), signature=way.signature)
        for index, way in enumerate([WRONG, CRASHED], 1)
    ]
    with pytest.raises(RetargetError, match=r"as specific and say different things.*version='>=30'"):
        update(suite(rules=[hides, *hidden]), H200, failed={("a_vulkan_gpu", H200): WRONG})


def test_without_devices_that_differ_and_rules_that_name_any_nothing_is_told_apart() -> None:
    one = suite()
    places = [(key_of(target), at(target, LAVAPIPE)) for target in one.targets]
    suites, names = on_devices([one], places)
    assert suites == [one]
    assert all(name == key for (key, _), name in names.items())


# ---------------------------------------------------------------- whatever the rules, and whatever was seen

WHENS = (
    "vulkan",
    "run",
    "",
    "on(driver='llvmpipe')",
    "vulkan and on(vendor='NVIDIA')",
    "on(driver='radv')",
    "run and not on(driver='llvmpipe')",
    "on(driver='radv') or on(driver='NVIDIA')",
    "on(version='>=30')",
)


@st.composite
def ruled(draw: st.DrawFn) -> SuiteTargets:
    made: list[Expectation] = []
    for index in range(draw(st.integers(0, 4))):
        match = draw(st.sampled_from(["a", "b", "*", ("a", "b")]))
        way = draw(st.sampled_from([WRONG, CRASHED]))
        when = draw(st.sampled_from(WHENS))
        made.append(rule(index, match, when, stages=(way.stage,), signature=way.signature))
    compilers = draw(st.sampled_from([("vmvx", "vulkan"), ("vmvx", "llvm-cpu", "vulkan")]))
    one = suite(("a", "b"), compilers=compilers, rules=made)
    assume(not RuleSet(made).assign(one.targets).contradictions)
    return one


def whole(one: SuiteTargets, target: Target, device: DeviceTraits) -> Expectation | None:
    return RuleSet(one.suite.expectations).rules_for(replace(target, devices=at(target, device))).whole


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data(), ruled(), st.sampled_from([(LAVAPIPE,), (H200,), (LAVAPIPE, H200)]))
def test_after_an_update_each_device_is_as_seen_and_rules_about_others_are_kept(
    data: st.DataObject, one: SuiteTargets, devices: Sequence[DeviceTraits]
) -> None:
    ways = st.sampled_from([None, None, WRONG, CRASHED])
    failed: dict[tuple[str, DeviceTraits], Observation] = {}
    for target, device in product(one.targets, devices):
        is_own = isinstance(target, RunTarget) and target.runtime.driver != "vulkan"
        if isinstance(target, RunTarget) and not (is_own and device is not devices[0]):
            way = data.draw(ways, label=f"{target.name} on {device.driver}")
            for there in devices if is_own else (device,):
                if way is not None:
                    failed[target.name, there] = way
    try:
        found = update(one, *devices, failed=failed)
    except RetargetError:  # nothing is written where a rule no longer hides two that contradict each other
        pairs = combinations(one.suite.expectations, 2)
        assert any(RuleSet(pair).assign(one.targets).contradictions for pair in pairs)
        return
    (after,) = applied([one], texts([one]), found)
    assigned = RuleSet(after.suite.expectations).assign(one.targets)
    assert not assigned.contradictions  # the next collection would refuse them
    deferred = assigned.deferred
    for target, device in product(one.targets, devices):
        way, made = failed.get((target.name, device)), whole(after, target, device)
        if way is None and made is not None and (target.name, made.origin) in deferred:
            continue
        ruling = judge(made, way).ruling
        assert ruling is (Ruling.EXCUSED if way is not None else Ruling.PLAIN)
    for target in one.targets:
        before = whole(one, target, RADV)
        if before is not None and "radv" in before.when:
            now = whole(after, target, RADV)
            assert now is not None
            assert (now.stages, now.signature) == (before.stages, before.signature)
    assert update(after, *devices, failed=failed).edits == ()
