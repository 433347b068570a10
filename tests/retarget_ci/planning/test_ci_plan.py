"""The plan of an event: which legs there are, what they need, and what is left out."""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planned_targets import CPU, HOST, VULKAN, ci, declared, ids, registry, runner, waiver
from retarget.model import Module
from retarget.results import Plan, Waived, digest_of_ids
from retarget.support import DiagnosticsError, RetargetError
from retarget_ci.planning.command import summary
from retarget_ci.planning.plan import RUN_SECONDS, Durations, make_plan

REGISTRY = registry()
TODAY = date(2030, 1, 31)
BUILDER = runner("builder", builds=True)
GPU = runner("gpu", drivers=("vulkan",))
DESK = runner("desk", drivers=("local-sync",))


def _legs(plan: Plan) -> dict[str, tuple[str, ...]]:
    return {leg.name: leg.ids for leg in plan.legs}


def test_without_a_runner_that_builds_each_leg_compiles_what_it_runs() -> None:
    config, event = ci(DESK)
    plan = make_plan(config, event, declared(REGISTRY, ["m"], [(CPU, ["local-sync"])]), today=TODAY)
    assert _legs(plan) == {"host-desk-1": ids("m_cpu", "m_cpu_local-sync")}


def test_what_a_selected_run_target_needs_is_compiled_selected_or_not() -> None:
    config, event = ci(BUILDER, DESK, select="run and local-sync")
    plan = make_plan(config, event, declared(REGISTRY, ["m"], [(CPU, ["local-sync"]), (VULKAN, [])]), today=TODAY)
    assert _legs(plan) == {"build-builder-1": ids("m_cpu"), "run-desk-1": ids("m_cpu_local-sync")}


def test_targets_without_a_runner_are_an_error_that_says_which_and_why() -> None:
    config, event = ci(BUILDER, DESK)
    with pytest.raises(RetargetError) as raised:
        make_plan(config, event, declared(REGISTRY, [*"abcdefg"], [(VULKAN, ["vulkan"])]), today=TODAY)
    names = ", ".join(ids(*(f"{name}_vulkan_vulkan" for name in "abcde")))
    assert str(raised.value) == (
        "7 targets that event 'pr' selects have no runner:\n"
        f"  runner 'builder' has no driver 'vulkan': {names} and 2 more\n"
        "give a runner in ci.toml what they need, or say with a [[waiver]] why they may stay without one"
    )


def test_a_waiver_is_for_targets_without_a_runner_up_to_its_day() -> None:
    targets = declared(REGISTRY, ["m"], [(CPU, ["local-sync"]), (VULKAN, ["vulkan"])])
    config, event = ci(BUILDER, DESK, waivers=[waiver("run", TODAY)])
    plan = make_plan(config, event, targets, today=TODAY)
    assert plan.waived == (Waived(ids=ids("m_vulkan_vulkan"), reason="no machine", until="2030-01-31"),)
    assert _legs(plan)["run-desk-1"] == ids("m_cpu_local-sync"), "a runner can take it"
    with pytest.raises(
        RetargetError, match=r"has no driver 'vulkan' \(the waiver at ci\.toml(:\d+)? ended on 2030-01-31\)"
    ):
        make_plan(config, event, targets, today=date(2030, 2, 1))


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("cpu or vulcan", "'cpu or vulcan': none of the 4 targets has the tag 'vulcan'; did you mean 'vulkan'?"),
        ("not slow", "'not slow': none of the 4 targets has the tag 'slow'"),
        ("cpu and vulkan", "'cpu and vulkan': selects none of the 4 targets"),
    ],
)
def test_an_event_that_selects_nothing_or_has_an_unknown_word_is_an_error(select: str, message: str) -> None:
    config, event = ci(BUILDER, DESK, GPU, select=select)
    targets = declared(REGISTRY, ["m"], [(CPU, ["local-sync"]), (VULKAN, ["vulkan"])])
    with pytest.raises(DiagnosticsError) as raised:
        make_plan(config, event, targets, today=TODAY)
    assert [one.message for one in raised.value.diagnostics] == [message]


def test_predicted_durations_are_measured_ones_then_medians_of_the_configs_then_defaults() -> None:
    targets = declared(REGISTRY, [*"abc"], [(CPU, ["local-sync"])]).targets
    by_id = {one.id: one for one in targets}
    (a, b, c), (run,) = ids("a_cpu", "b_cpu", "c_cpu"), ids("a_cpu_local-sync")
    durations = Durations({a: 10.0, b: 20.0}, targets)
    assert [durations.of(by_id[one]) for one in (a, b, c, run)] == [10.0, 20.0, 15.0, RUN_SECONDS]


@given(
    modules=st.integers(1, 12),
    seconds=st.lists(st.floats(0.01, 50), min_size=1, max_size=8),
    capacity=st.integers(1, 5),
    select=st.sampled_from(["", "run", "compile", "cpu", "host and run", "vulkan or local-task"]),
)
def test_legs_are_disjoint_complete_and_needed_artifacts_come_from_build_legs(
    modules: int, seconds: list[float], capacity: int, select: str
) -> None:
    runs = [(CPU, ["local-sync", "local-task"]), (HOST, ["local-sync"]), (VULKAN, ["vulkan"])]
    targets = declared(REGISTRY, [f"m{number}" for number in range(modules)], runs)
    durations = {one.id: seconds[at % len(seconds)] for at, one in enumerate(targets.targets)}
    runners = [
        runner("builder", builds=True, capacity=capacity, compiles=2),
        runner("cpus", drivers=("local-sync", "local-task"), capacity=capacity),
        runner("gpu", drivers=("vulkan",), capacity=capacity),
    ]
    config, event = ci(*runners, select=select)
    plan = make_plan(config, event, targets, today=TODAY, durations=durations)
    found = Counter(chain.from_iterable(leg.ids for leg in plan.legs))
    assert set(found.values()) <= {1}
    selected = {
        one.id for one in targets.targets if not select or any(_has(one.target.tags, part) for part in _or(select))
    }
    assert set(found) == selected | {one.compile_id for one in targets.targets if one.id in selected}
    by_name = {leg.name: leg for leg in plan.legs}
    by_id = {one.id: one for one in targets.targets}
    for leg in plan.legs:
        assert leg.digest == digest_of_ids(leg.ids)
        artifacts = set(chain.from_iterable(by_name[need].ids for need in leg.needs))
        compiled = {by_id[one].compile_id for one in leg.ids}
        if leg.kind == "run":
            assert compiled <= (artifacts or set(leg.ids)), "all from build legs, or all compiled here"
            assert {by_name[need].kind for need in leg.needs} <= {"build"}
    sorts = Counter((leg.name.split("-")[0], leg.runner) for leg in plan.legs)
    assert all(count <= capacity for count in sorts.values())


def _or(select: str) -> list[list[str]]:
    return [part.split(" and ") for part in select.split(" or ")]


def _has(tags: tuple[str, ...], words: list[str]) -> bool:
    return all(word in tags for word in words)


AGREE = """\
[[case]]
name = "both"
agree_with = "{}"
"""


@pytest.mark.parametrize(
    ("reference", "legs"),
    [
        ("cpu", {"build-builder-1": ("m_cpu", "m_vulkan"), "run-both-1": ("m_cpu_local-sync", "m_vulkan_vulkan")}),
        ("host", {"host-both-1": ("m_host", "m_host_local-sync", "m_vulkan", "m_vulkan_vulkan")}),
    ],
)
def test_cases_that_agree_with_another_config_run_where_that_runs_and_have_its_artifact(
    tmp_path: Path, reference: str, legs: dict[str, tuple[str, ...]]
) -> None:
    cases = tmp_path / "m.cases.toml"
    cases.write_text(AGREE.format(reference))
    module = Module(name="m", path=tmp_path / "m.mlir", data=(cases,))
    other = CPU if reference == "cpu" else HOST
    targets = declared(
        REGISTRY, ["m"], [(other, ["local-sync"]), (VULKAN, ["vulkan"])], kind="cases", module=module, folder=tmp_path
    )
    config, event = ci(BUILDER, GPU, runner("both", drivers=("vulkan", "local-sync")))
    assert _legs(make_plan(config, event, targets, today=TODAY)) == {name: ids(*found) for name, found in legs.items()}
    config, event = ci(BUILDER, GPU, DESK)
    with pytest.raises(
        RetargetError, match=f"its cases are to agree with '{reference}', and runner 'gpu' has no driver"
    ):
        make_plan(config, event, targets, today=TODAY)


def test_targets_that_agree_with_most_others_run_where_another_one_runs_and_have_all_artifacts_that_run_there(
    tmp_path: Path,
) -> None:
    cases = tmp_path / "m.cases.toml"
    cases.write_text("[[case]]\n")
    module = Module(name="m", path=tmp_path / "m.mlir", data=(cases,))
    known = {"kind": "cases", "module": module, "folder": tmp_path, "agree": "majority"}
    targets = declared(REGISTRY, ["m"], [(CPU, ["local-sync"]), (VULKAN, ["vulkan"])], **known)
    config, event = ci(BUILDER, GPU, runner("both", drivers=("vulkan", "local-sync")))
    plan = make_plan(config, event, targets, today=TODAY)
    assert _legs(plan) == {
        "build-builder-1": ids("m_cpu", "m_vulkan"),
        "run-both-1": ids("m_cpu_local-sync", "m_vulkan_vulkan"),
    }
    config, event = ci(BUILDER, GPU, DESK)
    with pytest.raises(RetargetError, match=r"its cases are to agree with 'vulkan', and runner 'desk' has no driver"):
        make_plan(config, event, targets, today=TODAY)


def test_the_summary_has_a_line_for_each_leg_and_says_what_is_waived_or_too_long() -> None:
    config, event = ci(BUILDER, DESK, waivers=[waiver("vulkan", TODAY)])
    targets = declared(REGISTRY, ["m", "n"], [(CPU, ["local-sync"]), (VULKAN, ["vulkan"])])
    durations = dict.fromkeys(ids("m_cpu_local-sync", "n_cpu_local-sync"), 3725.0)
    plan = make_plan(config, event, targets, today=TODAY, durations=durations)
    assert summary(plan, event) == (
        "LEG              RUNNER   TARGETS  PREDICTED   NEEDS\n"
        "build-builder-1  builder  4        8 s\n"
        "run-desk-1       desk     2        2 h 04 min  build-builder-1\n"
        "6 targets in 2 legs for event 'pr'\n"
        "waived until 2030-01-31: 2 targets (no machine)\n"
        "warning: run-desk-1 is predicted to take 2 h 04 min, more than the budget of 1 min 00 s; "
        "raise the capacity of runner 'desk' or the budget\n"
    )
