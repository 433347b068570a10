"""Which results stand for another run, and what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import pytest
from model_targets import compile_target, run_target
from retarget.expect.verdict import TargetRules
from retarget.extension.registry import Registry
from retarget.model import Expectation, Origin
from retarget.model.outcomes import Artifact, CaseOutcome, DeviceInfo, Failure, Mismatch, Rung, RunOutcome, Stage
from retarget.session.cache.key import digest_of
from retarget.session.cache.remote_objects import RemoteSettings
from retarget.session.cache.remote_store import RemoteStore
from retarget.session.cache.store import Store
from retarget.session.run.reuse import CaseDigests, KeptResult, ReusableResults, is_reusable
from retarget.support.dependencies import Dependency

KEY = digest_of(b"key")
NONE = TargetRules()
TARGET = run_target(compile_target())
ARTIFACT = Artifact(path="m.vmfb", digest="a", size=1)
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
MISMATCH = Mismatch(summary="no", report="no\nno")
FAIL = replace(
    PASS, failure=DIFFERS, cases=(CaseOutcome(name="f", seconds=1.0, failure=DIFFERS, mismatches=(MISMATCH,)),)
)


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.model.declared.today", lambda: date(2026, 11, 22))


def rules(outcome: str = "xfail", stage: str = "compare", until: date | None = None) -> TargetRules:
    origin = Origin(file=Path("expectations.toml"), key_path="expectation[0]")
    rule = Expectation(match=("m",), outcome=outcome, stages=(stage,), reason="why", until=until, origin=origin)
    return TargetRules(whole=rule)


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
        (NONE, replace(PASS, notes=("the device was lost; it came back, and m was run again",)), False),
        (NONE, replace(PASS, cases=()), False),
        (NONE, replace(PASS, cases=(replace(PASS.cases[0], agree_with="other"),)), False),
        (rules(stage="crash"), replace(FAIL, cases=(), failure=replace(DIFFERS, signal="SIGSEGV")), False),
        (rules(stage="timeout"), replace(FAIL, cases=(), failure=replace(DIFFERS, timed_out=True)), False),
        (rules(stage="load"), replace(FAIL, cases=(), failure=replace(DIFFERS, stage=Stage.LOAD)), True),
    ],
)
def test_what_passed_or_failed_as_its_rule_says_stands(in_force: TargetRules, outcome: RunOutcome, does: bool) -> None:
    assert is_reusable(in_force, outcome) is does


class Results(ReusableResults):
    """Results of one target, under one key, whose dependencies hold in the states that are given."""

    def __init__(self, folder: Path, *states: str, remote: RemoteStore | None = None) -> None:
        registry = Registry(compilers={}, drivers={}, case_loaders={}, origins={})
        digests = CaseDigests(registry)
        super().__init__(
            Store(folder, None, remote), registry, extensions=(), only=(), case_digests=digests, runs_remotely=False
        )
        self.states = {*states}

    def _key(self, *_: object) -> str:
        return KEY

    def _session(self, _: object) -> Dependency:
        return ("session", "", "1")

    def _hold(self, _: object, dependencies: Sequence[Dependency]) -> bool:
        return not self.states or all(state in self.states for _, _, state in dependencies)

    def add(self, in_force: TargetRules, outcome: RunOutcome) -> None:
        self.keep(TARGET, ARTIFACT, in_force, outcome, ())

    def found(self, in_force: TargetRules) -> KeptResult | None:
        return self.find(TARGET, ARTIFACT, in_force, ())


def test_what_fails_on_one_machine_after_it_passed_on_another_runs_always_where_it_was_not_kept(tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()

    def kept_by(machine: str, *outcomes: RunOutcome) -> bool:
        settings = RemoteSettings(url="share", folder=tmp_path / "share", writes=True)
        with closing(RemoteStore(settings)) as remote:
            kept = Results(tmp_path / machine, remote=remote)
            for outcome in outcomes:
                kept.add(NONE, outcome)
            if FAIL not in outcomes:
                assert (remote.statistics.fetched, remote.statistics.absent) == (0, 0)  # no target waits for the store
            assert remote.flush(60)
            assert remote.notes == ()
            return kept.found(NONE) is not None

    assert kept_by("first", PASS)
    assert kept_by("second")
    assert not kept_by("third", FAIL)
    assert not kept_by("fourth")
    assert not kept_by("fifth", PASS)
    assert not kept_by("sixth")


def test_a_result_whose_dependencies_have_other_states_makes_room_for_the_next(tmp_path: Path) -> None:
    kept = Results(tmp_path, "1", "2")
    first, second = (replace(PASS, dependencies=(("path", "helper.py", state),)) for state in "12")
    kept.add(NONE, first)
    kept.add(NONE, second)
    found = kept.found(NONE)
    assert found is not None
    assert found.dependencies[:1] == first.dependencies
    kept.states = {"2", "1 of the session"}
    kept._session = lambda _: ("session", "", "1 of the session")  # type: ignore[method-assign]
    kept.add(NONE, replace(FAIL, dependencies=(("path", "helper.py", "2 again"),)))  # no chance: it is another
    kept.add(NONE, second)
    found = kept.found(NONE)
    assert found is not None
    assert found.dependencies[:1] == second.dependencies


CRASH = replace(FAIL, cases=(), failure=replace(DIFFERS, signal="SIGSEGV"))
ERROR = replace(FAIL, cases=(), failure=replace(DIFFERS, no_verdict=True))


@pytest.mark.parametrize(
    ("before", "in_force", "last", "does"),
    [
        ((FAIL,), NONE, PASS, False),
        ((FAIL, FAIL), NONE, PASS, False),
        ((FAIL, PASS), NONE, PASS, False),
        ((CRASH,), NONE, PASS, False),
        ((CRASH,), rules(), FAIL, False),
        ((ERROR,), NONE, PASS, True),
        ((FAIL,), rules(), FAIL, True),
        ((), NONE, FAIL, False),
    ],
)
def test_what_passes_after_it_failed_without_a_change_runs_always(
    tmp_path: Path, before: Sequence[RunOutcome], in_force: TargetRules, last: RunOutcome, does: bool
) -> None:
    kept = Results(tmp_path)
    for outcome in before:
        kept.add(NONE, outcome)
    assert kept.found(in_force) is None  # nor is a failure that a rule excuses only now
    kept.add(in_force, last)
    assert (kept.found(in_force) is not None) is does


def test_what_passes_after_a_change_is_kept_though_it_failed_before(tmp_path: Path) -> None:
    kept = Results(tmp_path, "1")
    kept.add(NONE, replace(FAIL, dependencies=(("path", "helper.py", "1"),)))
    kept.states = {"2", "1 of the session"}
    kept._session = lambda _: ("session", "", "1 of the session")  # type: ignore[method-assign]
    kept.add(NONE, replace(PASS, dependencies=(("path", "helper.py", "2"),)))
    assert kept.found(NONE) is not None


def test_a_store_that_cannot_be_written_is_noted_once(tmp_path: Path) -> None:
    (tmp_path / "v1").write_text("")
    kept = Results(tmp_path)
    kept.add(NONE, PASS)
    kept.add(NONE, PASS)
    assert kept.found(NONE) is None
    assert [note[: note.index("(")] for note in kept.notes] == [
        f"results are not kept: the cache folder {tmp_path} cannot be used "
    ]


def test_each_field_of_an_outcome_is_kept_or_of_its_session() -> None:
    of_session = {"devices", "host", "started", "wait_seconds"}
    never_kept = {"suspect", "notes"}
    outcome = {one.name for one in fields(RunOutcome)}
    assert outcome - of_session - never_kept == {*KeptResult.__struct_fields__} - {"host", "ended"}
