"""How trials of targets end: what they raise and record, and who reports what. What compiles and runs is a double."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from retarget.expect.matching import RuleSet
from retarget.expect.verdict import TargetRules
from retarget.extension import UnavailableError
from retarget.model import Expectation, Origin
from retarget.model.devices import DeviceTraits
from retarget.model.outcomes import Artifact, CaseOutcome, CompileOutcome, DeviceInfo, Failure, Rung, RunOutcome, Stage
from retarget.results.record import Outcome, Result
from retarget.session.references import Recording
from retarget.session.requirements import UnsuitableError
from retarget.session.trial import run_trial
from retarget.session.trial import trial as trial_module
from retarget.session.trial.failures import End, Skip, StageFailedError
from retarget.session.trial.run_trial import CompileTrial, RunTrial
from retarget.session.trial.services import TrialServices
from retarget.support.errors import RetargetError

COMPILED = compile_target("m")
TARGET = run_target(COMPILED)
REFERENCE = run_target(compile_target("m", "o"))
NODE = "s.toml::linalg::"
ARTIFACT = Artifact(digest="d", size=4, path="a")
REFUSED, LOST = Failure(stage=Stage.COMPILE, summary="no op"), Failure(stage=Stage.RUN, summary="lost")
GPU = DeviceInfo(driver="local-sync", uri="u", ordinal=0, name="GPU", physical_id="p")


def rule(index: int = 0, **known: Any) -> Expectation:
    origin = Origin(file=ORIGIN.file, key_path=str(index))
    return Expectation(**{"match": ("m",), "stages": ("run",), "reason": f"r{index}", "origin": origin} | known)


def compiled(failure: Failure | None = None, **known: Any) -> CompileOutcome:
    values = {"key": "k", "seconds": 1.0, "reused": False, "artifact": None if failure else ARTIFACT}
    return CompileOutcome(**values | {"failure": failure} | known)


def ran(*failures: Failure | None, **known: Any) -> RunOutcome:
    cases = tuple(
        CaseOutcome(name=name, seconds=0.5, failure=one, rung=Rung.MATCHES if one is None else Rung.LOADS)
        for name, one in zip("abc", failures, strict=False)
    )
    failed = next((one for one in failures if one is not None), None)
    values = {"devices": (GPU,), "cases": cases, "names": tuple(one.name for one in cases), "failure": failed}
    return RunOutcome(**values | known)


PASSED_COMPILE = ("UnexpectedPassError", "expected to fail at compile, but passed")
BY_COMPILE = ("blocked", f"blocked by {NODE}m_c")
BY_REFERENCE = ("blocked", f"blocked by {NODE}m_o_r, which gave no results to agree with")
LACKS = ("StageFailedError", "load: no o")


class World:
    """What the trials of a session share. Each entry is what is returned, or raised."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *rules: Expectation, selected: str = "", **known: Any) -> None:
        def failed(failure: Failure, outcome: Any = None) -> StageFailedError:
            return StageFailedError(
                failure, f"{failure.stage}: {failure.summary}", cases=outcome.cases if outcome else ()
            )

        monkeypatch.setattr(trial_module, "compile_failed", lambda _c, _t, outcome: failed(outcome.failure))
        monkeypatch.setattr(run_trial, "run_failed", lambda _c, _t, _a, run, failure, **_: failed(failure, run))
        self.known = known
        self.kept: list[RunOutcome] = []
        self.again: list[object] = []
        self.assignment = RuleSet(rules).assign([COMPILED, TARGET])
        settings = {"cases": (), "artifacts": None, "changed": False, "reuses": False, "update_expectations": False}
        self.services = SimpleNamespace(
            engine=SimpleNamespace(
                host_mismatch=lambda _: known.get("mismatch"),
                generated=self.gives("generated", COMPILED),
                check_compiler=self.gives("compiler", None),
                devices_of=self.gives("devices", (GPU,)),
                devices=lambda _: (GPU,),
                compile=self.gives("compile", compiled()),
                compile_again=self.again.append,
                kept_result=lambda *_: known.get("kept"),
                keep_result=lambda _t, _a, _r, run: self.kept.append(run),
                check=self.gives("check", ran(None)),
                traits=lambda _: known.get("traits", ()),
            ),
            registry=SimpleNamespace(
                driver=self.gives("driver", None),
                case_loader=lambda _: None,
                artifact_checker=lambda _: known.get("checker"),
                gives_no_outputs=lambda _: False,
            ),
            settings=SimpleNamespace(**settings | known.get("settings", {})),
            commands=None,
            in_full=False,
            locations=SimpleNamespace(location=lambda _: "here"),
            references=SimpleNamespace(recorded=lambda config, _: [known["recorded"][config]]),
            selected=frozenset(f"{NODE}{one}" for one in selected.split()),
            selected_compiles=frozenset(f"{NODE}{one}" for one in selected.split()),
            exhausted={},
            run=self.gives("run", ran(None)),
            in_force=lambda _, found: found,
        )

    def gives(self, name: str, otherwise: Any) -> Callable[..., Any]:
        left = self.known.get(name, otherwise)
        several = left if isinstance(left, list) else None

        def give(*_: object, **__: object) -> Any:
            found = several.pop(0) if several else left
            if isinstance(found, BaseException):
                raise found
            return found

        return give

    def trial(self, target: Any = TARGET) -> Any:
        suite: Any = SimpleNamespace(
            nodeid=NODE.removesuffix("::"),
            path=Path("s.toml"),
            line=None,
            run_targets=lambda _: (),
            rules=lambda name: self.known.get("rules_of", {}).get(name, TargetRules()),
        )
        made = RunTrial if target is TARGET else CompileTrial
        rules = self.assignment.in_force(target)
        services: Any = self.services
        return made(target=target, suite=suite, services=services, position=0, rules=rules)


def end_of(work: Callable[[], None]) -> tuple[str, str]:
    try:
        work()
    except (End, StageFailedError, RetargetError) as end:
        kind = end.kind.value if isinstance(end, Skip) else type(end).__name__
        return kind, str(end).partition("\n")[0]
    return "", ""


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize(
    ("rules", "known", "end", "result"),
    [
        ([], {}, ("", ""), Result.PASSED),
        ([], {"run": ran(LOST, None)}, ("StageFailedError", "run: lost"), Result.FAILED),
        ([rule()], {"run": ran(LOST)}, ("AsExpected", "r0"), Result.FAILED),
        ([rule()], {}, ("UnexpectedPassError", "expected to fail at run, but passed"), Result.PASSED),
        ([rule(outcome="flaky", retries=1)], {"run": [ran(LOST), ran(None)]}, ("", ""), Result.PASSED),
        ([rule(outcome="intermittent")], {"run": ran(LOST)}, ("AsExpected", "r0"), Result.FAILED),
        ([], {"compile": compiled(REFUSED)}, ("StageFailedError", "compile: no op"), Result.FAILED),
        ([], {"compile": compiled(REFUSED), "selected": "m_c"}, BY_COMPILE, Result.UNKNOWN),
        (
            [rule(stages=("compile",))],
            {"compile": compiled(REFUSED), "selected": "m_c"},
            ("AsExpected", "m_c is expected to fail: r0"),
            Result.UNKNOWN,
        ),
        ([rule(stages=("compile",))], {"compile": compiled(REFUSED)}, ("AsExpected", "r0"), Result.FAILED),
        (
            [rule(stages=("compile",), outcome="intermittent")],
            {"compile": compiled(REFUSED), "selected": "m_c"},
            ("AsExpected", "m_c failed, which is intermittent: r0"),
            Result.UNKNOWN,
        ),
        ([rule(stages=("compile",))], {}, PASSED_COMPILE, Result.PASSED),
        ([rule(stages=("compile",))], {"selected": "m_c"}, ("", ""), Result.PASSED),
        (
            [],
            {"compile": compiled(REFUSED), "settings": {"artifacts": Path("x")}},
            ("blocked", "blocked: it was not compiled where the artifacts come from: compile: no op"),
            Result.UNKNOWN,
        ),
        (
            [],
            {"compile": RetargetError("not exported"), "settings": {"artifacts": Path("x")}},
            ("RetargetError", "not exported"),
            Result.UNKNOWN,
        ),
        (
            [rule(stages=("crash",))],
            {"compile": RetargetError("not exported"), "settings": {"artifacts": Path("x")}},
            ("AsExpected", "m_c is expected to fail: r0"),
            Result.UNKNOWN,
        ),
        ([], {"compile": RetargetError("damaged")}, ("RetargetError", "damaged"), Result.UNKNOWN),
        ([], {"compile": RetargetError("damaged"), "selected": "m_c"}, BY_COMPILE, Result.UNKNOWN),
        ([], {"compile": UnavailableError("no iree")}, ("unavailable", "no iree"), Result.UNKNOWN),
        ([], {"run": UnavailableError("no GPU")}, ("unavailable", "r: no GPU"), Result.UNKNOWN),
        ([], {"run": UnsuitableError("it is too small")}, ("unsuitable", "r: it is too small"), Result.UNKNOWN),
        ([], {"run": UnavailableError("it was lost", lost=True)}, ("lost", "it was lost"), Result.UNKNOWN),
        (
            [],
            {"run": ran(names=("a", "b")), "settings": {"cases": ("x", "y*")}},
            ("unselected", "no case matches --retarget-case x or y*"),
            Result.UNKNOWN,
        ),
    ],
)
def test_a_run_ends_so(
    monkeypatch: pytest.MonkeyPatch,
    rules: list[Expectation],
    known: dict[str, Any],
    end: tuple[str, str],
    result: Result,
) -> None:
    trial = World(monkeypatch, *rules, **known).trial()
    assert end_of(trial.attempt) == end
    assert trial.record.result is result


def test_the_record_of_a_run_has_its_compile_devices_cases_and_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"load_seconds": 1.0, "run_seconds": 2.0, "compare_seconds": 3.0, "host": "h", "notes": ("it came back",)}
    world = World(monkeypatch, run=ran(None, LOST, **known))
    trial = world.trial()
    assert end_of(trial.attempt)[0] == "StageFailedError"
    record = trial.record
    assert (record.nodeid, record.file, record.line, record.position) == (f"{NODE}m_c_r", "s.toml", 0, 0)
    assert (record.compile.key, record.compile.artifact, record.compile.size) == ("k", "d", 4)
    assert [device.name for device in record.devices] == ["GPU"]
    assert (record.run.failed_cases, record.run.load_seconds, record.run.host) == (("b",), 1.0, "h")
    assert record.run.notes == ("it came back",)
    assert [(one.name, one.outcome) for one in record.cases] == [("a", Outcome.PASSED), ("b", Outcome.FAILED)]
    assert (record.stage, record.rung, record.attempt, record.unselected_cases) == ("run", "loads", 1, ())
    assert trial.record.observation.signature == "lost"
    assert len(world.kept) == 1


def test_a_flaky_run_keeps_the_records_of_its_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = World(monkeypatch, rule(outcome="flaky", retries=2), run=[ran(LOST), ran(LOST), ran(None)]).trial()
    passed: list[int] = []
    trial.on_passed = lambda: passed.append(1)
    trial.attempt()
    assert [(one.attempt, one.outcome, one.text) for one in trial.earlier] == [
        (1, Outcome.FAILED, "run: lost"),
        (2, Outcome.FAILED, "run: lost"),
    ]
    assert (trial.record.attempt, trial.record.result, trial.record.rung, passed) == (3, Result.PASSED, "loads", [1])


def test_a_flaky_compile_is_tried_again_once_for_all_that_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    flaky = rule(outcome="flaky", retries=1, stages=("compile",))
    world = World(monkeypatch, flaky, compile=[compiled(REFUSED), compiled()])
    trial = world.trial()
    trial.attempt()
    assert (world.again, trial.record.attempt, world.services.exhausted) == ([COMPILED], 2, {})
    world = World(monkeypatch, flaky, compile=compiled(REFUSED))
    for _ in range(2):
        kind, text = end_of(world.trial().attempt)
        assert (kind, text) == ("OtherwiseError", "failed at each of 2 attempts: compile: no op")
    assert (len(world.again), [*world.services.exhausted]) == (1, [f"{NODE}m_c"])


@pytest.mark.parametrize(("reused", "failure", "again"), [(True, REFUSED, 1), (False, REFUSED, 0), (True, None, 0)])
def test_the_stored_failure_of_an_intermittent_compile_is_the_chance_of_another_day(
    monkeypatch: pytest.MonkeyPatch, reused: bool, failure: Failure | None, again: int
) -> None:
    chance = rule(outcome="intermittent", stages=("compile",))
    world = World(monkeypatch, chance, compile=compiled(failure, reused=reused))
    end_of(world.trial().attempt)
    assert len(world.again) == again


def test_a_result_that_is_still_valid_is_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = SimpleNamespace(host="h", ended=7.0, outcome=lambda devices: ran(None, devices=devices))
    for reuses, run in ((True, RetargetError("it ran")), (False, ran(None))):
        trial = World(monkeypatch, kept=kept, run=run, settings={"reuses": reuses}).trial()
        assert end_of(trial.attempt) == ("", "")
        assert (trial.record.unchanged, trial.record.reused is not None) == (reuses, reuses)
    trial = World(monkeypatch, settings={"reuses": True}).trial()
    assert end_of(trial.attempt) == ("", "")
    assert trial.record.reused is None


@pytest.mark.parametrize(("no_verdict", "seen"), [(False, True), (True, False)])
def test_how_the_compile_failed_is_kept_unless_it_says_nothing(
    monkeypatch: pytest.MonkeyPatch, no_verdict: bool, seen: bool
) -> None:
    failure = Failure(stage=Stage.COMPILE, summary="no op", no_verdict=no_verdict)
    trial = World(monkeypatch, compile=compiled(failure), selected="m_c").trial()
    assert end_of(trial.attempt)[0] == "blocked"
    assert (trial.compile_observation is not None) is seen


# ---------------------------------------------------------------- results that cases agree with


def lacking(*configs: str) -> RunOutcome:
    return ran(*(Failure(stage=Stage.LOAD, summary=f"no {one}", lacking=one, no_verdict=True) for one in configs))


def recording(failure: Failure | None = LOST, **known: Any) -> Recording:
    return Recording(**{"found": "why", "failed": REFERENCE, "ran": REFERENCE, "failure": failure} | known)


def rules_of(**known: Any) -> dict[str, TargetRules]:
    return {REFERENCE.name: RuleSet([rule(7, **known)]).rules_for(REFERENCE)}


CRASHED = Failure(stage=Stage.RUN, summary="crashed", signal="SIGSEGV")


@pytest.mark.parametrize(
    ("recorded", "known", "end"),
    [
        ({"o": recording(unavailable=True)}, {}, ("unavailable", "no o")),
        ({"o": recording()}, {"selected": "m_o_r"}, BY_REFERENCE),
        ({"o": recording()}, {}, LACKS),
        ({"o": recording(failed=None)}, {"selected": "m_o_r"}, LACKS),
        ({"o": recording(ran=None)}, {"selected": "m_o_r"}, LACKS),
        (
            {"o": recording(REFUSED, failed=REFERENCE.compile)},
            {"selected": "m_o"},
            ("blocked", f"blocked by {NODE}m_o, which gave no results to agree with"),
        ),
        ({"o": recording()}, {"rules_of": rules_of()}, ("AsExpected", "m_o_r is expected to fail: r7")),
        (
            {"o": recording()},
            {"rules_of": rules_of(outcome="intermittent")},
            ("AsExpected", "m_o_r failed, which is intermittent: r7"),
        ),
        ({"o": recording()}, {"rules_of": rules_of(stages=("load",)), "selected": "m_o_r"}, BY_REFERENCE),
        (
            {"o": recording()},
            {"rules_of": rules_of(when="on(driver='x')"), "traits": (DeviceTraits(driver="x"),)},
            ("AsExpected", "m_o_r is expected to fail: r7"),
        ),
        ({"o": recording()}, {"rules_of": rules_of(outcome="flaky", retries=1), "selected": "m_o_r"}, LACKS),
        ({"o": recording(CRASHED)}, {"selected": "m_o_r"}, LACKS),
        (
            {"o": recording()},
            {"settings": {"update_expectations": True}, "selected": "m_o_r"},
            ("AsExpected", "m_o_r is expected to fail: run: lost"),
        ),
        ({"o": recording()}, {"settings": {"update_expectations": True}}, LACKS),
        ({"o": recording(), "p": recording(unavailable=True, failed=None, failure=None)}, {"selected": "m_o_r"}, LACKS),
    ],
)
def test_cases_without_what_they_agree_with_end_as_those_that_were_to_give_it(
    monkeypatch: pytest.MonkeyPatch, recorded: dict[str, Recording], known: dict[str, Any], end: tuple[str, str]
) -> None:
    trial = World(monkeypatch, run=lacking(*recorded), recorded=recorded, **known).trial()
    assert end_of(trial.attempt) == end


def test_a_target_that_is_not_compiled_here_names_none_that_blocks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for artifacts, by in ((None, f"{NODE}m_o_r"), (Path("x"), "")):
        known = {"recorded": {"o": recording()}, "selected": "m_o_r", "settings": {"artifacts": artifacts}}
        with pytest.raises(Skip) as blocked:
            World(monkeypatch, run=lacking("o"), **known).trial().attempt()
        assert blocked.value.by == by


# ---------------------------------------------------------------- before anything is tried


@pytest.mark.parametrize(
    ("rules", "known", "end"),
    [
        ([], {}, ("", "")),
        ([rule(outcome="skip", stages=())], {}, ("rule", "r0")),
        ([], {"mismatch": "needs ios"}, ("unavailable", "needs ios")),
        ([], {"driver": RetargetError("no such driver")}, ("RetargetError", "no such driver")),
        ([], {"generated": UnavailableError("no onnx")}, ("unavailable", "no onnx")),
        ([], {"compiler": UnavailableError("no iree")}, ("unavailable", "no iree")),
        ([], {"compiler": RetargetError("no such")}, ("RetargetError", "no such")),
        ([], {"compiler": RetargetError("no such"), "selected": "m_c"}, BY_COMPILE),
        ([], {"compiler": RetargetError("no such"), "settings": {"artifacts": Path("x")}}, ("", "")),
        ([], {"devices": UnavailableError("no GPU")}, ("unavailable", "r: no GPU")),
        ([], {"devices": UnsuitableError("small")}, ("unsuitable", "r: small")),
        ([], {"devices": UnavailableError("lost", lost=True)}, ("lost", "lost")),
        ([], {"devices": RetargetError("broken")}, ("RetargetError", "broken")),
    ],
)
def test_a_run_that_lacks_something_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, rules: list[Expectation], known: dict[str, Any], end: tuple[str, str]
) -> None:
    trial = World(monkeypatch, *rules, **known).trial()
    assert end_of(trial.prepare) == end
    assert trial.started > 0
    has_devices = end == ("", "") or end[0] == "unsuitable"
    assert [one.name for one in trial.record.devices] == (["GPU"] if has_devices else [])


@pytest.mark.parametrize(
    ("known", "end"),
    [
        ({}, ("", "")),
        ({"compiler": UnavailableError("no iree")}, ("unavailable", "no iree")),
        (
            {"settings": {"artifacts": Path("x")}},
            ("not_compiled", "not compiled: --retarget-artifacts takes artifacts from x"),
        ),
    ],
)
def test_a_compile_that_lacks_something_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, Any], end: tuple[str, str]
) -> None:
    assert end_of(World(monkeypatch, **known).trial(COMPILED).prepare) == end


@pytest.mark.parametrize(
    ("rules", "known", "end", "rung"),
    [
        ([], {}, ("", ""), "compiles"),
        ([], {"compile": compiled(REFUSED)}, ("StageFailedError", "compile: no op"), "none"),
        ([rule(stages=("compile",))], {"compile": compiled(REFUSED)}, ("AsExpected", "r0"), "none"),
        ([rule(stages=("compile",))], {}, PASSED_COMPILE, "compiles"),
        ([rule(stages=("compile", "run"))], {}, ("", ""), "compiles"),
        ([], {"checker": True}, ("", ""), "matches"),
    ],
)
def test_a_compile_ends_so(
    monkeypatch: pytest.MonkeyPatch, rules: list[Expectation], known: dict[str, Any], end: tuple[str, str], rung: str
) -> None:
    trial = World(monkeypatch, *rules, **known).trial(COMPILED)
    assert end_of(trial.attempt) == end
    assert trial.record.rung == rung


@pytest.mark.parametrize(
    ("changed", "reused", "failure", "unchanged"),
    [(True, True, None, True), (True, True, REFUSED, True), (True, False, None, False), (False, True, None, False)],
)
def test_a_compile_that_was_reused_has_not_changed_where_that_is_asked(
    monkeypatch: pytest.MonkeyPatch, changed: bool, reused: bool, failure: Failure | None, unchanged: bool
) -> None:
    known = {"compile": compiled(failure, reused=reused), "settings": {"changed": changed}}
    trial = World(monkeypatch, **known).trial(COMPILED)
    end_of(trial.attempt)
    assert trial.record.unchanged is unchanged


def test_where_cases_are_left_out_the_rung_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    for cases, rung in ((("a", "b"), "matches"), (("a",), "")):
        trial = World(monkeypatch, run=ran(None, names=("a", "b")), settings={"cases": cases}).trial()
        end_of(trial.attempt)
        assert trial.record.rung == rung


@pytest.mark.parametrize(("made", "rung"), [(compiled(), "compiles"), (compiled(REFUSED), "none")])
def test_a_module_whose_device_fails_comes_as_far_as_its_compile(
    monkeypatch: pytest.MonkeyPatch, made: CompileOutcome, rung: str
) -> None:
    trial = World(monkeypatch, devices=RetargetError("the device is gone"), compile=made).trial()
    assert end_of(trial.prepare) == ("RetargetError", "the device is gone")
    assert trial.record.rung == rung


@pytest.mark.parametrize(
    ("skipping", "mismatch", "error", "is_needed"),
    [
        (None, None, None, True),
        ("a rule", None, None, False),
        (None, "of another system", None, False),
        (None, None, UnavailableError("no such device"), False),
    ],
)
def test_what_will_be_skipped_is_not_compiled_ahead(
    skipping: str | None, mismatch: str | None, error: Exception | None, is_needed: bool
) -> None:
    def devices_of(_: object) -> None:
        if error is not None:
            raise error

    engine = SimpleNamespace(check_compiler=str, host_mismatch=lambda _: mismatch, devices_of=devices_of)
    services: Any = SimpleNamespace(engine=engine, selected_compiles=(), registry=SimpleNamespace(driver=str))
    rules: Any = SimpleNamespace(skipping=skipping)
    target = run_target(compile_target())
    assert TrialServices.is_compile_needed(services, target, "c", rules) is is_needed
