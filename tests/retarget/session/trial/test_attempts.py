"""How often a target is tried, and what its rules make of how it ended."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from retarget.expect.matching import Assignment, RuleSet, RulesInForce
from retarget.expect.verdict import TargetRules
from retarget.model import Expectation, Origin
from retarget.model.outcomes import CaseOutcome, Failure, Stage
from retarget.results.record import Outcome
from retarget.session.trial.attempts import Attempts, OtherwiseError, UnexpectedPassError, case_records, raise_verdict
from retarget.session.trial.failures import AsExpected, StageFailedError

TARGET = run_target(compile_target())
PAST = date(2020, 1, 1)


class Locations:
    def location(self, origin: Origin) -> str:
        return f"{origin.file.name}:{origin.key_path}"


LOCATIONS: Any = Locations()


def rule(index: int = 0, **known: Any) -> Expectation:
    origin = Origin(file=ORIGIN.file, key_path=str(index))
    values = {"match": ("m",), "stages": ("run",), "reason": f"r{index}", "origin": origin}
    return Expectation(**values | known)


def rules(*found: Expectation) -> TargetRules:
    return RuleSet(found).rules_for(TARGET)


def error(stage: Stage = Stage.RUN, summary: str = "lost", *cases: CaseOutcome) -> StageFailedError:
    failure = Failure(stage=stage, summary=summary)
    return StageFailedError(failure, f"{stage}: {summary}\nmore", cases=cases, commands=("paste",))


def case(name: str, summary: str = "", stage: Stage = Stage.RUN, **known: Any) -> CaseOutcome:
    failure = Failure(stage=stage, summary=summary) if summary else None
    return CaseOutcome(name=name, seconds=1.0, failure=failure, **known)


def ended(found: TargetRules, tried: Attempts) -> tuple[type[BaseException] | None, str]:
    try:
        raise_verdict(found, tried, LOCATIONS)
    except (AsExpected, UnexpectedPassError, StageFailedError) as end:
        return type(end), str(end)
    return None, ""


FLAKY = rule(outcome="flaky", retries=2)


@pytest.mark.parametrize(
    ("found", "failed", "kind", "text"),
    [
        (rules(rule()), error(), AsExpected, "r0"),
        (rules(rule(issue="x/1")), error(), AsExpected, "r0 (x/1)"),
        (rules(rule(outcome="intermittent")), error(), AsExpected, "r0"),
        (rules(rule(outcome="intermittent")), None, None, ""),
        (rules(FLAKY), None, None, ""),
        (
            rules(rule()),
            None,
            UnexpectedPassError,
            "expected to fail at run, but passed\n\nexpectation  suite.toml:0\nreason       r0\nexpected     run\n"
            "found        passed\nnext: take the target out of the rule, or let `pytest "
            "--retarget-update-expectations` do it",
        ),
        (
            rules(rule(signature="other")),
            error(),
            OtherwiseError,
            "expected to fail at run in another way: run: lost\n\nexpectation  suite.toml:0\nreason       r0\n"
            "expected     run: other\nfound        run: lost\nnext: if it is so now, change the rule, or let `pytest "
            "--retarget-update-expectations` do it\n\nrun: lost\nmore",
        ),
        (
            rules(rule(until=PAST)),
            error(),
            OtherwiseError,
            "its expectation expired on 2020-01-01: run: lost\n\nexpectation  suite.toml:0\nreason       r0\n"
            "until        2020-01-01\nnext: mend it, or decide anew how long it is excused and change `until`\n\n"
            "run: lost\nmore",
        ),
        (rules(rule(until=PAST)), None, None, ""),
    ],
)
def test_an_end_is_what_the_rule_makes_of_it(
    found: TargetRules, failed: StageFailedError | None, kind: object, text: str
) -> None:
    assert ended(found, Attempts(error=failed)) == (kind, text)


# ---------------------------------------------------------------- cases


def of_cases(*names: str, index: int = 0, **known: Any) -> Expectation:
    return rule(index, cases=names, **known)


def tried_cases(*cases: CaseOutcome, names: tuple[str, ...] = ()) -> Attempts:
    failed = [one.failure for one in cases if one.failure is not None]
    found = error(failed[0].stage, failed[0].summary, *cases) if failed else None
    return Attempts(error=found, cases=cases, names=names or tuple(one.name for one in cases))


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), "2 of 3 cases failed as expected: r0"),
        (("a", "b", "c", "d", "e"), "2 of 5 cases failed as expected, 2 not run: r0"),
    ],
)
def test_of_cases_that_fail_as_expected_the_number_is_told(names: tuple[str, ...], text: str) -> None:
    tried = tried_cases(case("a", "lost"), case("b", "lost"), case("c"), names=names)
    assert ended(rules(of_cases("a", "b")), tried) == (AsExpected, text)


def test_three_cases_that_are_not_as_their_rules_say_are_shown() -> None:
    cases = [case(name) for name in "abcdefgh"]
    kind, text = ended(rules(of_cases(*"abcdefgh")), tried_cases(*cases))
    lines = text.splitlines()
    assert kind is UnexpectedPassError
    assert lines[0] == ("case 'a' is expected to fail at run, but passed (and case 'b', case 'c', case 'd' and 4 more)")
    assert [line for line in lines if line.startswith("case  ")] == [f"case         {name}" for name in "abc"]
    assert lines[-2:] == [
        "and case 'd', case 'e', case 'f' and 2 more",
        "next: take the case out of the rule, or let `pytest --retarget-update-expectations` do it",
    ]


def test_what_failed_is_told_beside_cases_that_passed() -> None:
    tried = tried_cases(case("a"), case("b", "lost"))
    kind, text = ended(rules(of_cases("a")), tried)
    assert (kind, text.splitlines()[0]) == (OtherwiseError, "case 'a' is expected to fail at run, but passed")
    assert text.endswith("\n\nrun: lost\nmore")
    kind, text = ended(rules(of_cases("a", signature="other")), tried_cases(case("b"), case("a", "\x1b[1mlost")))
    head = "case 'a' is expected to fail at run in another way: run: lost"
    assert (kind, text.splitlines()[0]) == (OtherwiseError, head)


def records(found: TargetRules, tried: Attempts, *only: str) -> list[tuple[str, str, str, bool]]:
    kept = case_records(found, tried.verdict(found), tried.cases, tried.names, only)
    return [(one.name, one.outcome, one.reason, bool(one.excused)) for one in kept]


def test_each_case_has_a_record_also_where_it_was_not_run() -> None:
    tried = tried_cases(case("a"), case("b", "lost"), case("c", "gone"), case("d"), names=tuple("abcdefg"))
    found = rules(
        of_cases("b"),
        of_cases("d", index=1),
        of_cases("e", index=2, outcome="skip", stages=()),
        of_cases("f", index=3, outcome="skip", stages=(), until=PAST),
    )
    assert records(found, tried, "a*", "b", "c", "d", "e", "f") == [
        ("a", Outcome.PASSED, "", False),
        ("b", Outcome.XFAILED, "r0", False),
        ("c", Outcome.FAILED, "run: gone", False),
        ("d", Outcome.FAILED, "case 'd' is expected to fail at run, but passed", False),
        ("e", Outcome.NOT_RUN, "r2", True),
        ("f", Outcome.NOT_RUN, "the run ended before it", False),
        ("g", Outcome.NOT_RUN, "not selected by --retarget-case", False),
    ]


def test_a_record_of_a_case_has_what_is_known_of_it() -> None:
    known = {"agree_with": "o", "dispatches": (("d://0", 3), ("d://1", 0))}
    tried = tried_cases(case("a", **known), case("b", "a  b\nc", Stage.COMPARE, **known))
    passed, failed = case_records(rules(), tried.verdict(rules()), tried.cases, (), ())
    for one in (passed, failed):
        assert (one.seconds, one.agree_with, one.dispatches) == (1.0, "o", "d://0=3 d://1=0")
    assert (failed.stage, failed.reason, failed.no_verdict, failed.lacking) == ("compare", "compare: a b c", False, "")
    assert (passed.stage, passed.times) == ("", None)


# ---------------------------------------------------------------- the rules in force


def in_force(*found: Expectation, of: Any = TARGET) -> RulesInForce:
    return RuleSet(found).assign([TARGET.compile, TARGET]).in_force(of)


def test_the_rules_of_a_target_are_its_own_and_those_of_its_compile() -> None:
    compiles, runs = rule(0, stages=("compile",)), rule(1)
    found = in_force(compiles, runs)
    assert (found.compile_rule, found.rules.whole, found.is_deferred) == (compiles, runs, False)
    assert [one.origin.key_path for one in found.all] == ["1", "0"]
    assert found.compile_rules == TargetRules(whole=compiles)
    both = in_force(rule(stages=("compile", "run")))
    assert (both.is_deferred, both.compile_rule is not None) == (True, True)
    assert in_force(runs, of=TARGET.compile) is Assignment.nothing
    assert in_force() is Assignment.nothing


@pytest.mark.parametrize(
    ("found", "skipping"),
    [
        ([rule(outcome="skip", stages=())], True),
        ([rule(outcome="skip", stages=(), until=PAST)], False),
        ([rule()], False),
        ([rule(outcome="skip", stages=(), when="on(driver='x')")], False),
    ],
)
def test_a_rule_that_is_sure_to_skip_a_target(found: list[Expectation], skipping: bool) -> None:
    one = RuleSet(found).assign([TARGET.compile, TARGET]).in_force(TARGET)
    assert (one.skipping is not None) is skipping
    assert one.asks_devices is ("on(" in found[0].when)
