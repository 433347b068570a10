"""Whose fault a failure looks like, from what the other targets of the module did."""

from __future__ import annotations

import pytest
from pytest_retarget.reasoning import Seen, conclusion, listing, reference, unrun

COMPARE = {"stage": "compare", "signature": "values differ", "summary": "1 of 3 elements differ"}
CRASH = {"stage": "crash", "signature": "SIGSEGV", "summary": "runner crashed: SIGSEGV"}


def seen(pair: str, outcome: str = "", **how: str) -> Seen:
    compiler, runtime = pair.split("/")
    return Seen(name=f"m_{compiler}_{runtime}", compiler=compiler, runtime=runtime, driver="d", outcome=outcome, **how)


FAILING = seen("a/r", "failed", **COMPARE)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], "Nothing is pointed to: nothing else has run this module."),
        (
            [seen("a/s"), seen("b/r", "skipped", reason="no device")],
            "Nothing is pointed to: nothing else has run this module.",
        ),
        (
            [seen("b/r", "xfailed", reason="its compile is expected to fail")],
            "Nothing is pointed to: nothing else has run this module.",
        ),
        (
            [seen("a/s", "passed"), seen("b/s", "passed")],
            "This points to runtime config r (driver d): the same artifact passes on s.",
        ),
        (
            [seen("a/s", "passed"), seen("a/t", "flaky"), seen("b/r", "passed")],
            "This points to runtime config r (driver d): the same artifact passes on s and t. But what b made of this "
            "module passes on r too.",
        ),
        (
            [seen("a/s", "passed"), seen("a/t", "failed", **CRASH)],
            "This points to the runtime configs r and t: the same artifact passes on s.",
        ),
        (
            [seen("a/s", "xpassed")],
            "This points to runtime config r (driver d): the same artifact passes on s.",
        ),
        (
            [seen("a/s", "failed", **COMPARE)],
            "This points to compiler config a: its artifact fails alike on every runtime config it ran on. No other "
            "compiler config has run this module.",
        ),
        (
            [seen("a/s", "xfailed", **COMPARE), seen("b/r", "passed"), seen("c/r", "passed")],
            "This points to compiler config a: its artifact fails alike on every runtime config it ran on, and what b "
            "and c made of this module passes.",
        ),
        (
            [seen("a/s", "failed", **CRASH), seen("b/r", "passed")],
            "This points to compiler config a: its artifact fails on every runtime config it ran on, though not alike, "
            "and what b made of this module passes.",
        ),
        (
            [seen("a/s", "failed", **COMPARE), seen("b/r", "failed", **COMPARE), seen("c/r", "passed")],
            "This points to compiler config a and what it has in common with b: its artifact fails alike on every "
            "runtime config it ran on, and what c made of this module passes.",
        ),
        (
            [seen("a/s", "failed", **COMPARE), seen("b/r", "failed", **COMPARE)],
            "This points to the module, or to what it expects: every compiler config fails alike on every runtime "
            "config it ran on.",
        ),
        (
            [seen("a/s", "failed", **COMPARE), seen("b/r", "failed", **CRASH)],
            "Nothing is pointed to: nothing that ran this module passes, and it does not all fail alike.",
        ),
        (
            [seen("b/r", "passed"), seen("c/s", "passed")],
            "This points to compiler config a: what b made of this module passes on r.",
        ),
        (
            [seen("b/s", "passed"), seen("b/t", "passed"), seen("c/s", "passed")],
            "This points to compiler config a or to runtime config r (driver d), which nothing else has run this "
            "module on: what b and c made of it passes on s and t.",
        ),
        (
            [seen("b/s", "failed", **CRASH), seen("c/s", "passed")],
            "This points to what compiler config a on r has in common with b on s, which failed as well; "
            "c on s passed.",
        ),
        (
            [seen("b/s", "failed", **COMPARE), seen("a/s")],
            "This points to the module, or to what it expects: every compiler config that ran it fails alike.",
        ),
        (
            [seen("b/s", "failed", **CRASH)],
            "Nothing is pointed to: nothing that ran this module passes, and it does not all fail alike.",
        ),
    ],
)
def test_a_failure_points_to_what_the_outcomes_allow(others: list[Seen], expected: str) -> None:
    assert conclusion(FAILING, others) == expected


def test_what_cannot_be_loaded_anywhere_may_be_the_data() -> None:
    load = {"stage": "load", "signature": "data file … does not exist", "summary": "a.txt:1:1: …"}
    assert conclusion(seen("a/r", "failed", **load), [seen("a/s", "failed", **load)]) == (
        "This points to compiler config a, or to the data of its cases: its artifact fails alike on every runtime "
        "config it ran on. No other compiler config has run this module."
    )


def test_each_of_the_others_is_listed_with_its_outcome_those_of_the_artifact_first() -> None:
    others = [
        seen("b/r", "failed", **CRASH),
        seen("b/s", "skipped", reason="no device"),
        seen("a/s", "failed", **COMPARE),
        seen("a/t", "xfailed", **COMPARE),
        seen("c/r", "blocked", reason="blocked by m_c"),
        seen("c/s", "xpassed"),
        seen("d/r", "xfailed", reason="m_d is expected to fail: known"),
        seen("d/s", "error", reason="the device is busy"),
        seen("e/r"),
    ]
    assert list(listing(FAILING, others)) == [
        "  m_a_s  failed alike: compare: 1 of 3 elements differ",
        "  m_a_t  failed as expected: compare: 1 of 3 elements differ",
        "  m_b_r  failed: crash: runner crashed: SIGSEGV",
        "  m_b_s  skipped: no device",
        "  m_c_r  blocked by m_c",
        "  m_c_s  passed, though expected to fail",
        "  m_d_r  m_d is expected to fail: known",
        "  m_d_s  error: the device is busy",
        "  m_e_r  not run",
    ]
    assert unrun(others) == ["m_e_r"]


def test_a_long_list_ends_with_a_count() -> None:
    others = [seen(f"b/r{number:02}", "passed" if number % 2 else "skipped") for number in range(15)]
    lines = list(listing(FAILING, others))
    assert len(lines) == 13
    assert lines[-1] == "  … 3 more: 2 skipped, 1 passed"
    assert len(list(listing(FAILING, others[:13]))) == 13


def test_a_long_summary_is_cut() -> None:
    (line,) = listing(FAILING, [seen("b/r", "failed", stage="run", signature="x", summary="y" * 500)])
    assert line.endswith("y…")
    assert len(line) < 130


def test_outputs_are_compared_with_those_of_the_same_artifact_then_of_the_same_runtime() -> None:
    others = [seen("b/s", "passed"), seen("b/r", "passed"), seen("a/s", "failed", **COMPARE), seen("a/t", "passed")]
    assert reference(FAILING, others) == others[3]
    assert reference(FAILING, others[:3]) == others[1]
    assert reference(FAILING, others[2:3]) is None
