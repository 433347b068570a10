"""The suspect of a failure, from what the other targets of the module did."""

# ruff: noqa: E501  (a table has a row for each case)

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from pytest_retarget.attribution.reasoning import conclusion, listing, reference
from retarget.model import Observation
from retarget.results import CaseRecord, Outcome, TargetRecord
from retarget.results.record import CompileRecord

COMPARE = {"stage": "compare", "signature": "values differ", "message": "compare: 1 of 3 elements differ"}
CRASH = {"stage": "crash", "signature": "SIGSEGV", "message": "run: device worker crashed: SIGSEGV"}


def seen(
    pair: str, outcome: str = "not run", *, stage: str = "", signature: str = "", message: str = ""
) -> TargetRecord:
    compiler, runtime = pair.split("/")
    return TargetRecord(
        file="suite.toml",
        suite="s",
        target=f"m_{compiler}_{runtime}",
        compiler=compiler,
        runtime=runtime,
        driver="d",
        outcome=Outcome(outcome),
        observation=Observation(stage=stage, signature=signature) if stage else None,
        message=message,
    )


def read(text: str) -> TargetRecord:
    """A target written as its configs, its outcome, and how it failed or, in brackets, what it reports."""
    words, _, message = text.partition(" (")
    pair, *outcome = words.split()
    how = {"compare": COMPARE, "crash": CRASH}[outcome.pop()] if len(outcome) == 2 else {"message": message[:-1]}
    return seen(pair, *outcome, **how)


def with_cases(pair: str, **cases: dict[str, Any]) -> TargetRecord:
    """A failed target; of its cases, those without anything passed."""
    found = tuple(
        CaseRecord(
            name=name,
            outcome=Outcome.FAILED if how else Outcome.PASSED,
            **{key: value for key, value in how.items() if key != "message"},  # type: ignore[arg-type]
        )
        for name, how in cases.items()
    )
    first = next(filter(None, cases.values()))
    first = {key: value for key, value in first.items() if key not in {"agree_with", "lacking", "agreeing"}}
    return replace(seen(pair, "failed", **first), cases=found)


def crashed(record: TargetRecord) -> TargetRecord:
    return replace(record, observation=Observation(stage="crash", signature=""))


FAILING = seen("a/r", "failed", **COMPARE)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ("", "Inconclusive: nothing else has run this module."),
        ("a/s, b/r skipped (no device)", "Inconclusive: nothing else has run this module."),
        ("b/r xfailed (its compile is expected to fail)", "Inconclusive: nothing else has run this module."),
        ("a/s passed, b/s passed", "This points to runtime config r (driver d): the same artifact passes on s."),
        ("a/s intermittent, b/r intermittent compare", "Inconclusive: nothing else has run this module."),
        ("a/s passed, a/t flaky, b/r passed", "This points to runtime config r (driver d): the same artifact passes on s and t. But what b made of this module passes on r too."),
        ("a/s passed, a/t failed crash", "This points to the runtime configs r and t: the same artifact passes on s."),
        ("a/s xpassed", "This points to runtime config r (driver d): the same artifact passes on s."),
        ("a/s failed compare",
            "This points to compiler config a or to the module and what it expects: its artifact fails alike on every runtime config it ran on, and no other compiler config has run this module."),
        ("a/s xfailed compare, b/r passed, c/r passed", "This points to compiler config a: its artifact fails alike on every runtime config it ran on, and what b and c made of this module passes."),
        ("a/s failed crash, b/r passed", "This points to compiler config a: its artifact fails on every runtime config it ran on, though not alike, and what b made of this module passes."),
        ("a/s failed compare, b/r failed compare, c/r passed",
            "This points to compiler config a and what it has in common with b: its artifact fails alike on every runtime config it ran on, and what c made of this module passes."),
        ("a/s failed compare, b/r failed compare", "This points to the module, or to what it expects: every compiler config fails alike on every runtime config it ran on."),
        ("a/s failed compare, b/r failed crash", "Inconclusive: nothing that ran this module passes, and it does not all fail alike."),
        ("b/r passed, c/s passed", "This points to compiler config a: what b made of this module passes on r."),
        ("b/s passed, b/t passed, c/s passed",
            "This points to compiler config a or to runtime config r (driver d), which nothing else has run this module on: what b and c made of it passes on s and t."),
        ("b/s failed crash, c/s passed", "This points to what compiler config a on r has in common with b on s, which failed as well; c on s passed."),
        ("a/s failed crash, b/r failed compare, b/s passed, b/t passed, c/r skipped (no)",
            "This points to runtime config r (driver d): everything that ran on it fails alike, and what b made of this module passes on s and t."),
        ("b/r failed compare, c/r failed compare, b/s passed", "This points to runtime config r (driver d): everything that ran on it fails alike, and what b made of this module passes on s."),
        ("b/r failed crash, b/s passed", "This points to what compiler config a on r has in common with b on r, which failed as well; b on s passed."),
        ("a/s failed compare, b/r failed compare, b/s passed, c/r passed",
            "This points to compiler config a and what it has in common with b (on r): its artifact fails alike on every runtime config it ran on, and what b (on s) and c made of this module passes."),
        ("b/s failed compare, b/t failed compare, c/s passed, c/t passed, d/s passed, d/t failed compare",
            "This points to what compiler config a on r has in common with b and d on t, which failed as well; c and d on s passed."),
        ("b/s failed compare, a/s", "This points to the module, or to what it expects: every compiler config that ran it fails alike."),
        ("b/s failed crash", "Inconclusive: nothing that ran this module passes, and it does not all fail alike."),
    ],
)  # fmt: skip
def test_a_failure_points_to_what_the_outcomes_allow(others: str, expected: str) -> None:
    assert conclusion(FAILING, [read(other) for other in others.split(", ") if other]) == expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"a/s passed": "1", "a/t passed": "2"}, "This points to runtime config r (driver d): the same artifact passes on s."),
        ({"a/s passed": "1", "a/t failed crash": "2"}, "This points to runtime config r (driver d): the same artifact passes on s."),
        ({"a/t passed": "2", "a/s failed compare": "1"},
            "This points to compiler config a or to runtime config r (driver d): what passes on t is another artifact of compiler config a."),
        ({"a/t failed compare": "2", "b/r passed": "3"},
            "This points to compiler config a: each of its artifacts fails alike on every runtime config it ran on, and what b made of this module passes."),
    ],
)  # fmt: skip
def test_artifacts_of_one_compiler_config_may_differ(others: dict[str, str], expected: str) -> None:
    def made(record: TargetRecord, artifact: str) -> TargetRecord:
        return replace(record, compile=CompileRecord(key="k", artifact=artifact))

    failing = made(FAILING, "1")
    assert conclusion(failing, [made(read(other), artifact) for other, artifact in others.items()]) == expected


def test_what_cannot_be_loaded_anywhere_may_be_the_data() -> None:
    load = {"stage": "load", "signature": "data file … does not exist", "message": "a.txt:1:1: …"}
    assert conclusion(seen("a/r", "failed", **load), [seen("a/s", "failed", **load)]) == (
        "This points to compiler config a or to the data of its cases: its artifact fails alike on every runtime "
        "config it ran on, and no other compiler config has run this module."
    )


def test_a_case_whose_values_could_not_be_had_says_nothing_of_the_compiler() -> None:
    failing = with_cases("a/r", one=UNREAD, fine={})
    silent = (
        "This says nothing of compiler config a: the inputs of the case or its expected results could not be had, so "
        "nothing was called."
    )
    assert conclusion(failing, [with_cases("a/s", one=UNREAD, fine={})]) == silent
    assert conclusion(failing, [with_cases("b/r", one=UNREAD, fine={})]) == silent
    assert conclusion(failing, [seen("b/r", "passed")]) == (
        "This points to compiler config a: what b made of this module passes on r."
    )


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.FLAKY, Outcome.XPASSED])
def test_a_case_that_a_rule_skips_on_another_is_not_said_to_pass_there(outcome: Outcome) -> None:
    failing = with_cases("a/r", first={}, second=COMPARE)
    cases = (failing.cases[0], CaseRecord(name="second", outcome=Outcome.NOT_RUN, excused=True))
    other = replace(seen("a/s", str(outcome)), cases=cases)
    assert conclusion(failing, [other]).startswith(("Inconclusive: nothing else has run ", "second: Inconclusive: "))
    assert reference(failing, [other]) is None


UNREAD = {"stage": "load", "signature": "onnxruntime cannot evaluate m.onnx"}
AGREE = {**COMPARE, "agree_with": "ref"}


def test_a_config_that_passes_since_its_own_results_are_expected_is_no_witness() -> None:
    failing = with_cases("a/r", same=AGREE, fine={})
    passing = [seen("ref/r", "passed"), seen("ref/s", "passed")]
    assert conclusion(failing, [with_cases("a/s", same=AGREE), *passing]) == (
        "This points to compiler config a or to ref, whose results are expected: no third compiler config has run this "
        "module."
    )
    assert conclusion(failing, [with_cases("b/r", same=AGREE), *passing]) == (
        "This points to compiler config ref, whose results are expected: nothing else that ran this module agrees with "
        "them."
    )
    assert conclusion(failing, [seen("b/r", "passed"), *passing]) == (
        "This points to compiler config a: what b made of this module passes on r."
    )
    assert conclusion(failing, [with_cases("b/r", same=CRASH), *passing]) == (
        "Inconclusive: nothing that ran this module passes, and it does not all fail alike."
    )
    crashing = with_cases("a/r", same={**CRASH, "agree_with": "ref"})
    assert conclusion(crashing, [with_cases("a/s", same=CRASH), *passing]) == (
        "This points to compiler config a: its artifact fails alike on every runtime config it ran on, and what ref "
        "made of this module passes."
    )


LACKING = {"stage": "load", "signature": "there are no results", "agree_with": "ref", "lacking": "ref"}


def test_what_lacks_results_to_agree_with_is_neither_pointed_to_nor_a_witness() -> None:
    silent = "This says nothing of compiler config a: compiler config ref, whose results are expected, gave none."
    failing = with_cases("a/r", same=LACKING)
    assert conclusion(failing, [with_cases("a/s", same=LACKING), with_cases("b/r", same=LACKING)]) == silent
    mixed = with_cases("a/r", odd=COMPARE, same=LACKING)
    assert conclusion(mixed, [with_cases("a/s", same=LACKING, odd=COMPARE)]).splitlines() == [
        "odd: This points to compiler config a or to the module and what it expects: its artifact fails alike on every "
        "runtime config it ran on, and no other compiler config has run this module.",
        f"same: {silent}",
    ]
    crashing = with_cases("a/r", same=CRASH)
    assert conclusion(crashing, [with_cases("b/r", same=LACKING), with_cases("c/r", same=LACKING)]) == (
        "Inconclusive: nothing else has run this module."
    )


def outvoted(*agreeing: str) -> dict[str, Any]:
    return {**COMPARE, "agree_with": "majority", "agreeing": agreeing}


NO_MAJORITY = "Inconclusive: no majority of the targets agrees, so that none of those that differ is known to be wrong."


@pytest.mark.parametrize(
    ("agreeing", "others", "expected"),
    [
        # those that agree against it are as if they had passed, also where they are not run
        ("b/r c/r", "b/r skipped, c/r skipped", "This points to compiler config a: what b and c made of this module passes on r."),
        ("b/r c/r", "b/r passed, c/r xpassed", "This points to compiler config a: what b and c made of this module passes on r."),
        ("a/s b/r", "a/s skipped, b/r passed", "This points to runtime config r (driver d): the same artifact passes on s. But what b made of this module passes on r too."),
        ("b/s c/s", "b/s passed, c/s passed, a/s failed compare",
            "This points to compiler config a: its artifact fails alike on every runtime config it ran on, and what b and c made of this module passes."),
        ("", "b/r failed compare", NO_MAJORITY),
        ("", "b/r skipped", NO_MAJORITY),
        ("", "b/r passed, c/r passed", NO_MAJORITY),
    ],
)  # fmt: skip
def test_a_majority_is_a_witness_and_without_one_nobody_is_pointed_to(
    agreeing: str, others: str, expected: str
) -> None:
    failing = with_cases("a/r", same=outvoted(*agreeing.split()))
    assert conclusion(failing, [read(text) for text in others.split(", ")]) == expected


def test_where_no_other_target_gave_results_nothing_is_said_of_the_config() -> None:
    failing = with_cases("a/r", same={**LACKING, "agree_with": "majority", "lacking": "majority"})
    silent = "This says nothing of compiler config a: no other target gave results to agree with."
    assert conclusion(failing, [seen("b/r", "skipped")]) == silent
    crashing = with_cases("a/r", same={**CRASH, "agree_with": "majority"})
    assert conclusion(crashing, [seen("b/r", "passed")]) == (
        "This points to compiler config a: what b made of this module passes on r."
    )


def test_many_cases_are_counted() -> None:
    failing = with_cases("a/r", **{f"c{number}": COMPARE for number in range(7)})
    others = [with_cases("b/s", c0={}, c9=COMPARE)]
    assert conclusion(failing, others) == (
        "c0: This points to compiler config a or to runtime config r (driver d), which nothing else has run this case "
        "on: what b made of it passes on s.\n"
        "c1, c2, c3, c4 and 2 more: Inconclusive: nothing else has run this case."
    )


def test_each_of_the_others_is_listed_with_its_outcome_those_of_the_artifact_first() -> None:
    others = [
        seen("b/r", "failed", **CRASH),
        seen("b/s", "skipped", message="no device"),
        seen("a/s", "failed", **COMPARE),
        seen("a/t", "xfailed", **COMPARE),
        seen("b/t", "failed", **{**COMPARE, "message": "compare: 2 of 3 elements differ"}),
        seen("c/r", "blocked", message="blocked by m_c"),
        seen("c/s", "xpassed"),
        seen("d/r", "xfailed", message="m_d is expected to fail: known"),
        seen("d/s", "error", message="the device is busy"),
        seen("e/r"),
    ]
    assert list(listing(FAILING, others)) == [
        "  m_a_s  failed alike",
        "  m_a_t  failed as expected: compare: 1 of 3 elements differ",
        "  m_b_r  failed: run: device worker crashed: SIGSEGV",
        "  m_b_s  skipped: no device",
        "  m_b_t  failed alike: compare: 2 of 3 elements differ",
        "  m_c_r  blocked by m_c",
        "  m_c_s  passed, though expected to fail",
        "  m_d_r  m_d is expected to fail: known",
        "  m_d_s  error: the device is busy",
        "  m_e_r  not run",
    ]


def test_a_long_list_ends_with_a_count() -> None:
    others = [seen(f"b/r{number:02}", "passed" if number % 2 else "skipped") for number in range(15)]
    lines = list(listing(FAILING, others))
    assert len(lines) == 13
    assert lines[-1] == "  … 3 more: 2 skipped, 1 passed"
    assert len(list(listing(FAILING, others[:13]))) == 13


def test_a_long_summary_is_cut() -> None:
    failed = [seen("b/r", "failed", stage="run", signature="x", message="y" * length) for length in (100, 101)]
    whole, cut = listing(FAILING, failed)
    assert whole.endswith(f" {'y' * 100}")
    assert cut.endswith(f" {'y' * 99}…")


def test_outputs_are_compared_with_those_of_the_same_artifact_then_of_the_same_runtime() -> None:
    others = [seen("b/s", "passed"), seen("b/r", "passed"), seen("a/s", "failed", **COMPARE), seen("a/t", "passed")]
    assert reference(FAILING, others) == others[3]
    assert reference(FAILING, others[:3]) == others[1]
    assert reference(FAILING, others[2:3]) is None
    assert reference(FAILING, [*others[:3], replace(others[3], runs_external=True)]) == others[1]
    assert reference(replace(FAILING, runs_external=True), others) is None
