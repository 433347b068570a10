"""A target some of whose cases have no outcome is a pass nowhere: each reader of records, given a part of one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert, json, to_builtins
from msgspec.structs import replace
from retarget.cli.main import main
from retarget.results.export import ctrf, junit
from retarget.results.files import ResultsWriter, SessionEnd, SessionResults, Sessions, new_session
from retarget.results.history import pack, timelines, unpack
from retarget.results.measurements import Measurement
from retarget.results.merge import check_agreement
from retarget.results.overview import Change, State
from retarget.results.plan import Leg, Plan, digest_of_ids
from retarget.results.record import CaseRecord, Outcome, Result, TargetRecord, TimesRecord
from retarget_bringup.ladder.states import rung_of
from retarget_ci.verify_results import verify_results
from retarget_report import read as page

ID = "s/suite.toml::s::m_c_r"
LEG = Leg(name="run", kind="run", runner="linux", labels=("u",), ids=(ID,), digest=digest_of_ids([ID]))
PLAN = Plan(event="pr", paths=("s",), legs=(LEG,))
TIMES = TimesRecord(first=1.0, median=1.0, spread=0.0, calls=3, samples=(1.0,))
RAN = CaseRecord(name="one", outcome=Outcome.PASSED, times=TIMES)
LEFT = CaseRecord(name="two", outcome=Outcome.NOT_RUN, reason="not selected by --retarget-case", excused=False)
WHOLE = TargetRecord(
    nodeid=ID,
    target="m_c_r",
    module="m",
    compiler="c",
    runtime="r",
    suite="s",
    stage="compare",
    rung="matches",
    outcome=Outcome.PASSED,
    result=Result.PASSED,
    cases=(RAN, replace(LEFT, outcome=Outcome.PASSED)),
    leg=LEG.name,
    plan=PLAN.digest,
)
PARTIAL = replace(WHOLE, cases=(RAN, LEFT))


def session(record: TargetRecord, at: float = 1.0) -> SessionResults:
    """A session that ended well, with one record."""
    start = replace(
        new_session(leg=LEG.name, plan=PLAN.digest, selected=1, digest=LEG.digest), session=f"s{at}", started=at
    )
    end = SessionEnd(session=start.session, ended=at + 1, status=0, records=1)
    return SessionResults(start=start, records=(replace(record, session=start.session),), end=end)


def in_history(record: TargetRecord) -> bool:
    """Whether the last run of a history closes the regression of the run before it."""
    failed = replace(WHOLE, outcome=Outcome.FAILED, result=Result.FAILED)
    packed = [pack([session(one, at)]) for at, one in ((1.0, failed), (2.0, record))]
    (line,) = timelines(unpack((run.name, "here", content) for run, content in packed))
    return not line.is_open


PASSES: dict[str, Callable[[TargetRecord], bool]] = {
    "state": lambda record: State.of(record).is_good,
    "diff": lambda record: State.change(State.of(WHOLE), State.of(record)) is None,
    "history": in_history,
    "verify": lambda record: not verify_results(PLAN, [session(record)]).problems,
    "page": lambda record: page.state_of(record).sort == "good",
    "ladder": lambda record: rung_of(record) is not None,
    "junit": lambda record: b"<skipped" not in junit([session(record)]),
    "ctrf": lambda record: json.decode(ctrf([session(record)]))["results"]["summary"]["passed"] == 1,
    "totals": lambda record: bool(Measurement.totals(record)),
    "the last session": lambda record: Sessions([session(WHOLE), session(record, 2.0)]).results[ID].session == "s2.0",
}


@pytest.mark.parametrize("reader", PASSES)
@pytest.mark.parametrize("outcome", sorted(one for one in Outcome if one.is_good))
def test_what_is_a_pass_as_a_whole_is_none_in_part(reader: str, outcome: Outcome) -> None:
    if outcome is Outcome.PASSED:
        assert PASSES[reader](WHOLE)
    assert not PASSES[reader](replace(PARTIAL, outcome=outcome))
    assert not PASSES[reader](replace(WHOLE, outcome=outcome, unselected_cases=("two",)))


@given(
    outcomes=st.lists(st.tuples(st.sampled_from(Outcome), st.booleans()), max_size=5),
    outcome=st.sampled_from(Outcome),
    result=st.sampled_from(Result),
)
def test_a_good_outcome_has_one_of_each_case_on_disk_too(
    outcomes: list[tuple[Outcome, bool]], outcome: Outcome, result: Result
) -> None:
    cases = [CaseRecord(name=f"c{at}", outcome=of, excused=by_rule) for at, (of, by_rule) in enumerate(outcomes)]
    record = replace(WHOLE, outcome=outcome, result=result, cases=tuple(cases))
    is_whole = result is Result.FAILED or all(of is not Outcome.NOT_RUN or by_rule for of, by_rule in outcomes)
    assert record.outcome is (outcome if is_whole or not outcome.is_good else Outcome.PARTIAL)
    assert convert(to_builtins(record), TargetRecord) == record
    older = json.encode(record).replace(b'"partial"', b'"passed"')
    assert json.decode(older, type=TargetRecord).outcome is not Outcome.PASSED or is_whole


def test_a_part_is_not_mended_and_contradicts_no_whole() -> None:
    failed = replace(WHOLE, outcome=Outcome.FAILED, result=Result.FAILED)
    assert State.change(State.of(failed), State.of(PARTIAL)) is Change.STOPPED
    assert State.of(PARTIAL) == State(Outcome.PARTIAL, "", "no outcome of two")
    check_agreement([session(failed), session(PARTIAL, 2.0)])


def test_show_and_diff_say_which_cases_have_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, record in (("whole", WHOLE), ("part", PARTIAL)):
        start = new_session(selected=1, digest=LEG.digest)
        with ResultsWriter(tmp_path / name, start) as writer:
            writer.write(replace(record, session=start.session))
            writer.end(0)
    assert main(["results", "show", str(tmp_path / "whole")]) == 0
    capsys.readouterr()
    assert main(["results", "show", str(tmp_path / "part"), "--outcome", "partial"]) == 1
    assert capsys.readouterr().out.startswith("1 target of 1 session: 1 partial\n")
    assert main(["results", "diff", str(tmp_path / "whole"), str(tmp_path / "part")]) == 1
    assert "passed → partial: no outcome of two\n" in capsys.readouterr().out
    assert [one.records[0].outcome for one in Sessions.read([tmp_path / "part"])] == [Outcome.PARTIAL]
