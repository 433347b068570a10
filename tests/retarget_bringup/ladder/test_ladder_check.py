"""What of a ladder does not hold, and what `--raise` makes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laddered import DIGEST, compiles, fails, id_of, ladder, passes, record, rule, session, target
from msgspec.structs import replace
from msgspec.structs import replace as with_fields
from retarget.expect.verdict import RankedRule
from retarget.model import Origin, Rung
from retarget.results import Outcome, SessionResults, TargetRecord
from retarget.results.record import CaseRecord, CompileRecord
from retarget.session import TargetRules
from retarget.support import RetargetError
from retarget_bringup.ladder.check import Checked, check, lowered, raised, rungs_of, summary
from retarget_bringup.ladder.files import Ladder, Line, Settings
from retarget_bringup.ladder.states import LadderTarget, Standing, TargetState, states

M = id_of("m")
SETTINGS = Settings(file=Path("bringup/x.toml"), select="c", text="")
OTHER = "f" * 12
"""The digest of another version of a module."""


NOTHING = "found no target that was tried and is in the ladder, expected results of 1 target that it has lines of"


def found(ladder: Ladder, *sessions: SessionResults, targets: Sequence[LadderTarget] = ()) -> list[TargetState]:
    return states(targets or [target()], sessions, ladder, stable=3)


def checked(ladder: Ladder, *sessions: SessionResults, **more: Any) -> Checked:
    return check(SETTINGS, ladder, found(ladder, *sessions, **more))


def rungs(ladder: Ladder, *sessions: SessionResults, **more: Any) -> dict[str, str]:
    lines = raised(ladder, found(ladder, *sessions, **more)).lines
    return {line.target.rpartition("::")[2].partition("_")[0]: line.rung.word for line in lines}


def test_where_there_is_no_ladder_yet_no_lines_are_spoken_of() -> None:
    of_two = {"targets": [target("m"), target("n")]}
    none = "bringup/x.ladder: found no line of a target, expected the rungs that were reached"
    tried = checked(ladder(), session(passes("m")), **of_two)
    assert (tried.failures, tried.to_raise[0], tried.holds) == ((), none, False)
    untried = checked(ladder(), session(), **of_two)
    assert untried.failures[0] == "found no target that was tried, expected results of 2 targets: it has no result"
    assert not untried.holds
    one_lined = checked(ladder(m="matches"), session(), **of_two)
    assert one_lined.failures[0] == f"{NOTHING}: it has no result"


HIDDEN: dict[str, tuple[Ladder, TargetRecord]] = {
    "its module, cases or time limit changed": (ladder(m="matches", n=("matches", OTHER)), fails("n")),
    "its digest was edited": (ladder(m="matches", n=("stable", OTHER)), fails("n", "compile")),
    "its line was deleted": (ladder(m="matches"), fails("n")),
    "its line was deleted, and it matches": (ladder(m="matches"), passes("n")),
    "its rung was raised by hand": (ladder(m="matches", n="stable"), fails("n", "compare")),
    "its result is of another version": (ladder(m="matches", n="matches"), passes("n", trial_digest="e" * 64)),
    "its result is of another compile": (ladder(m="matches", n="matches"), passes("n", compile=CompileRecord(key="x"))),
    "its result is of a commit before": (ladder(m="matches", n="matches"), passes("n", session="old")),
}


@pytest.mark.parametrize("how", HIDDEN)
def test_nothing_hides_that_a_target_fell(how: str) -> None:
    before, record_of_n = HIDDEN[how]
    sessions = [session(passes("m"), record_of_n)]
    if record_of_n.session:
        old = session(record_of_n, name="old")
        sessions = [
            session(passes("m")),
            SessionResults(start=replace(old.start, revision="a" * 40), records=old.records),
        ]
    both = [target("m"), target("n")]
    now = states(both, sessions, before, stable=3, revision="b" * 40, key=lambda _: "k")
    assert not check(SETTINGS, before, now).holds
    committed = ladder(m="matches", n="matches").line_of({})
    after = {line.target: line.rung for line in raised(before, now, committed).lines}
    assert after[id_of("n")] >= Rung.MATCHES


@given(
    line=st.sampled_from(Rung), committed=st.sampled_from([None, *Rung]), digest=st.sampled_from([DIGEST, OTHER]),
    stage=st.sampled_from(["compile", "load", "run", "compare", ""]), is_lowered=st.booleans(),
)  # fmt: skip
def test_raising_never_lowers_and_what_is_lower_never_holds(
    line: Rung, committed: Rung | None, digest: str, stage: str, is_lowered: bool
) -> None:
    own = Line(target=M, rung=line, digest=digest, number=2, lowered_from=Rung.STABLE if is_lowered else None)
    before = Ladder(file=Path("bringup/x.ladder"), lines=(own,))
    (one,) = found(before, session(fails(stage=stage) if stage else passes()))
    assert one.rung is not None
    known = {} if committed is None else {M: with_fields(own, rung=committed)}
    (after,) = raised(before, [one], known).lines
    floor = max(line, committed or line) if not is_lowered else line
    assert after.rung >= floor
    assert check(SETTINGS, before, [one]).failures == () or one.rung < line
    assert check(SETTINGS, before, [one]).holds is (one.rung == line or (line is Rung.STABLE and stage == ""))


def test_another_digest_is_written_where_the_target_did_not_fall() -> None:
    before = ladder(m=("stable", OTHER), n=("loads", OTHER))
    both, results = [target("m"), target("n")], session(passes("m"), passes("n"))
    found_here = checked(before, results, targets=both)
    assert found_here.failures == ()
    assert found_here.notes == (
        "changed: 2 lines of another digest, or where it does not say which cases fail; "
        f"`retarget bringup x --raise` writes it\n  {id_of('m')}\n  {id_of('n')}",
    )
    assert rungs(before, results, targets=both) == {"m": "stable", "n": "matches"}
    assert {line.digest for line in raised(before, found(before, results, targets=both)).lines} == {DIGEST}
    assert summary("x", found(before, results, targets=both)) == "x: 2 of 2 targets match (100.0 %)"


def test_a_target_without_a_line_is_taken_in_by_raise_and_only_told_of_on_another_device() -> None:
    before, results = ladder(m="matches"), session(passes("m"), fails("o"))
    both = [target("m"), target("o")]
    assert checked(before, results, targets=both).to_raise == (f"new: 1 target without a line\n  {id_of('o')}",)
    there = check(SETTINGS, before, found(before, results, targets=both), elsewhere={id_of("o")})
    assert there.holds
    assert there.notes[0].startswith("new on this device: 1 target; `retarget bringup x --raise` takes them in\n")
    assert rungs(before, results, targets=both) == {"m": "matches", "o": "loads"}


def test_lowering_names_the_target_and_the_reason_and_lasts_until_it_rises_again() -> None:
    before, both = ladder(m="matches", n="matches"), [target("m"), target("n")]
    results = session(fails("m"), fails("n"))
    now = lowered(before, found(before, results, targets=both), "*::m_*", "a driver bug")
    after = Ladder(file=before.file, lines=now.lines)
    assert [line.text for line in now.lines] == [
        f"{M} loads {DIGEST} lowered from matches: a driver bug",
        f"{id_of('n')} matches {DIGEST}",
    ]
    found_here = checked(after, results, targets=both)
    assert found_here.notes == (f"lowered: {M}, matches → loads: a driver bug",)
    assert len(found_here.failures) == 1
    assert raised(after, found(after, session(fails("m", "compare"), fails("n")), targets=both)).lines[0].text == (
        f"{M} completes {DIGEST} lowered from matches: a driver bug"
    )
    risen = raised(after, found(after, session(passes("m"), fails("n")), targets=both))
    assert risen.lines[0].text == f"{M} matches {DIGEST}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (M, f"--lower: found '{M}', which is on its line, or was not tried; expected a target that `--check` says is "
            "lower"),
        ("s/suite.toml::s::mm_c_r", "--lower: found 's/suite.toml::s::mm_c_r', which is no target of the ladder; "
            f"expected a target that `--check` says is lower; did you mean '{M}'?"),
    ],
)  # fmt: skip
def test_only_what_fell_can_be_lowered(name: str, message: str) -> None:
    before = ladder(m="matches")
    with pytest.raises(RetargetError, match=f"^{re.escape(message)}$"):
        lowered(before, found(before, session(passes())), name, "why")


def test_what_was_not_tried_is_reported_and_keeps_its_line() -> None:
    absent = record("n", outcome=Outcome.SKIPPED, unavailable=True, reason="no device")
    before, both = ladder(m="matches", n="matches"), [target("m"), target("n")]
    found_here = checked(before, session(passes("m"), absent), targets=both)
    assert found_here.holds
    assert found_here.notes == (f"not tried: 1 target, such as {id_of('n')}: no device",)
    assert rungs(before, session(passes("m"), absent), targets=both) == {"m": "matches", "n": "matches"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([record("n", outcome=Outcome.NOT_RUN, reason="the device was gone after m")], "the device was gone after m"),
        ([compiles("n"), record("n", outcome=Outcome.NOT_RUN, reason="gone")], "gone"),
        ([compiles("n"), record("n", outcome=Outcome.NOT_RUN, reason="it ended", trial_digest="")], "it ended"),
        ([record("n", outcome=Outcome.ERROR, message="a fixture raised")], "a fixture raised"),
        ([record("n", outcome=Outcome.FAILED, message="the worker crashed")], "the worker crashed"),
        ([record("n", outcome=Outcome.BLOCKED, blocked_by="n_c", reason="blocked by n_c")], "blocked by n_c"),
        ([], "it has no result, and a session was interrupted or killed, failed, still runs, or has lost lines"),
    ],
)
def test_what_was_to_be_tried_and_says_nothing_fails_and_keeps_its_line(said: list[TargetRecord], reason: str) -> None:
    before, both = ladder(m="matches", n="matches"), [target("m"), target("n")]
    of = session(passes("m"), *said)
    of = of if said else replace(of, end=None)
    found_here = checked(before, of, targets=both)
    assert found_here.failures == (f"no verdict: 1 target, such as {id_of('n')}: {reason}",)
    assert found_here.notes == ()
    assert rungs(before, of, targets=both) == {"m": "matches", "n": "matches"}


@pytest.mark.parametrize(
    ("status", "said", "holds"),
    [
        (0, passes("o"), True),
        (1, fails("o"), True),
        (1, passes("o"), False),  # a file was not collected
        (5, passes("o"), True),
        (2, fails("o"), False),
        (3, fails("o"), False),
        (4, fails("o"), False),
    ],
)
def test_a_target_without_a_result_is_lost_where_a_session_did_not_come_to_its_end(
    status: int, said: TargetRecord, holds: bool
) -> None:
    other = session(said, at=2.0)
    assert other.end is not None
    sessions = session(passes("m")), replace(other, end=replace(other.end, status=status))
    found_here = checked(ladder(m="matches", n="matches"), *sessions, targets=[target("m"), target("n")])
    assert found_here.holds is holds


@pytest.mark.parametrize(
    "failed",
    [
        passes("m", outcome=Outcome.ERROR),  # its teardown
        passes("m", outcome=Outcome.FAILED),  # another plugin
        record("m", outcome=Outcome.FAILED),  # its process of xdist, after the call
        replace(compiles("m"), outcome=Outcome.ERROR),
    ],
)
def test_what_matches_and_failed_besides_fails_and_a_later_session_mends_it(failed: TargetRecord) -> None:
    before = ladder(m="matches")
    bad = session(compiles("m"), passes("m"), replace(failed, message="it broke"), at=1.0)
    said = f"no verdict: 1 target, such as {id_of('m')}: {failed.target} failed besides: it broke"
    assert checked(before, bad).failures == (said,)
    assert checked(before, bad, session(compiles("m"), passes("m"), at=2.0)).holds


def test_a_failure_without_a_rung_counts_after_an_earlier_result_and_not_before_a_later_one() -> None:
    before = ladder(m="matches")
    good, bad = session(passes()), session(record(outcome=Outcome.ERROR, message="a fixture raised"))
    failure = f"no verdict: 1 target, such as {M}: a fixture raised"
    assert checked(before, good, bad).failures[-1] == failure
    assert checked(before, bad, good).holds


def test_what_compiles_where_its_driver_is_missing_is_at_that_rung_at_least() -> None:
    here = session(compiles(), record(outcome=Outcome.SKIPPED, reason="no driver", unavailable=True))
    (one,) = found(ladder(), here)
    assert (one.rung, one.standing, one.reason, one.is_tried) == (Rung.COMPILES, Standing.NOT_TRIED, "no driver", False)
    assert rungs(ladder(), here) == {"m": "compiles"}
    assert checked(ladder(m="compiles"), here).holds
    assert checked(ladder(m="none"), here).to_raise[0].startswith("higher: ")
    assert rungs(ladder(m="stable"), here) == {"m": "stable"}
    assert rungs(ladder(m=("matches", "ba9876543210")), here) == {"m": "matches"}
    assert rungs(ladder(), here, targets=[target(rules=rules("compare"))]) == {}  # the rule would disagree
    assert found(ladder(), session(passes(), at=0.0), here)[0].rung is Rung.MATCHES
    (nothing,) = checked(ladder(m="stable"), here).failures
    assert nothing == f"{NOTHING}: no driver"


def test_a_compile_that_fails_costs_the_rungs_of_a_target_whose_driver_is_missing() -> None:
    here = session(compiles(failed=True), record(outcome=Outcome.SKIPPED, reason="no driver", unavailable=True))
    (lower,) = checked(ladder(m="stable"), here).failures
    assert lower.startswith("lower: 1 target fell to none: compile: op is illegal\n")


def test_a_check_of_which_nothing_was_tried_fails() -> None:
    gone = record(outcome=Outcome.SKIPPED, reason="found no device", unavailable=True)
    assert checked(ladder(m="matches"), session(gone)).failures == (f"{NOTHING}: found no device",)


@pytest.mark.parametrize("rung", ["none", "compiles"])
def test_what_needs_no_device_does_not_stand_for_what_one_is_missing_for(rung: str) -> None:
    missing = record("m", outcome=Outcome.SKIPPED, reason="no driver", unavailable=True)
    other = record("n", outcome=Outcome.BLOCKED) if rung == "none" else replace(missing, nodeid=id_of("n"))
    here = session(compiles("m"), missing, compiles("n", failed=rung == "none"), other)
    (nothing,) = checked(ladder(m="matches", n=rung), here, targets=[target("m"), target("n")]).failures
    assert nothing.startswith("found no target that was tried ")
    assert checked(ladder(m="compiles", n=rung), here, targets=[target("m"), target("n")]).holds


def test_what_is_no_target_any_more_is_settled_by_raise() -> None:
    before = ladder(m="matches", old=("matches", "e" * 12), mm="matches")
    three = [target("m"), target("new", "e" * 12), target("mn", "d" * 12)]
    assert checked(before, session(passes("m")), targets=three).to_raise == (
        "gone: 2 targets of the ladder, declared or selected no more\n"
        f"  bringup/x.ladder:3: {id_of('mm')}; did you mean {id_of('mn')!r}?\n"
        f"  bringup/x.ladder:4: {id_of('old')}; was it renamed to {id_of('new')}?",
    )
    untried = session(passes("m"))  # a renamed target keeps its rung
    assert rungs(before, untried, targets=three) == {"m": "matches", "new": "matches"}
    renamed = session(passes("m"), fails("new", trial_digest="e" * 64))
    assert rungs(before, renamed, targets=three) == {"m": "matches", "new": "matches"}


def test_what_cannot_be_any_more_is_settled_by_raise() -> None:
    skipped = target(rules=TargetRules(whole=rule(outcome="skip", reason="hangs")))
    assert checked(ladder(m="matches"), session(passes()), targets=[skipped, target("n")]).to_raise == (
        f"skipped by a rule: 1 target, such as {M}: hangs",
    )
    assert rungs(ladder(m="matches"), session(passes()), targets=[skipped]) == {}


def test_chance_neither_fails_nor_raises_where_a_rule_allows_it() -> None:
    by_chance = target(rules=TargetRules(whole=rule("compare", outcome="intermittent")))
    for rung in ("completes", "matches"):
        for seen in (passes(), fails("m", "compare", outcome=Outcome.INTERMITTENT)):
            assert checked(ladder(m=rung), session(seen), targets=[by_chance]).holds
            assert rungs(ladder(m=rung), session(seen), targets=[by_chance]) == {"m": rung}
    assert len(checked(ladder(m="completes"), session(fails("m", "load")), targets=[by_chance]).failures) == 1
    before, text = raised_by(ladder(), of_cases(f="", g="compare"))
    by_chance = target(rules=TargetRules(whole=rule("run", outcome="intermittent")))
    seen = found(before, session(fails(outcome=Outcome.INTERMITTENT)), targets=[by_chance])
    assert [line.text for line in raised(before, seen).lines] == text


def test_a_lower_rung_by_chance_hides_no_failure() -> None:
    by_chance = target(rules=TargetRules(whole=rule("crash", outcome="intermittent")))
    crashed = fails("m", "crash", rung="dispatches", outcome=Outcome.INTERMITTENT)
    assert checked(ladder(m="matches"), session(crashed), targets=[by_chance]).holds
    both = session(fails("m", "compare")), session(crashed, at=2.0)
    assert len(checked(ladder(m="matches"), *both, targets=[by_chance]).failures) == 1


def test_a_flaky_target_is_lower_once_it_fails_at_each_attempt() -> None:
    flaky = target(rules=TargetRules(whole=rule("compare", outcome="flaky", retries=1)))
    once, again = fails("m", "compare", attempt=1), fails("m", "compare", attempt=2)
    assert checked(ladder(m="matches"), session(once, passes(attempt=2)), targets=[flaky]).holds
    assert len(checked(ladder(m="matches"), session(once, again), targets=[flaky]).failures) == 1


def rules(*stages: str, **more: Any) -> TargetRules:
    return TargetRules(whole=rule(*stages, **more))


CASE = rule("compare", cases=("f",), origin=Origin(file=Path("suite.toml"), key_path="expectation[1]"))
BOTH = rule("compile", "run")


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (target(), ""),
        (target(rules=rules("load")), "compiles"),
        (target(rules=rules("run")), "loads dispatches"),
        (target(rules=rules("compare", "run")), "loads dispatches completes"),
        (target(rules=rules("crash")), "compiles loads dispatches"),
        (target(rules=rules("compare", outcome="flaky")), "completes matches stable"),
        (target(rules=rules("compare", until=date(2020, 1, 1))), ""),
        (target(compile_rules=rules("compile")), "none"),
        (target(compile_rules=rules("compile"), rules=rules("run")), "none"),
        (target(compile_rules=TargetRules(whole=BOTH), rules=TargetRules(whole=BOTH)), "none loads dispatches"),
        (target(rules=TargetRules(by_case=(RankedRule(pattern="f", rule=CASE, rank=()),))), "completes"),
        (
            target(rules=TargetRules(whole=rule("run"), by_case=(RankedRule(pattern="f", rule=CASE, rank=()),))),
            "loads dispatches",
        ),
        (target(runs=False, rules=rules("compile")), "none"),
        (target(runs=False, rules=rules("compare")), "compiles"),
    ],
)
def test_rules_leave_a_target_some_rungs(of: LadderTarget, expected: str) -> None:
    assert " ".join(rung.word for rung in sorted(rungs_of(of))) == expected


def test_a_rule_and_a_ladder_that_disagree_are_both_named() -> None:
    known = target(rules=rules("compare"))
    as_said = session(fails("m", "compare", outcome=Outcome.XFAILED))
    assert checked(ladder(m="completes"), as_said, targets=[known]).holds
    assert checked(ladder(m="loads"), session(fails("m", "run")), targets=[known]).failures == (
        f"suite.toml: module_test_suite[0]: says that {M} fails at compare, which is the rung completes; "
        "bringup/x.ladder:2 says loads: expected that both agree",
    )


def test_what_fails_otherwise_than_its_rule_says_is_named_though_no_rung_is_lower() -> None:
    of_case = target(rules=TargetRules(by_case=(RankedRule(pattern="f", rule=CASE, rank=()),)))
    assert checked(
        ladder(m="completes"), session(fails("m", "compare", "shape differs")), targets=[of_case]
    ).failures == (
        f"bringup/x.ladder:2: {M} comes to completes and failed otherwise than suite.toml: expectation[1] says: "
        f"compare: shape differs; mend it, or write a rule that says so: pytest {M}",
    )
    assert checked(ladder(m="completes"), session(fails("m", "compare"))).holds


def of_cases(**stages: str) -> SessionResults:
    """A session in which each case of `m` matches, fails at a stage, or (`-`) does not run."""
    outcomes = {"": Outcome.PASSED, "-": Outcome.NOT_RUN}
    cases = [
        CaseRecord(name=name, outcome=outcomes.get(stage, Outcome.FAILED), stage=stage.strip("-"), excused=False)
        for name, stage in stages.items()
    ]
    return session(fails("m", "compare", cases=tuple(cases)))


def raised_by(before: Ladder, results: SessionResults) -> tuple[Ladder, list[str]]:
    lines = raised(before, found(before, results)).lines
    return Ladder(file=before.file, lines=lines), [line.text for line in lines]


def test_a_further_case_that_fails_on_the_same_rung_is_lower_and_one_that_does_no_more_is_higher() -> None:
    two, three = of_cases(f="", g="compare", h="compare"), of_cases(f="compare", g="compare", h="compare")
    before, text = raised_by(ladder(), two)
    assert text == [f"{M} completes {DIGEST} fails g,h"]
    assert checked(before, two) == Checked()
    (lower,) = checked(before, three).failures
    assert f"{M}  completes → completes, failing g, h → f, g, h\n" in lower
    assert raised_by(before, three)[1] == text
    (higher,) = checked(before, of_cases(f="", g="", h="compare")).to_raise
    assert higher.endswith(f"{M}  completes → completes, failing g, h → h")
    assert raised_by(before, of_cases(f="", g="", h="compare"))[1] == [f"{M} completes {DIGEST} fails h"]
    assert raised_by(before, session(passes("m")))[1] == [f"{M} matches {DIGEST}"]


def test_the_first_case_of_a_target_is_named_so_that_a_second_one_that_fails_is_lower() -> None:
    before, text = raised_by(ladder(), of_cases(f="compare"))
    assert text == [f"{M} completes {DIGEST} fails f"]
    for now in (of_cases(f="compare", g="compare"), of_cases(f="", g="compare"), of_cases(g="compare")):
        assert len(checked(before, now).failures) == 1
    assert checked(before, of_cases(f="compare", g="")) == Checked()


def test_a_case_that_did_not_run_before_and_fails_now_is_no_further_one() -> None:
    before, text = raised_by(ladder(m="loads"), of_cases(f="", g="-", h="run"))
    assert text == [f"{M} completes {DIGEST} fails g,h"]
    assert checked(before, of_cases(f="", g="compare", h="run")) == Checked()
    assert checked(before, of_cases(f="-", g="compare", h="run")).failures


def test_a_ladder_of_before_says_nothing_of_cases_and_raise_writes_them() -> None:
    before = ladder(m="completes")
    results = of_cases(f="", g="compare")
    assert checked(before, results).holds
    assert checked(before, results).notes[0].startswith("changed: 1 line of another digest, or where it does not say")
    assert raised_by(before, results)[1] == [f"{M} completes {DIGEST} fails g"]


def test_a_lowered_line_beside_a_higher_one_of_its_target_is_no_note() -> None:
    high = Line(target=M, rung=Rung.MATCHES, digest=DIGEST)
    low = with_fields(high, rung=Rung.LOADS, lowered_from=Rung.MATCHES, reason="a driver bug")
    merged = Ladder(file=Path("bringup/x.ladder"), lines=(low, high))
    assert checked(merged, session(passes("m")), targets=[target("m")]).notes == ()
