"""Rules that name cases: how they are declared, which one is in force, and what they make of a target's cases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from model_targets import compile_target, run_target
from msgspec.structs import replace
from retarget.expect.matching import RuleSet
from retarget.expect.verdict import Ruling, TargetRules, judge_target
from retarget.model import Expectation, Origin
from retarget.model.outcomes import CaseOutcome, Failure, Stage, first_failure
from retarget.support.errors import RetargetError

FILE = Path("/project/expectations.toml")
COMPILE = compile_target(kind="cases")
RUN = run_target(COMPILE)

DIFFERS = Failure(stage=Stage.COMPARE, summary="result 0: 1 of 2 elements differ")
REFUSED = Failure(stage=Stage.RUN, summary="no such kernel")


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.model.declared.today", lambda: date(2026, 5, 1))


def rule(index: int, case: str | Sequence[str] = (), *, match: str = "m", **fields: object) -> Expectation:
    values: dict[str, object] = {"stages": ("compare",), "reason": f"reason {index}", **fields}
    return Expectation(
        match=(match,),
        cases=(case,) if isinstance(case, str) else tuple(case),
        origin=Origin(file=FILE, key_path=f"expectation[{index}]"),
        **values,  # type: ignore[arg-type]
    )


def rules_of(*rules: Expectation) -> TargetRules:
    return RuleSet(rules).rules_for(RUN)


def cases(**failures: Failure | None) -> list[CaseOutcome]:
    return [CaseOutcome(name=name, seconds=0.1, failure=failure) for name, failure in failures.items()]


def judged(rules: TargetRules, *, failure: Failure | None = None, **failures: Failure | None) -> tuple[Ruling, str]:
    """The ruling on the target, and the broken rules' cases and rulings, or the cases that are expected to fail."""
    ran = cases(**failures)
    verdict = judge_target(rules, failure or first_failure(ran), ran)
    broken = " ".join(f"{one.case or '*'}:{one.ruling.value}" for one in verdict.broken)
    return verdict.ruling, broken or " ".join(verdict.expected)


# ---------------------------------------------------------------- which one is in force


def test_a_case_whose_name_looks_like_a_glob_is_named_by_it() -> None:
    assert rules_of(rule(0, "at[0]")).of("at[0]") is not None


def test_globs_that_are_equally_specific_for_a_case_and_disagree_are_an_error_of_the_target() -> None:
    found = rules_of(rule(0, "a*"), rule(1, "*b", stages=("run",)))
    assert found.of("ax") is not None
    with pytest.raises(
        RetargetError, match=r"case 'ab': found two expectations, .*\[0\] and .*\[1\], that are equally"
    ):
        judge_target(found, None, cases(ab=None))


def test_compile_targets_have_no_cases() -> None:
    book = RuleSet([rule(0, "a", stages=("run", "crash"))])
    assert book.rules_for(COMPILE) == TargetRules()
    assert RuleSet([rule(0, "a")], checks_artifacts=True).rules_for(COMPILE).of("a") is not None


# ---------------------------------------------------------------- what it makes of cases


def test_a_rule_without_case_is_about_the_cases_that_no_other_rule_names() -> None:
    rules = rules_of(rule(0), rule(1, "a", stages=("run",)))
    assert judged(rules, a=REFUSED, b=DIFFERS, c=None) == (Ruling.EXCUSED, "a b")
    assert judged(rules, a=REFUSED, b=None, c=None) == (Ruling.PASSED, "*:passed")
    assert judged(rules, a=REFUSED, b=REFUSED) == (Ruling.OTHERWISE, "*:otherwise")
    assert judged(rules, a=REFUSED) == (Ruling.EXCUSED, "a")


def test_a_rule_without_case_is_not_broken_by_a_pass_of_some_cases() -> None:
    def ruling(rules: TargetRules, *names: str) -> Ruling:
        return judge_target(rules, None, cases(a=None), names=names).ruling

    assert ruling(rules_of(rule(0)), "a", "b") is Ruling.PLAIN
    assert ruling(rules_of(rule(0)), "a") is Ruling.PASSED
    assert ruling(rules_of(rule(0), rule(1, "b")), "a", "b") is Ruling.PASSED
    assert ruling(rules_of(rule(1, "a")), "a", "b") is Ruling.PASSED


def test_a_failure_before_any_case_is_excused_by_no_rule_that_names_cases() -> None:
    failure = Failure(stage=Stage.LOAD, summary="it does not load")
    assert judged(rules_of(rule(0, "*", stages=("load",))), failure=failure) == (Ruling.PLAIN, "")
    assert judged(rules_of(rule(0, stages=("load",))), failure=failure) == (Ruling.EXCUSED, "")
    assert judged(rules_of(rule(0, "a")), failure=failure, a=DIFFERS) == (Ruling.PLAIN, "a")


def test_a_case_without_results_to_agree_with_is_not_held_against_its_rule() -> None:
    lacking = Failure(stage=Stage.LOAD, summary="there are no results", no_verdict=True, lacking="other")
    assert judged(rules_of(rule(0, "a"), rule(1, "b")), a=DIFFERS, b=lacking) == (Ruling.EXCUSED, "a")
    assert judged(rules_of(rule(0, "b")), b=lacking, c=None) == (Ruling.PLAIN, "")


def test_cases_that_are_skipped_are_not_run_unless_a_more_exact_rule_speaks_of_them() -> None:
    skip = rule(0, "a*", outcome="skip", stages=())
    assert rules_of(skip, rule(1, "ab")).skipping() == (("ab", False), ("a*", True))
    assert rules_of(rule(1, "ab")).skipping() == ()
    assert rules_of(replace(skip, until=date(2020, 1, 1))).skipping() == ()
