"""How far a target comes, by what sessions say of it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from laddered import DIGEST, HOME, compiles, fails, ladder, passes, record, rule, session, target
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from msgspec.structs import replace as replace_struct
from retarget.expect.verdict import RankedRule
from retarget.model import CompilerConfig, Rung
from retarget.results import CaseRecord, DeviceRecord, Outcome, SessionResults, TargetRecord
from retarget.results.record import CompileRecord, RunRecord
from retarget.session import Declared, DeclaredTarget, RuleSet, TargetRules
from retarget.support import dependency_state
from retarget_bringup.ladder import states as ladder_states
from retarget_bringup.ladder.states import LadderTarget, Standing, TargetState, ladder_targets, rung_of, states


def state(*sessions: SessionResults, of: LadderTarget | None = None, **lines: Any) -> TargetState:
    (found,) = states([of or target()], sessions, ladder(**lines), stable=3)
    return found


@pytest.mark.parametrize(
    ("said", "rung"),
    [
        (passes(), Rung.MATCHES),
        (passes(outcome=Outcome.XPASSED), Rung.MATCHES),
        (passes(runtime="", stage="compile", rung="compiles"), Rung.COMPILES),
        (fails(stage="compile"), Rung.NONE),
        (fails(stage="compile", runtime=""), Rung.NONE),
        (fails(stage="load"), Rung.COMPILES),
        (fails(stage="run"), Rung.LOADS),
        (fails(stage="run", rung="dispatches"), Rung.DISPATCHES),
        (fails(stage="run", rung=""), None),
        (record(outcome=Outcome.SKIPPED, reason="no device", unavailable=True), None),
        (record(outcome=Outcome.NOT_RUN, reason="the device is gone"), None),
        (record(outcome=Outcome.ERROR, message="no driver"), None),
        (passes(rung="", unselected_cases=("g",)), None),
        (passes(unselected_cases=("g",)), None),
        (passes(cases=(CaseRecord(name="g", outcome=Outcome.NOT_RUN, excused=False),)), None),
        (passes(cases=(CaseRecord(name="g", outcome=Outcome.NOT_RUN, excused=True),)), Rung.MATCHES),
    ],
)
def test_the_rung_of_a_target_is_what_its_record_says(said: TargetRecord, rung: Rung | None) -> None:
    assert rung_of(said) is rung


def test_a_target_without_artifact_is_as_low_as_its_compile_target() -> None:
    blocked = record(outcome=Outcome.BLOCKED, reason="blocked by s::m_c", blocked_by="s::m_c")
    found = state(session(compiles(failed=True), blocked), m="none")
    assert (found.rung, found.standing) == (Rung.NONE, Standing.BELOW)
    assert str(found.failure) == "failed at compile: op is illegal"
    assert state(session(compiles(), blocked)).rung is None


@pytest.mark.parametrize(("runs", "rung"), [(2, Rung.MATCHES), (3, Rung.STABLE), (4, Rung.STABLE)])
def test_what_matches_in_as_many_runs_as_the_settings_ask_is_stable(runs: int, rung: Rung) -> None:
    assert state(*(session(passes(), at=at) for at in range(runs)), m="matches").rung is rung


def test_what_fails_on_one_device_is_not_undone_on_another_with_another_driver() -> None:
    one, other, newer = (
        (DeviceRecord(driver="d", uri="d://", name=name, physical_id="p", driver_version=version),)
        for name, version in (("one", "1"), ("other", "2"), ("one", "3"))
    )
    both = [session(fails(devices=one), at=1), session(passes(devices=other), at=2)]
    assert state(*both, m="matches").rung is Rung.LOADS
    assert state(*both, session(passes(devices=newer), at=3), m="matches").rung is Rung.MATCHES


@pytest.mark.parametrize(
    ("said", "rung", "is_lost"),
    [
        (passes(outcome=Outcome.ERROR, message="teardown"), Rung.COMPLETES, True),
        (record(outcome=Outcome.ERROR, message="no driver"), None, True),
        (fails(stage="compare"), Rung.COMPLETES, False),
        (fails(stage="compare", trial_digest="f" * 64), None, False),
    ],
)
def test_a_failure_on_one_device_stands_where_another_fails_as_expected(
    said: TargetRecord, rung: Rung | None, *, is_lost: bool
) -> None:
    one, other = ((DeviceRecord(driver="d", uri="d://", name=name, physical_id="p"),) for name in ("one", "other"))
    as_expected = fails(stage="compare", outcome=Outcome.XFAILED, devices=other)
    both = [session(replace(said, devices=one), at=1), session(as_expected, at=2)]
    for found in (state(*both, m="completes"), state(*reversed(both), m="completes")):
        assert (found.rung, found.is_lost) == (rung, is_lost)
        assert is_lost or found.is_stale or found.verdict is Outcome.FAILED
        assert found.is_stale is (said.trial_digest == "f" * 64)


def test_a_target_whose_files_are_not_here_is_not_judged_and_its_results_are_not_blamed() -> None:
    missing = target(digest="", missing="it cannot be judged here: onnx is not installed")
    found = state(session(passes()), of=missing, m="matches")
    assert (found.standing, found.is_stale, found.rung) == (Standing.NOT_TRIED, False, None)
    assert found.reason == "it cannot be judged here: onnx is not installed"


@pytest.mark.parametrize(
    ("on", "compiled_by", "is_stale"), [("here", "", True), ("there", "", False), ("here", "tcp://worker", False)]
)
def test_only_a_compile_of_this_machine_is_compared_with_that_of_today(
    on: str, compiled_by: str, is_stale: bool
) -> None:
    said = passes(session="s1.0", compile=CompileRecord(key="theirs", host=compiled_by))
    of = replace(session(said), start=replace_struct(session().start, host=on))
    (found,) = states([target()], [of], ladder(m="matches"), stable=3, host="here", key=lambda _: "ours")
    assert (found.is_stale, "for another CPU" in found.reason) == (is_stale, is_stale)
    assert found.rung is (None if is_stale else Rung.MATCHES)


@pytest.mark.parametrize(
    ("text", "ran_on", "is_stale"),
    [
        ("as it was", "here", False),
        ("edited", "here", True),
        ("edited", "there", True),
        (None, "here", True),
        (None, "there", False),
    ],
)
def test_a_result_is_not_of_today_once_a_file_that_a_reference_opened_was_edited(
    text: str | None, ran_on: str, is_stale: bool, tmp_path: Path
) -> None:
    (data := tmp_path / "data.npy").write_text("as it was")
    run = RunRecord(
        load_seconds=0,
        run_seconds=0,
        compare_seconds=0,
        opened=(("data.npy", dependency_state("path", str(data), {})),),
    )
    data.unlink() if text is None else data.write_text(text)
    of = session(passes(session="s1.0", run=run))
    of = replace(of, start=replace_struct(of.start, host=ran_on))
    (found,) = states([target()], [of], ladder(m="matches"), stable=3, host="here", root=tmp_path)
    assert (found.is_stale, "data.npy was edited" in found.reason) == (is_stale, is_stale)
    assert found.rung is (None if is_stale else Rung.MATCHES)


@pytest.mark.parametrize(("driver", "standing"), [("NVIDIA", Standing.PERMANENT), ("llvmpipe", Standing.REACHED)])
def test_a_rule_about_devices_is_asked_of_those_that_a_target_was_compiled_for_or_ran_on(
    driver: str, standing: Standing
) -> None:
    skips = RuleSet([rule(outcome="skip", when="on(driver='NVIDIA')")])
    device = DeviceRecord(driver="d", uri="d://", name="n", physical_id="p", driver_name=driver)
    hosted = CompilerConfig(name="c", compiler="iree", target_from=("host:vulkan://",), origin=ORIGIN)
    run, compiled = (
        target(runs=runs, rules=skips.rules_for(run_target(made) if runs else made))
        for runs, made in ((True, compile_target()), (False, compile_target(compiler=hosted)))
    )
    made = replace_struct(compiles(), compile=CompileRecord(key="k", devices=(device,)))
    assert state(session(passes(devices=(device,))), of=run, m="matches").standing is standing
    (of_compile,) = states([compiled], [session(made)], ladder(), stable=3)
    assert of_compile.is_permanent is (standing is Standing.PERMANENT)
    assert state(session(passes(compile=None)), of=run, m="matches").standing is Standing.REACHED


@pytest.mark.parametrize("digest", [DIGEST, "e" * 12])
def test_a_rule_for_cases_that_has_all_of_todays_skipped_skips_the_target(digest: str) -> None:
    skips = TargetRules(by_case=(RankedRule(rule=rule(outcome="skip", reason="hangs"), pattern="f", rank=()),))
    said = record(outcome=Outcome.SKIPPED, excused=True, rung="loads", trial_digest=digest)
    found = state(session(compiles(), said), of=target(rules=skips), m="matches")
    assert found.is_over is (digest == DIGEST)
    assert found.reason.startswith("hangs" if found.is_over else "its result is of another version")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (record(outcome=Outcome.SKIPPED, reason="no device", message="m"), "no device"),
        (record(outcome=Outcome.ERROR, message="no driver"), "no driver"),
        (passes(unselected_cases=("g",)), "only some of its cases were run: run it without --retarget-case"),
        (
            passes(cases=(CaseRecord(name="g", outcome=Outcome.NOT_RUN, excused=False),)),
            "only some of its cases were run: run it without --retarget-case",
        ),
        (record(outcome=Outcome.NOT_RUN), "its result is not run, without a reason: run it again"),
        (record(outcome=Outcome.SKIPPED), "its result is skipped, without a reason: run it again"),
    ],
)
def test_what_was_not_tried_has_a_reason(said: TargetRecord, reason: str) -> None:
    found = state(session(said), m="matches")
    assert (found.standing, found.reason) == (Standing.NOT_TRIED, reason)
    only_compiled = state(session(compiles(), record(outcome=Outcome.NOT_RUN)), m="matches")
    assert only_compiled.reason == "its result is not run, without a reason: run it again"


def test_what_cannot_be_is_permanent_with_the_reason() -> None:
    lacks = record(outcome=Outcome.SKIPPED, reason="r: needs f16, and the device lacks it", unsuitable=True)
    found = state(session(lacks))
    assert (found.standing, found.reason) == (Standing.PERMANENT, "r: needs f16, and the device lacks it")
    skips = target(rules=TargetRules(whole=rule(outcome="skip", reason="hangs", issue="https://x/1")))
    found = state(session(passes()), of=skips)
    assert (found.standing, found.reason) == (Standing.PERMANENT, "hangs (https://x/1)")
    expired = target(rules=TargetRules(whole=rule(outcome="skip", until=date(2020, 1, 1))))
    assert state(session(passes()), of=expired).rung is Rung.MATCHES


@pytest.mark.parametrize("checker", [None, "checker"])
def test_run_targets_and_compile_targets_that_none_runs_are_on_a_ladder(
    monkeypatch: pytest.MonkeyPatch, checker: object
) -> None:
    monkeypatch.setattr(ladder_states, "_digest", lambda *_: DIGEST)
    registry: Any = SimpleNamespace(artifact_checker=lambda _: checker)
    compiled, alone = (compile_target(name, suite="s") for name in "mn")
    suite = replace(target().declared.suite, expectations=(rule("compile", match=("*",)), rule("run", match=("n",))))
    made = [DeclaredTarget(suite_id=HOME, suite=suite, target=one) for one in (compiled, run_target(compiled), alone)]
    found = ladder_targets(Declared(registry=registry, targets=made), registry)
    assert [(one.id, one.checks_artifact) for one in found] == [
        (made[1].id, bool(checker)),
        (made[2].id, bool(checker)),
    ]
    assert [one.compile_rules.whole is not None for one in found] == [True, False]
