"""What a run showed of single cases becomes rules that name them, where cases of a target differ, and only there."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from msgspec.structs import replace
from retarget.expect.matching import RuleSet
from retarget.expect.update.edited_rules import Key, SuiteTargets, key_of
from retarget.expect.update.plan import CasesSeen, Update, plan_update
from retarget.expect.update.text import RuleChange
from retarget.expect.verdict import Ruling, judge
from retarget.model import Expectation, RunTarget
from retarget.model.outcomes import Observation
from retarget.support.errors import RetargetError
from test_expectation_update import FOLDER, RULES, applied, rule, rule_text, suite, texts

WRONG = Observation(stage="compare", signature="values differ")
LOST = Observation(stage="run", signature="no such kernel")
CRASHED = Observation(stage="crash", signature="SIGSEGV")

Ways = Mapping[str, Observation | None]
Said = tuple[tuple[str, ...], str, tuple[str, ...], tuple[str, ...], str]


class Run:
    """Run targets of suites, and what was seen of their cases; all others passed in cases `x` and `y`."""

    def __init__(self, *suites: SuiteTargets, **shown: Ways | CasesSeen) -> None:
        self.suites = suites
        self.cases: dict[Key, CasesSeen] = {}
        self.seen: dict[Key, Observation | None] = {}
        for one in suites:
            for target in one.targets:
                self.seen[key_of(target)] = None
                if isinstance(target, RunTarget):
                    ways = shown.get(target.name.replace("-", "_"), {"x": None, "y": None})
                    self.show(key_of(target), ways)

    def show(self, key: Key, ways: Ways | CasesSeen) -> None:
        cases = ways if isinstance(ways, CasesSeen) else CasesSeen(names=tuple(ways), seen=ways)
        failed = [way for way in dict.fromkeys(cases.seen.values()) if way is not None]
        self.cases[key] = cases
        self.seen[key] = dataclasses.replace(failed[0], also=tuple(failed[1:])) if failed else None

    def update(self, suites: Sequence[SuiteTargets] = ()) -> Update:
        return plan_update(suites or self.suites, self.seen, cases=self.cases)

    def rules(self) -> list[Said]:
        """The rules after an update; a second one changes nothing."""
        found = self.update()
        after = applied(self.suites, texts(self.suites), found)
        again = self.update(after)
        assert (again.edits, again.excused, again.left) == ((), found.excused, found.left)
        made = {one.origin: one for each in after for one in each.suite.expectations}.values()
        return sorted((one.match, one.when, one.cases, one.stages, one.signature) for one in made)


GPU = "vulkan"
"""The shortest expression for the target `_vulkan_gpu`."""


# ------------------------------------------------------------ new rules


def test_cases_that_all_fail_alike_become_a_rule_without_case() -> None:
    run = Run(suite(), a_vulkan_gpu={"x": WRONG, "y": WRONG}, b_vulkan_gpu={"only": WRONG})
    assert run.rules() == [(("a", "b"), GPU, (), ("compare",), "values differ")]


def test_a_crash_names_its_case_where_others_ran_or_were_left() -> None:
    after_x = CasesSeen(names=("x", "y", "z"), seen={"x": None, "y": CRASHED})
    at_once = CasesSeen(names=("x", "y"), seen={"x": CRASHED})
    run = Run(suite(), a_vulkan_gpu=after_x, b_vulkan_gpu=at_once, c_vulkan_gpu={"x": CRASHED})
    assert run.rules() == [
        (("a",), GPU, ("y",), ("crash",), "SIGSEGV"),
        (("b",), GPU, ("x",), ("crash",), "SIGSEGV"),
        (("c",), "gpu", (), ("crash",), "SIGSEGV"),
    ]


@pytest.mark.parametrize("folder", [FOLDER, FOLDER / "below"])
def test_a_rule_of_a_case_does_not_cover_a_module_of_the_same_name_in_a_suite_that_did_not_run(folder: Path) -> None:
    run = Run(suite(), a_vulkan_gpu={"x": WRONG, "y": None})
    other = suite(("a",), name="other", folder=folder, flags=("-O3",))
    found = run.update([*run.suites, other])
    assert [(new.match, new.when, new.cases) for edit in found.edits for _, new in edit.new] == [
        (("a",), "vulkan and ops", ("x",))
    ]


# ------------------------------------------------------------ rules that are there


def compare(
    index: int, match: str | Sequence[str], when: str = "", case: Sequence[str] = (), **fields: object
) -> Expectation:
    return replace(rule(index, match, when, **{"stages": ("compare",), **fields}), cases=tuple(case))


def test_a_rule_without_case_gets_one_where_cases_differ_in_its_place_and_words() -> None:
    one = suite(rules=[compare(0, "a", GPU, issue="x/1")])
    run = Run(one, a_vulkan_gpu={"x": WRONG, "y": None})
    assert run.update().edits[0].changes == (RuleChange(index=0, match=("a",), when=GPU, cases=("x",)),)
    assert run.rules() == [(("a",), GPU, ("x",), ("compare",), "")]


def test_a_glob_gives_way_to_names_on_the_target_where_one_of_its_cases_passes() -> None:
    one = suite(rules=[compare(0, ["a", "b"], GPU, ["x*"])])
    run = Run(one, a_vulkan_gpu={"x1": WRONG, "x2": None}, b_vulkan_gpu={"x1": WRONG, "x2": WRONG, "y": None})
    assert run.rules() == [(("a",), GPU, ("x1",), ("compare",), ""), (("b",), GPU, ("x*",), ("compare",), "")]


@pytest.mark.parametrize(
    ("outcome", "fields"),
    [("flaky", {"retries": 2}), ("intermittent", {"until": date(2026, 6, 1)}), ("xfail", {"until": date(2026, 4, 1)})],
)
def test_what_only_a_person_can_settle_is_left(outcome: str, fields: dict[str, object]) -> None:
    one = suite(rules=[compare(0, "a", GPU, ["x"], outcome=outcome, **fields)])
    run = Run(one, a_vulkan_gpu={"x": LOST, "y": WRONG, "z": None})
    assert run.update().left == (("ops", "a_vulkan_gpu"),)
    assert (("a",), GPU, ("y",), ("compare",), "values differ") in run.rules()


# ------------------------------------------------------------ what was not run


def test_a_run_of_some_cases_touches_what_is_reported_of_these_alone() -> None:
    rules = [compare(0, "a", GPU, ["x", "y"]), compare(1, "b", GPU), compare(2, "c", GPU)]

    def selected(**ways: Observation | None) -> CasesSeen:
        return CasesSeen(names=("x", "y", "z"), seen=ways, is_selection=True)

    run = Run(
        suite(rules=rules), a_vulkan_gpu=selected(x=None), b_vulkan_gpu=selected(x=None), c_vulkan_gpu=selected(x=LOST)
    )
    assert run.rules() == [
        (("a",), GPU, ("y",), ("compare",), ""),
        (("b",), GPU, (), ("compare",), ""),
        (("c",), GPU, (), ("compare",), ""),
        (("c",), GPU, ("x",), ("run",), "no such kernel"),
    ]


def test_a_rule_without_case_goes_from_a_target_where_all_that_it_is_about_passed() -> None:
    rules = [compare(0, "a", GPU), compare(1, "a", GPU, ["z"], outcome="skip", stages=())]
    left_out = CasesSeen(names=("x", "y", "z"), seen={"x": None, "y": None})
    selected = replace(left_out, is_selection=True)
    for seen in (left_out, selected):
        assert Run(suite(rules=rules), a_vulkan_gpu=seen).rules() == [(("a",), GPU, ("z",), (), "")]


def test_an_expired_rule_stays_where_cases_that_it_is_about_were_left() -> None:
    rules = [compare(0, "a", GPU, until=date(2020, 1, 31))]
    selected = CasesSeen(names=("x", "y"), seen={"x": None}, is_selection=True)
    assert Run(suite(rules=rules), a_vulkan_gpu=selected).update().edits == ()


@pytest.mark.parametrize("left", [None, WRONG])
def test_a_glob_that_gives_way_to_names_does_not_take_a_case_from_a_skip_rule(left: Observation | None) -> None:
    skip = compare(1, "b", case=["x", "z"], outcome="skip", stages=())
    one = suite(rules=[compare(0, "*", case=["x"]), skip])
    printed = {
        f"{module}_{target}": CasesSeen(names=("x", "y", "z"), seen=seen)
        for module, seen in (("a", {"x": None, "z": None}), ("b", {"y": None}), ("c", {"x": left, "z": None}))
        for target in ("llvm_cpu_sync", "llvm_cpu_task", "vulkan_gpu", "opencl_pocl")
    }
    kept = [(("c",), "not vmvx", ("x",), ("compare",), "")] if left else []
    assert Run(one, **printed).rules() == [(("b",), "", ("x", "z"), (), ""), *kept]


# ------------------------------------------------------------ whatever there is


@st.composite
def worlds(draw: st.DrawFn) -> Run:
    """Rules with and without `case`, none of which contradict each other, and a run."""
    rules: list[Expectation] = []
    for index in range(draw(st.integers(0, 4))):
        outcome = draw(st.sampled_from(["xfail", "xfail", "xfail", "flaky"]))
        rules.append(
            compare(
                index,
                draw(st.sampled_from(["a", "b", "*", "[ab]"])),
                draw(st.sampled_from(["", "vulkan", "cpu", "not cpu"])),
                draw(st.sampled_from([(), ("x",), ("x", "y"), ("*",), ("[xy]",), ("gone",)])),
                stages=draw(st.sampled_from([("compare",), ("run",), ("compare", "run")])),
                outcome=outcome,
                retries=1 if outcome == "flaky" else 0,
            )
        )
    one = suite(("a", "b"), compilers=("llvm-cpu", "vulkan", "opencl"))
    book = RuleSet(rules)
    for target in one.targets:
        book.rules_for(target)
    clashing = {clash.rules[1].origin for clash in book.contradictions}
    kept = [made for made in rules if made.origin not in clashing]
    rules = [
        replace(made, origin=replace(made.origin, key_path=f"expectation[{index}]")) for index, made in enumerate(kept)
    ]
    run = Run(suite(("a", "b"), compilers=("llvm-cpu", "vulkan", "opencl"), rules=rules))
    for key in list(run.cases):
        if draw(st.integers(0, 4)) == 0:
            del run.cases[key], run.seen[key]
            continue
        ways = {name: draw(st.sampled_from([None, WRONG, WRONG, LOST])) for name in "xyz"}
        run.show(key, CasesSeen(names=("x", "y", "z"), seen=ways))
    return run


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(worlds())
def test_after_an_update_every_case_is_as_its_rule_says_and_a_second_one_changes_nothing(run: Run) -> None:
    try:
        found = run.update()
    except RetargetError as error:  # rules that overlap in part: nothing is written
        event(str(error))
        assume(False)
    after = applied(run.suites, texts(run.suites), found)
    again = run.update(after)
    assert (again.edits, again.excused, again.left) == ((), found.excused, found.left)
    (one,) = after
    book = RuleSet(one.suite.expectations)
    for target in one.targets:
        rules = book.rules_for(target)
        key = key_of(target)
        if key not in run.cases or key in found.left:
            continue
        rest = []
        for name, way in run.cases[key].seen.items():
            named = rules.of(name)
            if named is None:
                rest.append(way)
            else:
                expected = {Ruling.EXCUSED} if named.outcome == "xfail" else {Ruling.PLAIN, Ruling.AGAIN}
                assert judge(named, way).ruling in expected, rule_text(named)
        failed = [way for way in rest if way is not None]
        if rules.whole is None:
            assert not failed
        elif rest and rules.whole.outcome == "xfail":
            assert len(failed) == len(rest), "cases differ"
    assert not book.contradictions
    assert RULES.name == "expectations.toml"
