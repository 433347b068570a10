"""What a bundle says of itself, and what a failure becomes in it: pure functions, without a compile or a run."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.cli import main
from retarget.model import (
    Artifact,
    CaseOutcome,
    CompileOutcome,
    DeviceInfo,
    Expectation,
    Failure,
    RunOutcome,
    Stage,
    Suite,
)
from retarget.session import load_extensions
from retarget.support import RetargetError
from retarget_repro import attempt as attempts
from retarget_repro.attempt import Attempt, Chosen, FailedTarget, failed_target, find_failure
from retarget_repro.bundle import format as bundle_format
from retarget_repro.bundle import write
from retarget_repro.bundle.format import (
    Bundle,
    CompileStep,
    DeviceUse,
    Observed,
    Reproduced,
    RunStep,
    read_bundle,
    write_json,
)
from retarget_repro.command import _statement

STEP = CompileStep(compiler="iree", source="m.mlir", flags=("--x={bundle}/inputs/0/y",), env={"A": "1"}, timeout=1.0)
RUN = RunStep(driver="local-sync", devices=(DeviceUse(uri="local-sync://"),), timeout=1.0)
DEVICE = DeviceInfo(driver="d", uri="d://0", ordinal=0, name="n", physical_id="p", driver_version="1", runtime="rt 1")
COMPILED = CompileOutcome(key="k", seconds=1.0, reused=False, artifact=Artifact(digest="0", size=1, path="a.vmfb"))
REFUSED = Failure(stage=Stage.COMPILE, summary="m.mlir:1:2: error: no such op")
GONE = Failure(stage=Stage.RUN, summary="INTERNAL; gone")
LOST = Failure(stage=Stage.RUN, summary="the worker left", no_verdict=True)


def made(**fields: Any) -> Bundle:
    known: dict[str, Any] = {
        "target": "suite.toml::s::m_c_r",
        "toolchain": "iree",
        "observed": Observed(at="run", stage="run", signature="INTERNAL"),
        "reproduced": Reproduced(runs=2, same=2),
        "compile": STEP,
    }
    return Bundle(**known | fields)


def chosen(target: Any = None, **fields: Any) -> Chosen:
    compiled = compile_target()
    known = {"name": "s", "folder": Path(), "modules": (), "kind": "check", "targets": (), "origin": ORIGIN}
    target = target or run_target(compiled)
    return Chosen(registry=load_extensions(), suite=Suite(**known | fields), target=target)


def failed(of: Chosen | None = None, **fields: Any) -> FailedTarget:
    known = {"chosen": of or chosen(), "compiled": COMPILED, "ran": RunOutcome(devices=(DEVICE,)), "failure": GONE}
    return FailedTarget(**{**known, "way": GONE.observed_in(()), **fields})


# ---------------------------------------------------------------- bundle.json


@pytest.mark.parametrize(
    ("observed", "text"),
    [
        (Observed(at="run", stage="run", signature="INTERNAL"), "run: INTERNAL"),
        (Observed(at="run", stage="crash", signature="SIGSEGV"), "crash (run): SIGSEGV"),
        (Observed(at="run", stage="timeout", signature=""), "timeout (run)"),
    ],
)
def test_an_observation_names_both_stages_where_they_differ(observed: Observed, text: str) -> None:
    assert str(observed) == text


def test_variables_are_those_of_compile_and_run() -> None:
    assert made().variables == ("A",)
    assert made(run=msgspec.structs.replace(RUN, env={"B": "2", "A": "3"})).variables == ("A", "B")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"run": {"driver": "d", "run_under": ["qemu-aarch64"]}},
            "found a run behind run_under, which no bundle holds: ",
        ),
        ({"check": {"kind": "filecheck"}}, "found an artifact that is judged and not run, which no bundle holds: "),
    ],
)
def test_what_bundles_held_before_says_where_to_run_it(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    write_json(made(run=RUN), tmp_path)
    file = tmp_path / "bundle.json"
    plain = msgspec.json.decode(file.read_bytes())
    file.write_bytes(msgspec.json.encode({**plain, "check": None}))
    assert read_bundle(tmp_path) == made(run=RUN)
    file.write_bytes(msgspec.json.encode(plain | more))
    with pytest.raises(RetargetError, match=f"{said}run the target"):
        read_bundle(tmp_path)


def test_a_description_may_have_so_many_bytes_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json(made(), tmp_path)
    size = (tmp_path / "bundle.json").stat().st_size
    monkeypatch.setattr(bundle_format, "_LARGEST", size)
    assert read_bundle(tmp_path) == made()
    monkeypatch.setattr(bundle_format, "_LARGEST", size - 1)
    with pytest.raises(RetargetError, match=f"has {size} bytes, expected at most {size - 1}"):
        read_bundle(tmp_path)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Reproduced(runs=2, same=0, others=("good: x", "y")), "not reproduced in 2 runs: good: x; y"),
        (Reproduced(runs=3, same=2, others=("good: x",)), "flaky: reproduced in 2 of 3 runs; else good: x"),
        (Reproduced(runs=1, same=1), "reproduced once from the bundle alone: run: INTERNAL"),
        (Reproduced(runs=2, same=2), "reproduced in 2 of 2 runs from the bundle alone: run: INTERNAL"),
    ],
)
def test_the_statement_says_how_often(found: Reproduced, text: str) -> None:
    assert _statement(made(reproduced=found)) == text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected the target to write a bundle of, or --open with a bundle"),
        (["m_c", "--open", "x.tar.zst"], "expected the target to write a bundle of, or --open with a bundle"),
    ],
)
def test_a_bundle_is_either_written_or_opened(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repro", *words]) == 2
    assert said in capsys.readouterr().err


# ---------------------------------------------------------------- an attempt, and its failure


def test_an_attempt_passes_fails_or_cannot_be_tried() -> None:
    bad = Attempt(failure=GONE, observation=GONE.observed_in(()))
    lost = attempts._said(LOST, LOST.observation, seconds=1.0, builds=("b", "", "b"))
    assert (Attempt().passed, bad.passed, lost.passed) == (True, False, False)
    assert (str(Attempt()), str(bad), str(lost)) == ("passes", "run: INTERNAL; gone", "no verdict: the worker left")
    assert lost.builds == ("b",)
    assert str(replace(bad, failure=dataclasses.replace(GONE, summary=""))) == "run"
    assert attempts._said(GONE, GONE.observation, seconds=1.0, builds=()).observation == bad.observation
    assert attempts._said(None, None, seconds=1.0, builds=()).passed


def test_attempts_are_the_same_where_one_way_is() -> None:
    cases = (_case("f", GONE), _case("g", REFUSED))
    both = Attempt(failure=GONE, observation=GONE.observed_in(cases))
    one, other = (Attempt(failure=why, observation=why.observed_in(())) for why in (REFUSED, GONE))
    assert both.same(one)
    assert one.same(both)
    assert not one.same(other)
    assert not one.same(Attempt())
    assert not Attempt().same(one)
    assert not Attempt().same(Attempt())


def _case(name: str, failure: Failure | None = None) -> CaseOutcome:
    return CaseOutcome(name=name, seconds=0.1, failure=failure)


def test_a_bundle_is_of_the_cases_that_failed_in_the_first_way() -> None:
    other = dataclasses.replace(GONE, summary="INTERNAL; gone", text="more")
    cases = (_case("ok"), _case("f", GONE), _case("g", REFUSED), _case("h", other))
    found = Attempt(
        failure=other, observation=GONE.observed_in(cases), compiled=COMPILED, ran=RunOutcome(devices=(), cases=cases)
    )
    packed = failed_target(chosen(), found)
    assert (packed.cases, packed.case, packed.failure, packed.way) == (("f", "h"), "f", GONE, GONE.observed_in(()))
    whole = failed_target(chosen(), replace(found, ran=None, observation=GONE.observed_in(())))
    assert (whole.cases, whole.case, whole.failure) == ((), "", other)
    for lacking in ({"failure": None}, {"observation": None}, {"compiled": None}):
        with pytest.raises(RetargetError, match=r"^suite.toml::s::m_c_r: "):
            failed_target(chosen(), replace(found, **lacking))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (None, ""),
        ({"stages": ("run",), "reason": "why"}, "expected to fail at run: why"),
        ({"stages": ("run",), "reason": "why", "issue": "https://x/1"}, "expected to fail at run: why; https://x/1"),
        ({"outcome": "skip", "reason": "why"}, "skip: why"),
        ({"match": ("other",), "stages": ("run",), "reason": "why"}, ""),
    ],
)
def test_the_rule_in_force_is_in_the_bundle(rule: dict[str, Any] | None, text: str) -> None:
    rules = () if rule is None else (Expectation(**{"match": ("m",), "origin": ORIGIN, **rule}),)
    assert failed(chosen(expectations=rules)).expectation() == text
    assert failed(chosen(expectations=rules), ran=None).expectation() == text


def test_a_failure_is_looked_for_in_as_many_runs_as_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = SimpleNamespace(registry=load_extensions())
    passes = Attempt(compiled=COMPILED, ran=RunOutcome(devices=(DEVICE,)))
    fails = Attempt(failure=GONE, observation=GONE.observed_in(()), compiled=COMPILED)
    left: list[Attempt] = []
    monkeypatch.setattr(attempts, "attempt", lambda *_: left.pop(0))
    left += [passes, passes, fails]
    assert find_failure(engine, chosen()).failure == GONE
    for given, said in (
        ([passes] * 3, "suite.toml::s::m_c_r passes in 3 runs: there is no failure to pack"),
        ([Attempt(compiled=COMPILED)], "suite.toml::s::m_c_r passes: there is no failure to pack"),
        ([replace(passes, ran=RunOutcome(devices=()))], "suite.toml::s::m_c_r passes: there is no failure to pack"),
        ([Attempt(unavailable="no device")], "suite.toml::s::m_c_r cannot be tried here: no device"),
    ):
        left[:] = given
        with pytest.raises(RetargetError, match=f"^{said}$"):
            find_failure(engine, chosen())
        assert left == []


def test_what_is_judged_and_not_run_is_not_packed_and_what_does_not_compile_is(monkeypatch: pytest.MonkeyPatch) -> None:
    engine: Any = SimpleNamespace(registry=load_extensions())
    judged = chosen(replace(compile_target(), kind="filecheck"))
    differs = Attempt(failure=GONE, observation=GONE.observed_in(()), compiled=COMPILED, ran=RunOutcome(devices=()))
    monkeypatch.setattr(attempts, "attempt", lambda *_: differs)
    with pytest.raises(RetargetError, match=r"^suite.toml::s::m_c is judged and not run, which no bundle holds: "):
        find_failure(engine, judged)
    monkeypatch.setattr(attempts, "attempt", lambda *_: replace(differs, ran=None))
    assert find_failure(engine, judged).failure == GONE


def test_what_runs_behind_a_wrapper_is_not_packed() -> None:
    engine: Any = SimpleNamespace(registry=load_extensions())
    under = chosen(run_target(compile_target(), run_under=("env",)))
    with pytest.raises(RetargetError, match="runs behind run_under, which a bundle does not hold"):
        find_failure(engine, under)


# ---------------------------------------------------------------- what is written


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (run_target(compile_target()), "iree"),
        (compile_target(), "iree"),
        (run_target(compile_target(), driver="opencl"), "retarget"),
    ],
)
def test_a_bundle_needs_retarget_only_for_what_is_not_iree(target: Any, kind: str) -> None:
    engine: Any = SimpleNamespace(registry=load_extensions())
    assert write._kind_of_toolchain(failed(chosen(target)), engine) == kind


def test_a_run_has_the_devices_and_what_its_configs_say() -> None:
    plain = write._run_step(run_target(compile_target(), env=(("A", "1"), ("B", "2"))), [DEVICE], ["A"])
    use = DeviceUse(uri="d://0", name="n", driver_version="1", runtime="rt 1")
    assert (plain.devices, plain.env, plain.timeout) == ((use,), {"B": "2"}, write.TIMEOUTS.run)
    target = replace(run_target(compile_target(), devices=("d://0?x=1",)), timeout=3.0)
    one = write._run_step(target, [DEVICE], ())
    assert (one.devices[0].uri, one.timeout) == ("d://0?x=1", 3.0)


CASE = {"function": "f", "inputs": [], "expected": None, "must_check": False}
ARRAY = {"dtype": "float32", "file": "0-input0.npy"}


@pytest.mark.parametrize(
    ("cases", "parameters", "flags"),
    [
        ([], [], None),
        (None, [], None),
        ([{**CASE, "must_check": True}], [], None),
        ([CASE], [], []),
        ([{**CASE, "inputs": [ARRAY, {**ARRAY, "number": 2.0}]}], [], ["--input=@cases/0-input0.npy", "--input=2.0"]),
        ([{**CASE, "inputs": [{**ARRAY, "dtype": "bfloat16"}]}], [], None),
        ([{**CASE, "expected": [None, {**ARRAY, "dtype": "float8_e5m2"}]}], [], None),
        ([{**CASE, "expected": [None, {**ARRAY, "dtype": "uint8"}]}], [], []),
        ([CASE], [("s", "p.irpa"), ("", "q.irpa")], ["--parameters=s=cases/p.irpa", "--parameters=cases/q.irpa"]),
    ],
)
def test_the_command_by_hand_is_given_where_the_tool_takes_it(
    cases: Any, parameters: Any, flags: list[str] | None, tmp_path: Path
) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "cases.json").write_text(json.dumps({"cases": cases, "parameters": parameters}))
    found = write._run_command(tmp_path, RUN, "a.vmfb")
    first = ["iree-run-module", "--device=local-sync", "--module=a.vmfb", "--function=f"]
    assert found == ([] if flags is None else [*first, *flags])
    compiles = "A=1 iree-compile m.mlir --x=inputs/0/y -o artifact.vmfb"
    run = ["python3 repro.py", compiles, *([" ".join(found)] if found else [])]
    assert list(write._commands(tmp_path, made(run=RUN, artifact="a.vmfb"))) == run


def test_other_commands_by_hand_are_left_out(tmp_path: Path) -> None:
    model = msgspec.structs.replace(STEP, source="m.onnx")
    assert list(write._commands(tmp_path, made())) == [
        "python3 repro.py",
        "A=1 iree-compile m.mlir --x=inputs/0/y -o artifact.vmfb",
    ]
    assert list(write._commands(tmp_path, made(toolchain="retarget"))) == ["python3 repro.py"]
    assert list(write._commands(tmp_path, made(compile=model))) == ["python3 repro.py"]


# ---------------------------------------------------------------- written only if it reproduces


def _written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, found: list[Reproduced], **more: Any
) -> tuple[Any, list[Any]]:
    """Write a bundle of two cases whose reproductions end so. Return what was written or raised, and what was tried."""
    tried: list[Any] = []

    def fill(place: Path, _: FailedTarget, **given: Any) -> Bundle:
        tried.append(given["cases"])
        place.mkdir(parents=True)
        (place / "m.mlir").touch()
        write_json(made(), place)
        return made()

    def reproduce(_: Path, *, runs: int, **__: Any) -> Reproduced:
        assert tried.pop() == f"reproducing it from the bundle{f', {runs} times' if runs > 1 else ''}"
        tried.append(runs)
        return found.pop(0)

    monkeypatch.setattr(write, "fill", fill)
    monkeypatch.setattr(write, "reproduce", reproduce)
    engine: Any = SimpleNamespace(registry=load_extensions())
    of = failed(cases=("f",), ran=RunOutcome(devices=(DEVICE,), names=("f", "g")))
    try:
        return write.write_bundle(of, folder / "x.tar.zst", engine=engine, note=tried.append, **more), tried
    except write.NotReproducedError as error:
        return error, tried


SAME = Reproduced(runs=2, same=1, others=("good: x",))
GOOD = Reproduced(runs=2, same=0, others=("good: x",))
OTHER = Reproduced(runs=2, same=0, others=("cannot tell: y",))


@pytest.mark.parametrize(
    ("found", "more", "is_written", "tried"),
    [
        ([SAME], {}, True, [("f",), 2]),
        ([GOOD, SAME], {}, True, [("f",), 2, (), 2]),
        ([OTHER], {}, False, [("f",), 2]),
        ([GOOD, GOOD], {}, False, [("f",), 2, (), 2]),
        ([OTHER], {"keep": True}, True, [("f",), 2]),
        ([SAME], {"runs": 1}, True, [("f",), 1]),
    ],
)
def test_cases_that_failed_are_tried_first_and_what_does_not_fail_is_not_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    found: list[Reproduced],
    more: dict[str, Any],
    is_written: bool,
    tried: list[Any],
) -> None:
    last = found[-1]
    result, done = _written(tmp_path, monkeypatch, list(found), **more)
    assert (done, (tmp_path / "x.tar.zst").exists()) == (tried, is_written)
    if is_written:
        assert result.reproduced == last
    else:
        assert f"found: {last.others[0]}" in str(result)
