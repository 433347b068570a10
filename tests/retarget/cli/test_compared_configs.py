"""What a comparison of configs says of each side; nothing is compiled."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.cli.compare.configs import _one, _recorded, _report, _verdict
from retarget.cli.explain import _through
from retarget.model.outcomes import (
    CaseOutcome,
    Failure,
    Mismatch,
    OutputComparison,
    OutputDifference,
    RunOutcome,
    Stage,
)


def found(name: str) -> Any:
    return SimpleNamespace(module=SimpleNamespace(name=name, entry=""), is_declared=True)


def test_a_file_of_several_modules_is_refused_with_the_first_names() -> None:
    assert _one(Path("x.list"), [found("a"), found("a")]) == [found("a"), found("a")]
    with pytest.raises(argparse.ArgumentError) as caught:
        _one(Path("x.list"), [found("a"), found("b"), found("c")])
    assert str(caught.value) == (
        "x.list holds 3 modules; expected the name of one (a, b, …) and the folder that its suite is in"
    )


@pytest.mark.parametrize(
    ("stage", "failing", "said"),
    [
        (Stage.LOAD, 0, "load: why"),
        (Stage.RUN, 1, "run: p0: why"),
        (Stage.RUN, 2, "run: p0 and 1 more: why"),
        (Stage.COMPARE, 1, "does not agree with what the module expects: p0: why"),
    ],
)
def test_a_side_that_failed_says_where_and_why(stage: Stage, failing: int, said: str) -> None:
    failure = Failure(stage=stage, summary="why")
    cases = tuple(
        CaseOutcome(name=f"p{at}", seconds=0.0, function="f", failure=failure if at < failing else None)
        for at in range(3)
    )
    assert _verdict(RunOutcome(devices=(), cases=cases, failure=failure), None, found("a")) == said


def test_a_target_is_reached_through_configs_that_have_its_compiler_and_its_runtime() -> None:
    configs = {name: SimpleNamespace(name=name, compilers=name[0], runtimes=name[1]) for name in ("ax", "ay", "bx")}
    suite: Any = SimpleNamespace(targets=tuple(configs.values()), overrides=())
    compiled: Any = SimpleNamespace(compiler="a", module=SimpleNamespace(name="m"))
    runtime: Any = "x"
    assert _through(suite, compiled, runtime) == (configs["ax"],)
    assert _through(suite, compiled, None) == (configs["ax"], configs["ay"])


@pytest.mark.parametrize(
    ("compiled", "summary"),
    [
        ({"artifact": "a", "failure": None}, "ran a with 7"),
        ({"artifact": None, "failure": Failure(stage=Stage.COMPILE, summary="no such op")}, "no such op"),
        ({"artifact": None, "failure": None}, "there is no artifact"),
    ],
)
def test_what_does_not_compile_has_failed_and_what_does_is_run(compiled: dict[str, Any], summary: str) -> None:
    def run(_: object, artifact: str, *, record: Path, seed: int) -> RunOutcome:
        assert record == Path("folder")
        return RunOutcome(devices=(), failure=Failure(stage=Stage.RUN, summary=f"ran {artifact} with {seed}"))

    engine: Any = SimpleNamespace(compile=lambda _: SimpleNamespace(**compiled), run=run)
    target: Any = SimpleNamespace(compile=None)
    failure = _recorded(engine, target, Path("folder"), 7).failure
    assert failure is not None
    assert failure.summary == summary


@pytest.mark.parametrize(("entry", "is_said"), [("", True), ("one of several", False)])
def test_where_a_side_has_no_outputs_the_test_of_the_module_says_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str, is_said: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.mlir").touch()
    one: Any = SimpleNamespace(
        module=SimpleNamespace(name="m", entry=entry, path=tmp_path / "m.mlir"), is_declared=True
    )
    targets: Any = [
        SimpleNamespace(compile=SimpleNamespace(compiler=SimpleNamespace(name=name)), runtime=SimpleNamespace(name="r"))
        for name in ("a", "bb")
    ]
    failed = RunOutcome(devices=(), failure=Failure(stage=Stage.LOAD, summary="why"))
    said = ["  a/r   load: why", "  bb/r  load: why", "nothing to compare: not both have outputs"]
    said += ["for all that is known: pytest m.mlir"] if is_said else []
    assert list(_report(one, targets, [failed, failed], None)) == said


@pytest.mark.parametrize(
    ("values", "differing", "said"),
    [
        (0, 0, "nothing to compare: no case returned or checked any value"),
        (3, 0, "equal: 3 values of 1 case compared"),
        (0, 1, "1 of 1 array differs; 0 values of 1 case compared"),
    ],
)
def test_outputs_without_a_value_are_not_equal(values: int, differing: int, said: str) -> None:
    target: Any = SimpleNamespace(
        compile=SimpleNamespace(compiler=SimpleNamespace(name="c")), runtime=SimpleNamespace(name="r")
    )
    mismatch = Mismatch(summary="shape", report="shape") if differing else None
    found = OutputDifference(case="c", place="result 0", mismatch=mismatch) if mismatch is not None else None
    compared = OutputComparison(cases=1, arrays=1, values=values, differing=differing, first=found, worst=found)
    ran = RunOutcome(devices=())
    module: Any = SimpleNamespace(is_declared=True)
    assert [*_report(module, [target] * 2, [ran] * 2, compared)][-1] == said
