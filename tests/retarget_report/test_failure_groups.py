from __future__ import annotations

import msgspec
from page_targets import nodeid_of, target
from retarget.model import Observation
from retarget.results import Outcome
from retarget.results.record import CompileRecord
from retarget_report.read import State, Target
from retarget_report.views.failures import Failures, failures


def blocked(name: str, by: str) -> Target:
    return target(name, Outcome.BLOCKED, blocked_by=nodeid_of(by))


def shown(found: Failures) -> list[tuple[str, str, str, list[int], list[int]]]:
    return [(str(one.kind), one.stage, one.signature, one.targets, one.blocked) for one in found.groups]


def test_groups_by_stage_and_signature_and_has_the_largest_first() -> None:
    found = failures(
        [
            target("a_cpu", stage="compile", signature="no rule"),
            target("b_cpu_x", stage="compare", signature="values differ"),
            target("c_cpu_x", stage="compare", signature="values differ"),
            target("d_cpu_x", stage="load", signature="values differ"),
            target("e_cpu", Outcome.PASSED),
        ]
    )
    assert shown(found) == [
        ("fail", "compare", "values differ", [1, 2], []),
        ("fail", "compile", "no rule", [0], []),
        ("fail", "load", "values differ", [3], []),
    ]


def test_a_run_target_that_is_known_to_fail_with_its_compile_is_blocked_by_that() -> None:
    known = "a_cpu is expected to fail: IREE"
    found = failures(
        [
            target("a_cpu", Outcome.XFAILED, stage="compile", signature="no rule"),
            target("a_cpu_x", Outcome.XFAILED, message=known),
            target("b_cpu_x", Outcome.XFAILED, message=known),
        ]
    )
    assert shown(found) == [("xfail", "compile", "no rule", [0], [1]), ("xfail", "", known, [2], [])]


def test_what_nothing_explains_is_a_group_and_what_comes_to_no_verdict_is_none() -> None:
    lost = [msgspec.structs.replace(blocked(f"a_cpu_{end}", "a_cpu"), state=State.UNEXPLAINED) for end in "xy"]
    found = [*lost, target("b_cpu", Outcome.NOT_RUN), blocked("b_cpu_x", "b_cpu")]
    assert shown(failures(found)) == [("unexplained", "", "", [0, 1], [])]


def test_targets_that_a_plan_names_and_nothing_ran_are_a_group_of_their_leg() -> None:
    missing = Target(
        id="x", suite_file="", suite="", module="m", compiler="c", runtime="", state=State.MISSING, leg="gpu"
    )
    assert shown(failures([missing])) == [("missing", "", "leg gpu has no result", [0], [])]


def test_a_target_that_fails_in_several_ways_counts_once_and_is_marked() -> None:
    also = (Observation(stage="compare", signature="values differ"),)
    several = target("a_cpu_x", stage="run", signature="aborted", ways={"also": also})
    found = failures([several, target("b_cpu_x", stage="compare", signature="values differ")])
    assert [(one.signature, one.targets, one.also) for one in found.groups] == [
        ("values differ", [1], []),
        ("aborted", [0], [0]),
    ]


def test_the_module_that_compiles_fastest_is_first_then_the_shortest_name() -> None:
    compiled = {name: CompileRecord(key=name, seconds=seconds) for name, seconds in (("long", 8.0), ("short", 4.0))}
    rows = [
        target("a_cpu", stage="compile", signature="s"),
        target("long_cpu", stage="compile", signature="s", compile=compiled["long"]),
        target("short_cpu", stage="compile", signature="s", compile=compiled["short"]),
        target("bb_cpu", stage="compile", signature="s"),
        target("fine_cpu", Outcome.PASSED, compile=compiled["short"]),
    ]
    assert failures(rows).groups[0].targets == [2, 1, 0, 3]
