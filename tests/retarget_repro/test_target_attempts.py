"""One target, chosen and tried: with an engine that says what it is to say."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.cli import support
from retarget.extension import UnavailableError
from retarget.model import Artifact, CaseOutcome, CompileOutcome, DeviceInfo, Failure, RunOutcome, Stage, Suite
from retarget.model.devices import DeviceTraits
from retarget.support import RetargetError
from retarget_repro import attempt as attempts
from retarget_repro.attempt import Attempt, Chosen, add_target_arguments, attempt, by_hand, chosen_target, find_failure

BAD = Failure(stage=Stage.COMPILE, summary="error: bad")
GONE = Failure(stage=Stage.RUN, summary="INTERNAL; gone")
DEVICE = DeviceInfo(driver="d", uri="d://0", ordinal=0, name="n", physical_id="p", runtime="rt 1")
COMPILED = CompileOutcome(
    key="k", seconds=10.0, reused=False, build="comp 1", artifact=Artifact(digest="0", size=1, path="a.vmfb")
)
REFUSED = dataclasses.replace(COMPILED, artifact=None, failure=BAD)
PASSED = CaseOutcome(name="f", seconds=0.1)
FAILED = CaseOutcome(name="g", seconds=0.1, failure=GONE)


class Engine:
    """Compiles to `compiled`, and runs to `ran`."""

    def __init__(self, compiled: Any = COMPILED, ran: Any = None, *, checks: bool = False) -> None:
        self.compiled, self.ran, self.calls = compiled, ran, []
        checker = object() if checks else None
        self.registry: Any = SimpleNamespace(
            artifact_checker=lambda _: checker, gives_no_outputs=lambda _: False, case_loaders={}
        )

    def compile(self, of: Any) -> Any:
        self.calls.append(("compile", of.name))
        if isinstance(self.compiled, Exception):
            raise self.compiled
        return self.compiled

    def generated(self, of: Any) -> Any:
        return replace(of, module=replace(of.module, path=Path("generated.mlir")))

    def traits(self, of: Any) -> tuple[DeviceTraits, ...]:
        self.calls.append(("traits", of.name))
        return (DeviceTraits(vendor="v"),)

    def devices_of(self, of: Any) -> None:
        self.calls.append(("devices", of.name))

    def run(self, of: Any, artifact: Artifact, **given: Any) -> Any:
        self.calls.append(("run", of.name, artifact.path, given["references"], given["skipping"]))
        return self.ran

    def check(self, of: Any, artifact: Artifact, **given: Any) -> Any:
        self.calls.append(("check", of.name, artifact.path, given["skipping"]))
        return self.ran


def chosen(*, runs: bool = True, **fields: Any) -> Chosen:
    known = {"name": "s", "folder": Path(), "modules": (), "kind": "check", "targets": (), "origin": ORIGIN}
    compiled = compile_target()
    return Chosen(
        registry=Engine().registry, suite=Suite(**known | fields), target=run_target(compiled) if runs else compiled
    )


def tried(engine: Any, of: Chosen | None = None) -> Attempt:
    return attempt(engine, replace(of or chosen(), registry=engine.registry))


def ran(*cases: CaseOutcome, failure: Failure | None = None, names: tuple[str, ...] = ("f", "g")) -> RunOutcome:
    return RunOutcome(devices=(DEVICE, DEVICE), cases=cases, names=names, failure=failure)


# ---------------------------------------------------------------- one attempt


def test_a_target_that_passes_names_its_builds_once_and_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 103.0])
    monkeypatch.setattr(attempts, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    outcome = ran(PASSED)
    engine = Engine(ran=outcome)
    assert tried(engine) == Attempt(compiled=COMPILED, ran=outcome, builds=("comp 1", "rt 1"), seconds=13.0)
    assert [call[0] for call in engine.calls] == ["compile", "devices", "run"]
    assert engine.calls[-1][2:4] == ("a.vmfb", ())


def test_a_compile_that_fails_is_not_run() -> None:
    engine = Engine(REFUSED)
    found = tried(engine)
    assert (found.failure, found.compiled, found.ran) == (BAD, REFUSED, None)
    assert (found.seconds, found.builds) == (10.0, ("comp 1",))
    assert engine.calls == [("compile", "m_c")]


@pytest.mark.parametrize(
    ("outcome", "checks", "said"),
    [
        (ran(), False, "found no case of f, g that --case selects and no rule skips"),
        (ran(names=()), True, "found no case that --case selects and no rule skips"),
        (ran(names=()), False, ""),
        (ran(failure=GONE), False, ""),
        (ran(FAILED, failure=GONE), False, ""),
    ],
)
def test_where_no_case_is_left_nothing_was_tried(outcome: RunOutcome, checks: bool, said: str) -> None:
    found = tried(Engine(ran=outcome, checks=checks))
    assert (found.unavailable, found.failure) == (said, None if said else outcome.failure)


@pytest.mark.parametrize("error", [UnavailableError("no device\nmore"), RetargetError("no device")])
def test_what_is_not_there_or_wrong_is_why_it_cannot_be_tried(error: Exception) -> None:
    found = tried(Engine(error))
    assert (found.passed, found.unavailable) == (False, "no device")


@pytest.mark.parametrize(("checks", "calls"), [(True, ["compile", "check"]), (False, ["compile"])])
def test_a_target_that_does_not_run_is_judged_where_its_kind_does_that(checks: bool, calls: list[str]) -> None:
    engine = Engine(ran=ran(PASSED), checks=checks)
    found = tried(engine, chosen(runs=False))
    assert found.passed
    assert [call[0] for call in engine.calls] == calls
    assert found.ran == (ran(PASSED) if checks else RunOutcome(devices=()))


# ---------------------------------------------------------------- by hand


def test_the_cases_that_failed_are_run_by_hand_from_what_was_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []

    class Commands:
        def __init__(self, **given: Any) -> None:
            said.append((given["compiles"], list(given["extensions"]), given["folder"]))

        def script(self, lines: Any) -> tuple[str, ...]:
            return ("cd", *lines)

        def run(self, of: Any, *, cases: Any) -> tuple[str, ...]:
            return ("run", of.compile.module.path.name, *(case.name for case in cases))

        def check(self, of: Any) -> tuple[str, ...]:
            return ("check", of.module.path.name)

        def compile(self, of: Any) -> tuple[str, ...]:
            return ("compile", of.module.path.name)

    monkeypatch.setattr(attempts, "Commands", Commands)
    found = Attempt(failure=GONE, ran=RunOutcome(devices=(), cases=(PASSED, FAILED)))
    assert by_hand(Engine(), chosen(), found, ()) == ("cd", "run", "generated.mlir", "g")
    engine: Any = Engine(checks=True)
    checked = replace(chosen(runs=False), registry=engine.registry)
    assert by_hand(engine, checked, found, ["e"]) == ("cd", "check", "generated.mlir")
    assert by_hand(Engine(), chosen(runs=False), found, ()) == ("cd", "compile", "generated.mlir")
    assert said[0] == (True, [], Path.cwd())
    assert "e" in said[1][1]


# ---------------------------------------------------------------- the target that is meant


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two suites: `first` has modules m and n, `second` has m; both for compiler configs `one` and `two`."""

    def declared(_: argparse.Namespace, paths: list[str]) -> Any:
        assert paths in (["."], ["suite.toml"])
        suites = []
        for name, modules in (("first", "mn"), ("second", "m")):
            targets = tuple(compile_target(module, config) for module in modules for config in ("one", "two"))
            suite = replace(chosen().suite, name=name)
            suites.append(SimpleNamespace(suite=suite, selected=targets, targets=(*targets, compile_target("hidden"))))
        return SimpleNamespace(registry=SimpleNamespace(), suites=suites)

    monkeypatch.setattr(support, "read_declared", declared)


def meant(*words: str) -> Chosen:
    parser = argparse.ArgumentParser()
    parser.add_argument("--retarget-extension", action="append", default=[])
    add_target_arguments(parser)
    return chosen_target(parser.parse_args(words))


def test_a_target_is_meant_by_its_name_or_its_node_id() -> None:
    assert meant("n_one").id == "suite.toml::first::n_one"
    found = meant("suite.toml::second::m_two")
    assert (found.suite.name, found.target.name, found.compiled) == ("second", "m_two", found.target)
    assert [other.name for other in found.others] == ["m_one", "m_two", "hidden_c"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["m_one"],
            "found 2 targets 'm_one' in ., expected one of: suite.toml::first::m_one, suite.toml::second::m_one",
        ),
        (["n_onee"], "found no target 'n_onee' in .; did you mean 'n_one'?"),
        (["x"], "found no target 'x' in .; `retarget list` shows all"),
        (["suite.toml::third::m_one"], "found no target 'm_one' in suite.toml; `retarget list` shows all"),
        (["suite.toml::second::n_one"], "found no target 'n_one' in suite.toml; did you mean 'm_one'?"),
    ],
)
def test_what_means_no_target_or_several_is_an_error(words: list[str], said: str) -> None:
    with pytest.raises(argparse.ArgumentError) as error:
        meant(*words)
    assert str(error.value) == said


def test_what_runs_on_another_host_is_not_packed() -> None:
    of = chosen()
    away = replace(of.target, runtime=replace(of.target.runtime, host=SimpleNamespace(name="pi")))  # type: ignore[union-attr]
    engine: Any = Engine()
    with pytest.raises(RetargetError, match=r"^suite.toml::s::m_c_r runs on host 'pi': what a bundle "):
        find_failure(engine, replace(of, target=away))
    assert engine.calls == []
