"""Rules about devices: possible until the devices are known, then in force where they hold."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from model_targets import compile_target, run_target
from msgspec.structs import replace
from retarget.expect.matching import GoldenAssignment, RuleSet
from retarget.model import CompilerConfig, CompileTarget, Expectation, Golden, Origin
from retarget.model.devices import DeviceTraits
from retarget.model.metrics import Metric
from retarget.session.trial.services import RulesInForce
from retarget.support.errors import RetargetError
from retarget.targets.selection import ExpressionError, compile_selector, names_devices, rule_terms

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


def found(rules: list[Expectation], *devices: DeviceTraits) -> str:
    """The reason of the rule in force for the run target."""
    book = RuleSet(rules)
    whole = book.rules_for(RUN).on(RUN, devices).whole
    assert not book.contradictions
    assert RuleSet(rules).rules_for(replace(RUN, devices=devices)).whole == whole
    return whole.reason if whole is not None else ""


@pytest.mark.parametrize(
    ("when", "none", "lavapipe", "h200", "both"),
    [
        ("on(driver='llvmpipe')", False, True, False, True),
        ("vulkan and on(vendor='NVIDIA', version='>=580')", False, False, True, True),
        ("not on(vendor='NVIDIA')", True, True, False, False),
        ("vulkan and not on(type='gpu')", True, True, False, False),
        ("opencl and on(type='cpu')", False, False, False, False),
        ("on(type='cpu') or on(vendor='NVIDIA')", False, True, True, True),
        ("vulkan or on(vendor='NVIDIA')", True, True, True, True),
        ("not (on(type='cpu') or on(type='gpu'))", True, False, False, False),
        ("on(driver='NVIDIA', type='cpu')", False, False, False, False),
        ("", True, True, True, True),
    ],
)
def test_a_rule_holds_on_the_devices_that_it_asks_for(
    when: str, none: bool, lavapipe: bool, h200: bool, both: bool
) -> None:
    on = [(), (LAVAPIPE,), (H200,), (LAVAPIPE, H200)]
    assert [bool(found([rule(0, when)], *devices)) for devices in on] == [none, lavapipe, h200, both]


def test_a_selection_cannot_ask_for_devices() -> None:
    for text in ("on(driver='x')", "run and not on(vendr=5)"):
        with pytest.raises(ExpressionError, match="what is selected depends on no device"):
            compile_selector(text)
    assert not compile_selector("on")(RUN)
    assert not names_devices("on and not onnx")
    assert [term.text for term in rule_terms("on and on(type='gpu')") if term.traits] == ["on(type='gpu')"]


def test_traits_make_a_rule_more_specific_than_words_and_less_than_a_name() -> None:
    wide = rule(0, "vulkan and run and not compile")
    device = rule(1, "on(driver='llvmpipe')", stages=("compare",))
    exact = rule(2, "on(driver='llvmpipe', version='<23')", stages=("load",))
    named = rule(3, match="m", stages=("crash",))
    for rules in ([wide, device, exact], [exact, device, wide]):
        assert found(rules, LAVAPIPE) == "r2"
        assert found(rules, dataclasses.replace(LAVAPIPE, version="25.0")) == "r1"
        assert found(rules, H200) == "r0"
    globs = [replace(one, match=("m*",)) for one in (wide, device, exact)]
    assert found([*globs, named], LAVAPIPE) == "r3"


def contradictions(*whens: str) -> int:
    book = RuleSet(
        [
            rule(number, when, stages=(stage,))
            for number, (when, stage) in enumerate(zip(whens, ("run", "load"), strict=True))
        ]
    )
    book.rules_for(RUN)
    return len(book.contradictions)


@pytest.mark.parametrize(
    ("first", "second", "contradicts"),
    [
        ("on(driver='a')", "on(driver='b')", False),
        ("on(driver='a')", "on(driver='A')", True),
        ("on(driver='a')", "on(driver='a*')", True),
        ("on(driver='a')", "on(vendor='b')", False),
        ("on(driver='a') and vulkan", "on(driver='b') and run", False),
        ("on(driver='a') or run", "on(driver='b') or vulkan", True),
        ("not on(driver='a')", "on(driver='a')", False),
        ("not on(driver='a')", "on(driver='b')", True),
        ("on(version='<580')", "on(version='>=580')", False),
        ("on(driver='a', vendor='x')", "on(driver='a', vendor='y')", False),
        ("vulkan", "run", True),
    ],
)
def test_equal_rules_contradict_each_other_on_a_device_that_one_names(
    first: str, second: str, contradicts: bool
) -> None:
    assert contradictions(first, second) == contradicts
    assert contradictions(second, first) == contradicts


def test_globs_that_meet_on_a_device_are_an_error_of_the_target_there() -> None:
    rules = [rule(0, "on(name='*a*')"), rule(1, "on(name='*b*')", stages=("load",))]
    book = RuleSet(rules)
    possible = book.rules_for(RUN)
    assert not book.contradictions
    assert possible.on(RUN, [DeviceTraits(name="a")]).whole == rules[0]
    with pytest.raises(RetargetError, match=r"m_c_r: found two expectations, .*\[0\] and .*\[1\], that are equally"):
        possible.on(RUN, [DeviceTraits(name="ab")])


def test_a_rule_of_the_compile_target_is_deferred_where_a_run_target_may_have_it() -> None:
    both = rule(0, "on(driver='llvmpipe')", stages=("compile", "run"))
    run = replace(RUN, compile=HOSTED)
    in_force = RulesInForce.of(HOSTED, RuleSet([both]).assign([HOSTED, run]))
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
