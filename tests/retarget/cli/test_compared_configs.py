"""What a comparison of configs says of each side; nothing is compiled."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from data_errors import error_of
from retarget.cli.compare.command import _available, _choose, _recorded, _report, _status, _verdict
from retarget.extension import UnavailableError
from retarget.model.outcomes import (
    CaseOutcome,
    Failure,
    Mismatch,
    OutputComparison,
    OutputDifference,
    RunOutcome,
    Stage,
)
from retarget.support.errors import RetargetError


def found(name: str) -> Any:
    return SimpleNamespace(module=SimpleNamespace(name=name, entry=""))


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
    assert _verdict(RunOutcome(devices=(), cases=cases, failure=failure), None) == said


@pytest.mark.parametrize(
    ("compiled", "summary"),
    [
        ({"artifact": "a", "failure": None}, "ran a"),
        ({"artifact": None, "failure": Failure(stage=Stage.COMPILE, summary="no such op")}, "no such op"),
        ({"artifact": None, "failure": None}, "there is no artifact"),
    ],
)
def test_what_does_not_compile_has_failed_and_what_does_is_run(compiled: dict[str, Any], summary: str) -> None:
    def run(_: object, artifact: str, *, record: Path) -> RunOutcome:
        assert record == Path("folder")
        return RunOutcome(devices=(), failure=Failure(stage=Stage.RUN, summary=f"ran {artifact}"))

    engine: Any = SimpleNamespace(compile=lambda _: SimpleNamespace(**compiled), run=run)
    target: Any = SimpleNamespace(compile=None)
    failure = _recorded(engine, target, Path("folder")).failure
    assert failure is not None
    assert failure.summary == summary


@pytest.mark.parametrize(("entry", "is_said"), [("", True), ("one of several", False)])
def test_where_a_side_has_no_outputs_the_test_of_the_module_says_more(cwd: Path, entry: str, is_said: bool) -> None:
    (cwd / "m.mlir").touch()
    one: Any = SimpleNamespace(module=SimpleNamespace(name="m", entry=entry, path=cwd / "m.mlir"))
    targets: Any = [
        SimpleNamespace(compile=SimpleNamespace(compiler=SimpleNamespace(name=name)), runtime=SimpleNamespace(name="r"))
        for name in ("a", "bb")
    ]
    failed = RunOutcome(devices=(), failure=Failure(stage=Stage.LOAD, summary="why"))
    said = ["  a/r   load: why", "  bb/r  load: why", "nothing to compare: not both have outputs"]
    said += ["for all that is known: pytest m.mlir"] if is_said else []
    assert list(_report(one, targets, [failed, failed], None)) == said
    assert _status([failed, failed], None) == 1


MISMATCH = Mismatch(summary="1 differs", report="1 of 2 elements differ\nmax abs error 1")


def difference(place: str, ulp: int | None = None, report: str = MISMATCH.report) -> OutputDifference:
    return OutputDifference(case="f", place=place, mismatch=replace(MISMATCH, report=report), max_ulp=ulp)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"arrays": 2}, ["equal: 7 values of 1 case compared"]),
        ({"arrays": 0, "values": 0}, ["nothing to compare: no case returned or checked any value"]),
        (
            {"arrays": 2, "unmatched": (("g", "a/r"),)},
            ["not compared: case g, which a/r did not finish", "equal: 7 values of 1 case compared"],
        ),
        (
            {
                "values": 0,
                "arrays": 1,
                "differing": 1,
                "first": difference("c", 0, ""),
                "worst": difference("c", 0, ""),
            },
            ["first difference: f, c:", "  ", "1 of 1 array differs; 0 values of 1 case compared"],
        ),
        (
            {"arrays": 1, "differing": 1, "first": difference("check 2"), "worst": difference("check 2")},
            [
                "first difference: f, check 2:",
                "  1 of 2 elements differ",
                "  max abs error 1",
                "1 of 1 array differs; 7 values of 1 case compared",
            ],
        ),
        (
            {
                "arrays": 2,
                "differing": 2,
                "first": difference("check 1", 3, "no errors"),
                "worst": difference("check 2", 0),
            },
            [
                "first difference: f, check 1:",
                "  no errors",
                "worst difference: f, check 2:",
                "  1 of 2 elements differ",
                "  max abs error 1, 0 ulp",
                "2 of 2 arrays differ; 7 values of 1 case compared",
            ],
        ),
    ],
)
def test_a_comparison_says_what_differs_first_and_most(known: dict[str, Any], said: list[str]) -> None:
    comparison = OutputComparison(**{"cases": 1, "values": 7, "judged": 1} | known)
    passed = RunOutcome(devices=())
    lines = list(_report(found("m"), [named("a", "r"), named("bb", "r")], [passed, passed], comparison))
    agrees = "agrees with what the module expects"
    assert lines == [f"  a/r   {agrees}", f"  bb/r  {agrees}", *said]
    failed = RunOutcome(devices=(), failure=Failure(stage=Stage.RUN, summary="why"))
    assert (_status([passed], comparison), _status([failed], comparison)) == (int(known != {"arrays": 2}), 1)


def named(compiler: str, runtime: str, module: object = None) -> Any:
    compiled = SimpleNamespace(compiler=SimpleNamespace(name=compiler), module=module)
    return SimpleNamespace(compile=compiled, runtime=SimpleNamespace(name=runtime), name=f"m_{compiler}_{runtime}")


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        (2, "agrees with what the module expects"),
        (1, "agrees with what the module expects in 1 of 2 cases"),
        (0, "ran; the module has no expected values of its own"),
        (None, "agrees with what the module expects"),
    ],
)
def test_a_side_that_passed_says_what_that_means(judged: int | None, said: str) -> None:
    comparison = None if judged is None else OutputComparison(cases=2, arrays=2, values=2, judged=judged)
    assert _verdict(RunOutcome(devices=()), comparison) == said


def engine_with(**reasons: str) -> Any:
    """An engine on which each of these runtimes cannot run, for a reason; `tool` gives no outputs."""

    def check_available(target: Any) -> None:
        if reason := reasons.get(target.runtime.name):
            raise UnavailableError(f"{reason}\nmore") if reason != "damaged" else RetargetError(reason)

    registry = SimpleNamespace(gives_no_outputs=lambda runtime: runtime.name == "tool")
    return SimpleNamespace(check_available=check_available, registry=registry)


def test_the_first_target_that_can_run_here_is_taken() -> None:
    targets = [named("a", name) for name in ("gone", "tool", "here", "there")]
    assert _available(engine_with(gone="no device"), targets, "a") is targets[2]
    assert error_of(_available, engine_with(gone="no device", here="damaged"), targets[:3], "a") == (
        "a cannot be compared here: a/gone: no device; a/tool: out of run_under come no outputs to compare; "
        "a/here: damaged"
    )
    with pytest.raises(RetargetError, match=r"^a/gone cannot be compared here: no device$"):
        _available(engine_with(gone="no device"), targets[:1], "a/gone")


def in_suite(suite: str, *targets: Any, path: str = "m.mlir", entry: str = "") -> Any:
    module = SimpleNamespace(name="m", path=Path(path), entry=entry)
    return SimpleNamespace(suite=SimpleNamespace(name=suite, kind="check"), module=module, targets=targets)


@pytest.mark.parametrize(
    ("candidates", "names", "message"),
    [
        (
            [in_suite("s"), in_suite("t")],
            ["a", "b"],
            "no suite runs module m as a and as b: it has compile targets only",
        ),
        (
            [in_suite("s", named("a", "r")), in_suite("t", named("b", "r"))],
            ["a", "b"],
            "no suite runs module m as a and as b: it runs as a/r, b/r",
        ),
        (
            [in_suite("s", named("llvm", "r"))],
            ["llvm", "llvn"],
            "no suite runs module m as llvm and as llvn: it runs as llvm/r; did you mean 'llvm'?",
        ),
        ([in_suite("s", named("llvm", "r"))], ["x", "y"], "no suite runs module m as x and as y: it runs as llvm/r"),
        (
            [
                in_suite("s", named("a", "r"), named("b", "r")),
                in_suite("t", named("a", "r"), named("b", "r"), path="n.mlir"),
            ],
            ["a", "b"],
            "found 2 modules: m of m.mlir (suite s), m of n.mlir (suite t); expected the file of one, or its name and "
            "the folder of its suite",
        ),
    ],
)
def test_what_no_suite_runs_is_said_with_what_there_is(candidates: list[Any], names: list[str], message: str) -> None:
    with pytest.raises(argparse.ArgumentError) as caught:
        _choose(candidates, names)
    assert str(caught.value) == message
