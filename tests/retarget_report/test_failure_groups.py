from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from page_targets import SUITE, nodeid_of, target
from retarget.model import Observation
from retarget.results import Outcome
from retarget_report.read import State, Target
from retarget_report.views.failures import Failures, failures, module_sizes


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
        ],
        {},
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
        ],
        {},
    )
    assert shown(found) == [("xfail", "compile", "no rule", [0], [1]), ("xfail", "", known, [2], [])]


def test_what_nothing_explains_is_a_group_and_what_comes_to_no_verdict_is_none() -> None:
    lost = [msgspec.structs.replace(blocked(f"a_cpu_{end}", "a_cpu"), state=State.UNEXPLAINED) for end in "xy"]
    found = [*lost, target("b_cpu", Outcome.NOT_RUN), blocked("b_cpu_x", "b_cpu")]
    assert shown(failures(found, {})) == [("unexplained", "", "", [0, 1], [])]


def test_targets_that_a_plan_names_and_nothing_ran_are_a_group_of_their_leg() -> None:
    missing = Target(
        id="x", suite_file="", suite="", module="m", compiler="c", runtime="", state=State.MISSING, leg="gpu"
    )
    assert shown(failures([missing], {})) == [("missing", "", "leg gpu has no result", [0], [])]


def test_a_target_that_fails_in_several_ways_counts_once_and_is_marked() -> None:
    also = (Observation(stage="compare", signature="values differ"),)
    several = target("a_cpu_x", stage="run", signature="aborted", ways={"also": also})
    found = failures([several, target("b_cpu_x", stage="compare", signature="values differ")], {})
    assert [(one.signature, one.targets, one.also) for one in found.groups] == [
        ("values differ", [1], []),
        ("aborted", [0], [0]),
    ]


def test_the_smallest_module_of_a_group_is_first_where_its_source_is_here(tmp_path: Path) -> None:
    (tmp_path / "long.mlir").write_text("12345678")
    (tmp_path / "short.mlir").write_text("1234")
    rows = [
        target("a_cpu", stage="compile", signature="s"),
        target("long_cpu", stage="compile", signature="s", module_file="long.mlir"),
        target("short_cpu", stage="compile", signature="s", module_file="short.mlir"),
        target("bb_cpu", stage="compile", signature="s", module_file="not-here.mlir"),
        target("fine_cpu", Outcome.PASSED, module_file="short.mlir"),
    ]
    sizes = module_sizes(rows, tmp_path)
    assert sizes == {(SUITE, "s", "long"): 8, (SUITE, "s", "short"): 4}
    found = failures(rows, sizes)
    assert found.groups[0].targets == [2, 1, 0, 3]
    assert found.sizes == {2: 4, 1: 8}


@pytest.mark.parametrize("file", ["\0", "a" * 5000])
def test_a_hostile_name_of_a_file_is_no_file(file: str, tmp_path: Path) -> None:
    assert module_sizes([target("a_cpu", module_file=file)], tmp_path) == {}
