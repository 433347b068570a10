"""How a session that updates its expectations reports outcomes, and when it writes rules. pytest is a double."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget import update
from pytest_retarget.record import RECORD
from pytest_retarget.update import UpdateExpectations
from retarget.model import Expectation, Observation, Origin, Stage
from retarget.results import CaseRecord, Outcome, Result, TargetRecord
from retarget.support import Diagnostic, DiagnosticsError, RetargetError

REFUSED = Observation(stage="compile", signature="no op")
WRONG = Observation(stage="compare", signature="values differ")


def rule(outcome: str = "xfail", **known: Any) -> Expectation:
    origin = Origin(file=Path("expectations.toml"), key_path="expectation[0]")
    return Expectation(match=("*",), reason="r", outcome=outcome, origin=origin, **known)


FLAKY, BY_HAND = rule("flaky", retries=1), rule("intermittent")
OVER = rule(until=date(2020, 1, 1))


def item(
    *, runtime: object = None, seen: Observation | None = None, compiled: Any = None, whole: Any = None, **by_case: Any
) -> Any:
    trial = SimpleNamespace(
        compile_observation=seen,
        in_force=SimpleNamespace(compile_rule=compiled),
        rules=SimpleNamespace(whole=whole, of=by_case.get),
    )
    return SimpleNamespace(trial=trial, target=SimpleNamespace(compiled=SimpleNamespace(name="m_c"), runtime=runtime))


def record(outcome: Outcome, result: Result, **known: Any) -> TargetRecord:
    return TargetRecord(**{"nodeid": "s.toml::s::m", "outcome": outcome, "result": result, "file": "s.toml"} | known)


def adjusted(one: Any, found: TargetRecord, *, when: str = "call", outcome: str = "failed") -> tuple[Any, TargetRecord]:
    config: Any = SimpleNamespace()
    report: Any = SimpleNamespace(when=when, outcome=outcome, failed=outcome == "failed", longrepr="text")
    return report, UpdateExpectations(config).adjust(one, report, None, found)


FAILED = record(Outcome.FAILED, Result.FAILED, observation=WRONG, stage=Stage.COMPARE)
NOT_COMPILED = record(Outcome.FAILED, Result.FAILED, observation=REFUSED, stage=Stage.COMPILE)
CASES = tuple(
    CaseRecord(name=name, outcome=outcome, stage=stage, reason="why")
    for name, outcome, stage in (("p", Outcome.PASSED, ""), ("f", Outcome.FAILED, "compare"), ("x", Outcome.FAILED, ""))
)


@pytest.mark.parametrize(
    ("one", "found", "outcome"),
    [
        (item(), FAILED, Outcome.XFAILED),
        (item(whole=rule()), FAILED, Outcome.XFAILED),
        (item(whole=FLAKY), FAILED, Outcome.FAILED),
        (item(whole=BY_HAND), FAILED, Outcome.FAILED),
        (item(whole=OVER), FAILED, Outcome.FAILED),
        (item(compiled=FLAKY), FAILED, Outcome.XFAILED),
        (item(runtime="r", compiled=FLAKY), FAILED, Outcome.XFAILED),
        (item(runtime="r", compiled=FLAKY), NOT_COMPILED, Outcome.FAILED),
        (item(runtime="r", whole=FLAKY), NOT_COMPILED, Outcome.XFAILED),
        (item(whole=FLAKY), NOT_COMPILED, Outcome.FAILED),
    ],
)
def test_a_failure_that_becomes_a_rule_is_expected(one: Any, found: TargetRecord, outcome: Outcome) -> None:
    report, after = adjusted(one, found)
    assert after.outcome is outcome
    is_written = outcome is Outcome.XFAILED
    assert report.outcome == ("skipped" if is_written else "failed")
    assert hasattr(report, "wasxfail") is is_written


@pytest.mark.parametrize(
    ("one", "outcome", "of_cases"),
    [
        (item(), Outcome.XFAILED, ["passed", "xfailed", "passed"]),
        (item(f=FLAKY), Outcome.FAILED, ["passed", "failed", "passed"]),
        (item(f=rule(), whole=FLAKY), Outcome.XFAILED, ["passed", "xfailed", "passed"]),
        (item(whole=FLAKY), Outcome.FAILED, ["passed", "failed", "passed"]),
        (item(x=FLAKY), Outcome.XFAILED, ["passed", "xfailed", "passed"]),
    ],
)
def test_each_case_that_failed_has_its_own_rule(one: Any, outcome: Outcome, of_cases: list[str]) -> None:
    found = record(Outcome.FAILED, Result.FAILED, observation=WRONG, stage=Stage.COMPARE, cases=CASES)
    _, after = adjusted(one, found)
    assert (after.outcome, [case.outcome for case in after.cases]) == (outcome, of_cases)
    assert [case.reason for case in after.cases] == ["why", "why", ""]


@pytest.mark.parametrize("outcome", ["failed", "passed"])
def test_a_target_that_passes_against_a_rule_has_passed(outcome: str) -> None:
    before = Outcome.XPASSED if outcome == "failed" else Outcome.PASSED
    report, after = adjusted(item(whole=FLAKY), record(before, Result.PASSED), outcome=outcome)
    assert (after.outcome, report.outcome) == (Outcome.PASSED, "passed")
    assert report.longrepr == (None if outcome == "failed" else "text")


@pytest.mark.parametrize(
    ("one", "before", "after"),
    [
        (item(seen=REFUSED), Outcome.BLOCKED, Outcome.XFAILED),
        (item(seen=REFUSED, compiled=FLAKY), Outcome.BLOCKED, Outcome.BLOCKED),
        (item(), Outcome.BLOCKED, Outcome.BLOCKED),
        (item(seen=REFUSED), Outcome.SKIPPED, Outcome.SKIPPED),
    ],
)
def test_a_run_that_a_failed_compile_blocks_is_expected_with_it(one: Any, before: Outcome, after: Outcome) -> None:
    report, found = adjusted(one, record(before, Result.UNKNOWN), outcome="skipped")
    assert found.outcome is after
    is_written = after is Outcome.XFAILED
    assert report.longrepr == (None if is_written else "text")
    words = "m_c is expected to fail: compile: no op"
    assert getattr(report, "wasxfail", None) == (words if is_written else None)


def test_only_the_call_of_a_target_is_judged() -> None:
    report, after = adjusted(item(), FAILED, when="setup")
    assert (after, report.outcome) == (FAILED, "failed")


# ---------------------------------------------------------------- the end of a session


class Rules:
    """In place of the rules that are written."""

    def __init__(self, *, left_over: bool = False, error: Exception | None = None) -> None:
        self.files = {Path("s.toml")}
        self.left_over = left_over
        self.error = error
        self.added: list[TargetRecord] = []
        self.written = 0

    def add(self, found: TargetRecord) -> None:
        self.added.append(found)

    def write(self, _: object) -> Iterator[tuple[str, str]]:
        self.written += 1
        if self.error is not None:
            raise self.error
        yield "+ a rule", "green"
        yield "1 rule", ""


def hooks(rules: Rules, monkeypatch: pytest.MonkeyPatch, **known: Any) -> UpdateExpectations:
    config: Any = SimpleNamespace(
        getoption=lambda name: known.get("collectonly", False) if name == "collectonly" else None,
        **({"workerinput": {}} if known.get("is_worker") else {}),
    )
    monkeypatch.setattr(update, "declared", lambda _: SimpleNamespace(registry=None))
    made = UpdateExpectations(config)
    made._update = rules  # type: ignore[assignment]
    return made


def ended(made: UpdateExpectations, **known: Any) -> tuple[int, list[tuple[str, dict[str, bool]]]]:
    session: Any = SimpleNamespace(
        config=SimpleNamespace(stash={}),
        **{"shouldfail": False, "shouldstop": False, "exitstatus": pytest.ExitCode.OK} | known,
    )
    made.pytest_sessionfinish(session)
    lines: list[tuple[str, dict[str, bool]]] = []
    terminal = SimpleNamespace(
        write_sep=lambda sign, title: lines.append((f"{sign} {title}", {})),
        write_line=lambda line, **markup: lines.append((line, markup)),
    )
    made.pytest_terminal_summary(terminal)
    return session.exitstatus, lines


WRITTEN = [("= expectations", {}), ("+ a rule", {"green": True}), ("1 rule", {})]


@pytest.mark.parametrize(
    ("left_over", "before", "after"), [(False, 0, 0), (True, 0, 1), (True, 1, 1), (True, 2, None), (False, 1, 1)]
)
def test_a_session_that_ends_writes_rules_and_fails_where_something_is_left(
    monkeypatch: pytest.MonkeyPatch, left_over: bool, before: int, after: int | None
) -> None:
    rules = Rules(left_over=left_over)
    status, lines = ended(hooks(rules, monkeypatch), exitstatus=pytest.ExitCode(before))
    if after is None:
        assert lines[1:] == [("expectations: nothing was written, because the run was interrupted", {"yellow": True})]
    else:
        assert (status, lines, rules.written) == (after, WRITTEN, 1)


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"shouldfail": "stopping after 1 failures"}, "the run ended early: stopping after 1 failures"),
        ({"shouldstop": True}, "the run ended early"),
        ({"exitstatus": pytest.ExitCode.INTERNAL_ERROR}, "the run was interrupted"),
    ],
)
def test_a_session_that_did_not_come_to_its_end_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, Any], why: str
) -> None:
    rules = Rules()
    _, lines = ended(hooks(rules, monkeypatch), **known)
    assert lines[1:] == [(f"expectations: nothing was written, because {why}", {"yellow": True})]
    assert rules.written == 0


@pytest.mark.parametrize(("error", "why"), [("lost", "the pytest worker gw1 died"), (None, "")])
def test_a_worker_of_xdist_that_died_leaves_the_run_incomplete(
    monkeypatch: pytest.MonkeyPatch, error: object, why: str
) -> None:
    made = hooks(Rules(), monkeypatch)
    made.pytest_testnodedown(SimpleNamespace(gateway=SimpleNamespace(id="gw1")), error)
    lines = ended(made)[1]
    unwritten = [("expectations: nothing was written, because the pytest worker gw1 died", {"yellow": True})]
    assert lines[1:] == (unwritten if why else WRITTEN[1:])


@pytest.mark.parametrize(
    ("error", "more"),
    [
        (RetargetError("one\ntwo"), []),
        (
            DiagnosticsError([Diagnostic(file=Path("s.toml"), line=1, key_path="k", message="found x")]),
            [("expectations: nothing was written, because of these errors", {"yellow": True})],
        ),
    ],
)
def test_an_error_is_said_and_fails_the_session(
    monkeypatch: pytest.MonkeyPatch, error: Exception, more: list[object]
) -> None:
    status, lines = ended(hooks(Rules(error=error), monkeypatch))
    said = [(line, {"red": True}) for line in str(error).splitlines()]
    assert (status, lines) == (pytest.ExitCode.TESTS_FAILED, [("= expectations", {}), *said, *more])


@pytest.mark.parametrize(("known", "files"), [({"is_worker": True}, True), ({"collectonly": True}, True), ({}, False)])
def test_nothing_is_written_by_workers_collections_and_without_targets(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, Any], files: bool
) -> None:
    rules = Rules()
    if not files:
        rules.files = set()
    assert ended(hooks(rules, monkeypatch, **known)) == (0, [])
    assert rules.written == 0


@pytest.mark.parametrize(("is_worker", "has_record"), [(False, True), (True, True), (False, False)])
def test_what_was_observed_is_kept_where_reports_are_shown(
    monkeypatch: pytest.MonkeyPatch, is_worker: bool, has_record: bool
) -> None:
    rules = Rules()
    report: Any = SimpleNamespace(when="call", failed=True, **({RECORD: FAILED} if has_record else {}))
    hooks(rules, monkeypatch, is_worker=is_worker).pytest_runtest_logreport(report)
    assert rules.added == ([FAILED] if has_record and not is_worker else [])
