"""The status as text: each part of it alone, and the whole."""

from __future__ import annotations

from typing import Any

import pytest
from retarget_bringup.status.assemble import Blocker, Excluded, Next, RungCount, Status
from retarget_bringup.status.text import _blockers, _left_out, _rungs, heading, next_lines, status_lines

NEXT = Next(what="add", why="it frees 3", command="pytest x")


def status(**known: Any) -> Status:
    return Status(**{"name": "npu", "next": NEXT} | known)


def rungs(**counts: tuple[int, int]) -> tuple[RungCount, ...]:
    return tuple(RungCount(rung=name, reach=reach, stop=stop) for name, (reach, stop) in counts.items())


@pytest.mark.parametrize(
    ("known", "line"),
    [
        ({"percentage": 66.6, "matches": 2, "counted": 3}, "npu: 66.6 %: 2 of 3 targets match"),
        ({"percentage": 100.0, "matches": 1, "counted": 1}, "npu: 100.0 %: 1 of 1 target match"),
        (
            {
                "rungs": rungs(none=(4, 1), matches=(3, 3)),
                "excluded": (Excluded(state="unseen", reason="r", targets=("t",)),),
            },
            "npu: 3 of 4 targets match, and none is in the ladder yet",
        ),
        (
            {"excluded": (Excluded(state="unseen", reason="r", targets=("t",)),)},
            "npu: 0 of 0 targets match, and none is in the ladder yet",
        ),
        (
            {
                "rungs": rungs(none=(4, 1), compiles=(3, 3)),
                "excluded": (
                    Excluded(state="not tried", reason="r", targets=("t", "u")),
                    Excluded(state="not tried", reason="s", targets=("v",)),
                    Excluded(state="permanent", reason="s", targets=("w",)),
                ),
            },
            "npu: none of 3 targets was tried; 3 compile",
        ),
        ({"rungs": rungs(compiles=(0, 0))}, "npu: none of 0 targets was tried"),
    ],
)
def test_the_heading_is_the_status_in_one_line(known: dict[str, Any], line: str) -> None:
    assert heading(status(**known)) == line


ALL = rungs(none=(200, 1), compiles=(199, 99), loads=(100, 0), completes=(1, 1), matches=(0, 0))


def test_rungs_have_bars_that_hide_no_target() -> None:
    assert list(_rungs(status(rungs=ALL))) == [
        f"{'rung':<12}{'reached by':<60}stopped there",
        f"{'none':<12}{'':<60}  1",
        f"{'compiles':<12}{'#' * 39}.  199 of 200   99 %   99",
        f"{'loads':<12}{'#' * 20}{'.' * 20}  100 of 200   50 %",
        f"{'completes':<12}#{'.' * 39}    1 of 200    0 %    1",
        f"{'matches':<12}{'.' * 40}    0 of 200    0 %",
    ]
    whole = rungs(none=(2, 0), matches=(2, 2))
    assert list(_rungs(status(rungs=whole, only_compiled=1))) == [
        f"{'rung':<12}{'reached by':<56}stopped there",
        "none",
        f"{'matches':<12}{'#' * 40}  2 of 2  100 %  2",
        "1 target without a runtime config: compiled, they count as matching",
    ]


def left_out(count: int, state: str = "permanent") -> tuple[Excluded, ...]:
    return tuple(Excluded(state=state, reason=f"r{number}", targets=("t", "u")) for number in range(count))


@pytest.mark.parametrize(("count", "limit", "shown"), [(5, 10, 5), (6, 10, 5), (7, None, 7), (7, 10, 5)])
def test_five_reasons_of_each_state_are_shown(count: int, limit: int | None, shown: int) -> None:
    lines = list(_left_out(status(excluded=(*left_out(count), *left_out(1, "unseen"))), limit))
    hidden = {0: [], 1: ["        … and 1 more reason; --all shows them"]}.get(
        count - shown, [f"        … and {count - shown} more reasons; --all shows them"]
    )
    assert lines == [
        f"permanent, not in the percentage: {2 * count} targets",
        *[f"     2  r{number}" for number in range(shown)],
        *hidden,
        "",
        "unseen, not in the percentage until `retarget bringup npu --raise`: 2 targets",
        "     2  r0",
        "",
    ]


def blocker(**known: Any) -> Blocker:
    values: dict[str, Any] = {
        "rung": "loads",
        "stage": "run",
        "signature": "lost",
        "frees": 2,
        "targets": ("t", "u"),
        "smallest": "t",
        "command": "pytest t",
    }
    return Blocker(**values | known)


@pytest.mark.parametrize(
    ("known", "lines"),
    [
        ({}, ["  1. frees 2  stop at loads: run: lost", "     smallest   t", "     run        pytest t", ""]),
        (
            {"rung": "none", "stage": "", "size": 12, "reference": "pytest r", "known": "a rule"},
            [
                "  1. frees 2  lost",
                "     smallest   t  (12 bytes)",
                "     known      a rule",
                "     run        pytest t",
                "     reference  pytest r",
                "",
            ],
        ),
        (
            {"size": 12, "diagnostic": ("one", "two")},
            [
                "  1. frees 2  stop at loads: run: lost",
                "     smallest   t  (12 bytes)",
                "     says       one",
                "                two",
                "     run        pytest t",
                "",
            ],
        ),
    ],
)
def test_a_blocker_has_what_is_known_of_it(known: dict[str, Any], lines: list[str]) -> None:
    assert list(_blockers([blocker(**known)], 10)) == ["what blocks: 1 signature, 2 targets below matches", "", *lines]


def test_the_next_step_has_a_command_where_there_is_one() -> None:
    assert list(next_lines(NEXT)) == ["next: add", "  why  it frees 3", "  run  pytest x"]
    assert list(next_lines(Next(what="w", why="y"))) == ["next: w", "  why  y"]


def test_the_parts_of_which_there_is_something_are_set_apart() -> None:
    whole = status(
        percentage=50.0, rungs=rungs(none=(2, 1), matches=(1, 1)), excluded=left_out(6), blockers=(blocker(),) * 11
    )
    lines = list(status_lines(whole))
    assert lines[:2] == [heading(whole), ""]
    assert lines[-4:] == ["", *next_lines(NEXT)]
    assert lines[4].startswith(f"{'matches':<12}{'#' * 20}{'.' * 20}  1 of 2")
    assert (len([line for line in lines if "frees" in line]), sum("--all" in line for line in lines)) == (11, 2)
    in_full = list(status_lines(whole, everything=True))
    assert (len([line for line in in_full if "frees" in line]), sum("--all" in line for line in in_full)) == (12, 0)
    assert list(status_lines(status(rungs=rungs(none=(0, 0))))) == [
        "npu: none of 0 targets was tried",
        "",
        *next_lines(NEXT),
    ]
