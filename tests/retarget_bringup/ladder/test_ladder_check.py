"""What of a ladder does not hold, and what `--raise` makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from laddered import compiles, fails, id_of, ladder, passes, record, rule, session, target
from msgspec.structs import replace
from retarget.expect.cases import RankedRule, TargetRules
from retarget.model import Origin
from retarget.model.rungs import Rung
from retarget.results.files import SessionResults
from retarget.results.record import Outcome
from retarget_bringup.ladder.agreement import rungs_of
from retarget_bringup.ladder.check import Checked, check, raised, summary
from retarget_bringup.ladder.files import Ladder
from retarget_bringup.ladder.settings import Lowered, Settings
from retarget_bringup.ladder.states import LadderTarget, Standing, TargetState, states

DAY = date(2026, 6, 1)
M = id_of("m")


def settings(*lowered: Lowered, text: str = "") -> Settings:
    return Settings(
        file=Path("bringup/x.toml"), paths=(".",), select="c", reference="", stable=3, drivers=(), lowered=lowered,
        text=text,
    )  # fmt: skip


def lowered(rung: Rung = Rung.LOADS, glob: str = M, until: date = DAY, index: int = 0) -> Lowered:
    return Lowered(target=glob, rung=rung, reason="a driver bug", issue="https://x/1", until=until, index=index)


def found(ladder: Ladder, *sessions: SessionResults, targets: Sequence[LadderTarget] = ()) -> list[TargetState]:
    return states(targets or [target()], sessions, ladder, stable=3)


def checked(ladder: Ladder, *sessions: SessionResults, entries: Sequence[Lowered] = (), **more: Any) -> Checked:
    text = "".join('[[lowered]]\ntarget = "x"\nuntil = 2026-01-01\n' for _ in entries)
    return check(settings(*entries, text=text), ladder, found(ladder, *sessions, **more), day=DAY)


def rungs(ladder: Ladder, *sessions: SessionResults, **more: Any) -> dict[str, str]:
    lines = raised(ladder, found(ladder, *sessions, **more)).lines
    return {line.target.rpartition("::")[2].partition("_")[0]: line.rung.word for line in lines}


def test_a_ladder_that_says_what_results_say_holds() -> None:
    assert checked(ladder(m="matches"), session(passes())) == Checked()


def test_what_fell_is_named_with_both_rungs_its_failure_and_the_command() -> None:
    both = [target("m"), target("n"), target("o")]
    results = session(
        fails("m", "compare", "values differ"), fails("n", "compare", "values differ"), fails("o", "load")
    )
    assert checked(ladder(m="stable", n="matches", o="dispatches"), results, targets=both).failures == (
        "lower: 2 targets fell to completes: compare: values differ\n"
        f"  bringup/x.ladder:2: {id_of('m')}  stable → completes\n"
        f"  bringup/x.ladder:3: {id_of('n')}  matches → completes\n"
        f"  run just that: pytest {id_of('m')}\n"
        "  mend it, or excuse it until a day with [[lowered]] in bringup/x.toml",
        "lower: 1 target fell to compiles: load: no\n"
        f"  bringup/x.ladder:4: {id_of('o')}  dispatches → compiles\n"
        f"  run just that: pytest {id_of('o')}\n"
        "  mend it, or excuse it until a day with [[lowered]] in bringup/x.toml",
    )


def test_a_hand_raised_rung_is_found_as_a_lower_one() -> None:
    assert "completes → loads" in checked(ladder(m="completes"), session(fails())).failures[0]


def test_a_higher_rung_is_settled_by_raise_which_lowers_nothing() -> None:
    before, results = ladder(m="loads", n="matches"), session(passes("m"), fails("n"))
    both = [target("m"), target("n")]
    found_here = checked(before, results, targets=both)
    assert found_here.to_raise == (f"higher: 1 target above the ladder\n  bringup/x.ladder:2: {M}  loads → matches",)
    assert len(found_here.failures) == 1
    assert rungs(before, results, targets=both) == {"m": "matches", "n": "matches"}


def test_stable_is_kept_by_fewer_runs_than_it_took_and_reached_by_as_many() -> None:
    runs = [session(passes(), at=at) for at in range(3)]
    assert checked(ladder(m="stable"), runs[0]).holds
    assert rungs(ladder(m="stable"), runs[0]) == {"m": "stable"}
    assert "matches → stable" in checked(ladder(m="matches"), *runs).to_raise[0]
    unchanged = session(replace(passes(), unchanged=True), at=3)
    assert checked(ladder(m="matches"), runs[0], runs[1], unchanged).to_raise == ()


def test_what_the_ladder_has_not_seen_neither_fails_nor_counts() -> None:
    before, results = ladder(m="matches", n=("matches", "f" * 12)), session(passes("m"), fails("n"), fails("o"))
    three = [target("m"), target("n"), target("o")]
    found_here = checked(before, results, targets=three)
    assert found_here.holds
    assert found_here.notes == (
        f"unseen: 1 target new; --raise takes them in\n  {id_of('o')}",
        f"unseen: 1 target of another digest than in the ladder; --raise takes them in\n  {id_of('n')}",
    )
    assert summary("x", found(before, results, targets=three)) == "x: 1 of 1 target match (100.0 %); 2 unseen"
    assert rungs(before, results, targets=three) == {"m": "matches", "n": "loads", "o": "loads"}


def test_what_was_not_tried_is_reported_and_keeps_its_line() -> None:
    gone = record("n", outcome=Outcome.NOT_RUN, reason="the device was gone after m")
    before, both = ladder(m="matches", n="matches"), [target("m"), target("n")]
    found_here = checked(before, session(passes("m"), gone), targets=both)
    assert found_here.holds
    assert found_here.notes == (f"not tried: 1 target, such as {id_of('n')}: the device was gone after m",)
    assert rungs(before, session(passes("m"), gone), targets=both) == {"m": "matches", "n": "matches"}


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
    assert nothing == "found no target that was tried, expected results of 1 target: no driver"


def test_a_compile_that_fails_costs_the_rungs_of_a_target_whose_driver_is_missing() -> None:
    here = session(compiles(failed=True), record(outcome=Outcome.SKIPPED, reason="no driver", unavailable=True))
    (lower,) = checked(ladder(m="stable"), here).failures
    assert lower.startswith("lower: 1 target fell to none: compile: op is illegal\n")


def test_a_check_of_which_nothing_was_tried_fails() -> None:
    gone = record(outcome=Outcome.SKIPPED, reason="found no device", unavailable=True)
    assert checked(ladder(m="matches"), session(gone)).failures == (
        "found no target that was tried, expected results of 1 target: found no device",
    )


def test_what_is_no_target_any_more_is_settled_by_raise() -> None:
    before = ladder(m="matches", old=("matches", "e" * 12), mm="matches")
    three = [target("m"), target("new", "e" * 12), target("mn", "d" * 12)]
    assert checked(before, session(passes("m")), targets=three).to_raise == (
        "gone: 2 targets of the ladder, declared or selected no more\n"
        f"  bringup/x.ladder:3: {id_of('mm')}; did you mean {id_of('mn')!r}?\n"
        f"  bringup/x.ladder:4: {id_of('old')}; was it renamed to {id_of('new')}?",
    )
    assert rungs(before, session(passes("m")), targets=three) == {"m": "matches"}


def test_what_cannot_be_any_more_is_settled_by_raise() -> None:
    skipped = target(rules=TargetRules(whole=rule(outcome="skip", reason="hangs")))
    assert checked(ladder(m="matches"), session(passes()), targets=[skipped, target("n")]).to_raise == (
        f"bringup/x.ladder:2: {M} cannot be any more: hangs",
    )
    assert rungs(ladder(m="matches"), session(passes()), targets=[skipped]) == {}


def test_an_entry_lets_a_target_be_as_low_as_it_says() -> None:
    results = session(fails())
    excused = checked(ladder(m="matches"), results, entries=[lowered()])
    assert (excused.holds, excused.notes) == (True, (f"lowered: {M}, matches → loads: a driver bug",))
    assert checked(ladder(m="matches"), results, entries=[lowered(glob="*::m_*")]).holds
    assert len(checked(ladder(m="matches"), results, entries=[lowered(Rung.DISPATCHES)]).failures) == 1
    assert rungs(ladder(m="matches"), results) == {"m": "matches"}


@pytest.mark.parametrize(
    ("entry", "results", "message"),
    [
        (lowered(until=date(2026, 5, 31)), fails(),
         "bringup/x.toml:3: lowered[0].until: found 2026-05-31, which is past; mend it, or decide anew how long it may "
         "be lower (a driver bug)"),
        (lowered(glob="s/suite.toml::s::mm_c_r"), passes(),
         "bringup/x.toml:2: lowered[0].target: found 's/suite.toml::s::mm_c_r', which is no target of the ladder; did "
         "you mean 's/suite.toml::s::m_c_r'?"),
        (lowered(), passes(),
         f"bringup/x.toml:2: lowered[0].target: found '{M}', which is not lower than the ladder says: remove this "
         "entry"),
    ],
)  # fmt: skip
def test_an_entry_of_no_use_is_an_error(entry: Lowered, results: Any, message: str) -> None:
    assert message in checked(ladder(m="matches"), session(results), entries=[entry]).failures


def test_an_entry_of_what_was_not_tried_is_none() -> None:
    both = [target("m"), target("n")]
    assert checked(ladder(m="matches", n="matches"), session(passes("n")), targets=both, entries=[lowered()]).holds


def test_chance_neither_fails_nor_raises_where_a_rule_allows_it() -> None:
    by_chance = target(rules=TargetRules(whole=rule("compare", outcome="intermittent")))
    for rung in ("completes", "matches"):
        for seen in (passes(), fails("m", "compare")):
            assert checked(ladder(m=rung), session(seen), targets=[by_chance]).holds
            assert rungs(ladder(m=rung), session(seen), targets=[by_chance]) == {"m": rung}
    assert len(checked(ladder(m="completes"), session(fails("m", "load")), targets=[by_chance]).failures) == 1


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
    assert checked(ladder(m="completes"), session(fails("m", "compare")), targets=[known]).holds
    assert checked(ladder(m="loads"), session(fails("m", "run")), targets=[known]).failures == (
        f"suite.toml: module_test_suite[0]: says that {M} fails at compare, which is the rung completes; "
        "bringup/x.ladder:2 says loads: expected that both agree",
    )


def test_the_summary_counts_what_is_seen_and_can_be() -> None:
    before = ladder(m="matches", n="loads", o="matches")
    lacks = record("p", outcome=Outcome.SKIPPED, reason="needs f16", unsuitable=True)
    four = [target(name) for name in "mnopq"]
    results = session(passes("m"), fails("n"), lacks, passes("q"))
    expected = "x: 1 of 2 targets match (50.0 %); 1 below, 1 permanent, 1 unseen, 1 not tried"
    assert summary("x", found(before, results, targets=four)) == expected
