"""Which results stand for another run, and what is kept of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import pytest
from retarget.expect.cases import TargetRules
from retarget.model import Expectation, Origin
from retarget.model.outcomes import CaseOutcome, DeviceInfo, Failure, Mismatch, Rung, RunOutcome, Stage
from retarget.session.cache.key import digest_of
from retarget.session.cache.remote.objects import RemoteSettings
from retarget.session.cache.remote.store import RemoteStore
from retarget.session.cache.store import Store
from retarget.session.run.reuse import KeptResult, KeptResults, is_reusable
from retarget.support.dependencies import Dependency

TODAY = date(2026, 11, 22)
KEY = digest_of(b"key")
NONE = TargetRules()
DEVICE = DeviceInfo(driver="d", uri="d://0", ordinal=0, name="n", physical_id="p")
DIFFERS = Failure(stage=Stage.COMPARE, summary="1 of 2 elements differ", text="all of it")
PASS = RunOutcome(
    devices=(DEVICE,),
    load_seconds=0.5,
    run_seconds=1.0,
    compare_seconds=0.25,
    cases=(CaseOutcome(name="f", seconds=1.0, dispatches=(("d://0", 2),), rung=Rung.MATCHES),),
    names=("f",),
    loaded=True,
    started=5.0,
    wait_seconds=0.5,
)
MISMATCH = Mismatch(summary="no", report="no\nno", mismatched=1, total=2, max_abs_error=math.inf)
FAIL = replace(
    PASS, failure=DIFFERS, cases=(CaseOutcome(name="f", seconds=1.0, failure=DIFFERS, mismatches=(MISMATCH,)),)
)


def rules(outcome: str = "xfail", stage: str = "compare", until: date | None = None) -> TargetRules:
    origin = Origin(file=Path("expectations.toml"), key_path="expectation[0]")
    rule = Expectation(match=("m",), outcome=outcome, stages=(stage,), reason="why", until=until, origin=origin)
    return TargetRules(whole=rule)


def any_states(_: Sequence[Dependency]) -> bool:
    return True


@pytest.mark.parametrize(
    ("in_force", "outcome", "does"),
    [
        (NONE, PASS, True),
        (NONE, FAIL, False),
        (rules(), FAIL, True),
        (rules(), PASS, False),
        (rules(stage="run"), FAIL, False),
        (rules(until=date(2026, 11, 22)), FAIL, True),
        (rules(until=date(2026, 11, 21)), FAIL, False),
        (rules("flaky"), PASS, False),
        (rules("intermittent"), PASS, False),
        (NONE, replace(PASS, suspect=True), False),
        (NONE, replace(PASS, cases=()), False),
        (NONE, replace(PASS, cases=(replace(PASS.cases[0], agree_with="other"),)), False),
        (rules(stage="crash"), replace(FAIL, cases=(), failure=replace(DIFFERS, signal="SIGSEGV")), False),
        (rules(stage="timeout"), replace(FAIL, cases=(), failure=replace(DIFFERS, timed_out=True)), False),
        (rules(stage="load"), replace(FAIL, cases=(), failure=replace(DIFFERS, stage=Stage.LOAD)), True),
    ],
)
def test_what_passed_or_failed_as_its_rule_says_stands(in_force: TargetRules, outcome: RunOutcome, does: bool) -> None:
    assert is_reusable(in_force, outcome, TODAY) is does


@pytest.mark.parametrize(("in_force", "outcome"), [(NONE, PASS), (rules(), FAIL)])
def test_a_result_is_what_the_run_gave_on_the_devices_of_today(
    tmp_path: Path, in_force: TargetRules, outcome: RunOutcome
) -> None:
    kept = KeptResults(Store(tmp_path))
    kept.keep(KEY, in_force, outcome, TODAY, any_states)
    found = KeptResults(Store(tmp_path)).find(KEY, in_force, TODAY)
    assert found is not None
    assert found.outcome((DEVICE,)) == replace(outcome, started=0.0, wait_seconds=0.0)
    assert found.ended > 0


def test_rules_judge_a_result_anew_and_one_that_differs_makes_the_target_run_always(tmp_path: Path) -> None:
    kept = KeptResults(Store(tmp_path))
    kept.keep(KEY, NONE, FAIL, TODAY, any_states)
    assert kept.find(KEY, rules(), TODAY) is None
    kept.keep(KEY, rules(), FAIL, TODAY, any_states)
    assert kept.find(KEY, rules(), TODAY) is not None
    assert kept.find(KEY, NONE, TODAY) is None
    kept.keep(KEY, NONE, replace(FAIL, failure=replace(DIFFERS, no_verdict=True)), TODAY, any_states)
    kept.keep(KEY, NONE, FAIL, TODAY, any_states)
    assert kept.find(KEY, rules(), TODAY) is not None
    kept.keep(KEY, NONE, PASS, TODAY, any_states)
    kept.keep(KEY, NONE, PASS, TODAY, any_states)
    assert kept.find(KEY, NONE, TODAY) is None
    assert kept.find(KEY, rules(), TODAY) is None


def test_what_fails_on_one_machine_after_it_passed_on_another_runs_always_on_all(tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()

    def kept_by(machine: str, *outcomes: RunOutcome) -> bool:
        settings = RemoteSettings(url="share", folder=tmp_path / "share", writes=True)
        with closing(RemoteStore(settings)) as remote:
            kept = KeptResults(Store(tmp_path / machine, None, remote))
            for outcome in outcomes:
                kept.keep(KEY, NONE, outcome, TODAY, any_states)
            remote.flush(60)
            return kept.find(KEY, NONE, TODAY) is not None

    assert kept_by("first", PASS)
    assert kept_by("second")
    assert not kept_by("third", FAIL)
    assert not kept_by("fourth")
    assert not kept_by("fifth", PASS)
    assert not kept_by("sixth")


def test_a_result_whose_dependencies_have_other_states_makes_room_for_the_next(tmp_path: Path) -> None:
    kept = KeptResults(Store(tmp_path))
    states = {"1", "2"}

    def hold(dependencies: Sequence[Dependency]) -> bool:
        return all(state in states for *_, state in dependencies)

    first, second = (replace(PASS, dependencies=(("path", "helper.py", state),)) for state in "12")
    kept.keep(KEY, NONE, first, TODAY, hold)
    kept.keep(KEY, NONE, second, TODAY, hold)
    found = kept.find(KEY, NONE, TODAY)
    assert found is not None
    assert found.dependencies == first.dependencies
    states.remove("1")
    kept.keep(KEY, NONE, replace(FAIL, dependencies=second.dependencies), TODAY, hold)  # no chance: it is another
    kept.keep(KEY, NONE, second, TODAY, hold)
    found = kept.find(KEY, NONE, TODAY)
    assert found is not None
    assert found.dependencies == second.dependencies


def test_a_result_of_another_form_is_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write_result(KEY, {"host": 3})
    assert KeptResults(store).find(KEY, NONE, TODAY) is None


def test_a_store_that_cannot_be_written_is_noted_once(tmp_path: Path) -> None:
    (tmp_path / "v1").write_text("")
    kept = KeptResults(Store(tmp_path))
    kept.keep(KEY, NONE, PASS, TODAY, any_states)
    kept.keep(KEY, NONE, PASS, TODAY, any_states)
    assert kept.find(KEY, NONE, TODAY) is None
    assert [note[: note.index("(")] for note in kept.notes] == [
        f"results are not kept: the cache folder {tmp_path} cannot be used "
    ]


def test_each_field_of_an_outcome_is_kept_or_of_its_session() -> None:
    of_session = {"devices", "host", "started", "wait_seconds"}
    never_kept = {"suspect"}
    outcome = {one.name for one in fields(RunOutcome)}
    assert outcome - of_session - never_kept == {*KeptResult.__struct_fields__} - {"host", "ended"}
