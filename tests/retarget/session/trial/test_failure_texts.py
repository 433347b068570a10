"""How a failure reads: source locations in a compiler's message, the cases of its module and how much of each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model_targets import compile_target, run_target
from retarget.model.outcomes import Artifact, CaseOutcome, Failure, RunOutcome, Stage
from retarget.session.commands import Commands
from retarget.session.trial.failures import at_path, run_failed, split_place


class NoCommands(Commands):
    """Words none."""

    def __init__(self) -> None:
        pass

    def run(self, *_: object, **__: object) -> list[str]:
        return []


def reported(run: RunOutcome, *, in_full: bool = False) -> list[str]:
    assert run.failure is not None
    target = run_target(compile_target())
    artifact = Artifact(digest="", size=0, path="")
    return str(run_failed(NoCommands(), target, artifact, run, run.failure, in_full=in_full)).splitlines()


def outcome(*cases: tuple[str, str], load_seconds: float = 0.1) -> RunOutcome:
    made = tuple(
        CaseOutcome(
            name=name,
            seconds=0.0,
            function="f",
            failure=Failure(stage=Stage.COMPARE, summary=summary, text=f"all of {name}") if summary else None,
        )
        for name, summary in cases
    )
    first = next(case.failure for case in made if case.failure is not None)
    return RunOutcome(devices=(), load_seconds=load_seconds, cases=made, failure=first)


FIVE = [
    ("a", "one"),
    ("b", "two"),
    ("c", "three"),
    ("d", "four\nlines"),
    ("long-name", f"\x1b[31m{'x' * 200}"),
    ("g", ""),
]


def test_each_case_that_is_not_shown_in_full_has_a_line() -> None:
    assert reported(outcome(*FIVE)) == [
        "compare: a and 4 more: one",
        "",
        "case a:",
        "  all of a",
        "",
        "case b:",
        "  all of b",
        "",
        "case c:",
        "  all of c",
        "",
        "failed as well (-vv shows them in full):",
        "  d          compare: four lines",
        f"  long-name  compare: {'x' * 159}…",
        "",
        "passed: g",
        "",
        "5 of 6 cases failed",
    ]


@pytest.mark.parametrize(
    ("names", "last"), [("abc", "3 of 3 cases failed; the run ended there"), ("a", "  all of a")], ids=["three", "one"]
)
def test_a_run_that_broke_off_says_what_it_came_to(names: str, last: str) -> None:
    assert reported(outcome(*((name, "why") for name in names), load_seconds=0.0))[-1] == last


def test_what_cases_printed_out_of_process_is_shown_once() -> None:
    run = outcome(("a", "one"), ("b", "two"), ("c", ""))
    shown = "\n".join(reported(replace(run, output="all of a\nall of b\nPASS c\n")))
    assert [shown.count(f"all of {name}") for name in "ab"] == [1, 1]
    assert "the program printed:\n  PASS c" in shown
    assert "the program printed" not in "\n".join(reported(replace(run, output="all of a\n\nall of b\n")))


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a.mlir:3:8: error: no", "s t/a.mlir:3:8: error: no"),
        ("\x1b[1ma.mlir:3:8: no\nx\na.mlir:1:1: note", "\x1b[1ms t/a.mlir:3:8: no\nx\ns t/a.mlir:1:1: note"),
        ("b/a.mlir:3:8: or ba.mlir:3:8: or a.mlir alone", "b/a.mlir:3:8: or ba.mlir:3:8: or a.mlir alone"),
    ],
)
def test_a_compilers_message_gets_the_path_to_its_source(text: str, reported: str) -> None:
    assert at_path(text, "a.mlir", "s t/a.mlir") == reported


@pytest.mark.parametrize(
    ("summary", "parts"),
    [
        ("a.mlir:3:8: error: no", ("error: no", 3)),
        ("error: no", ("error: no", 0)),
        ("a.mlir:3:8: ", ("a.mlir:3:8: ", 0)),
        ("b.mlir:3:8: error", ("b.mlir:3:8: error", 0)),
    ],
)
def test_the_place_is_distinguished_from_the_message(summary: str, parts: tuple[str, int]) -> None:
    assert split_place(summary, "a.mlir") == parts


def test_failures_as_expected_are_counted_apart() -> None:
    run = outcome(("a", "one"), ("b", "two"), ("c", "three"), ("d", ""))
    assert run.failure is not None
    target, artifact = run_target(compile_target()), Artifact(digest="", size=0, path="")
    said = str(run_failed(NoCommands(), target, artifact, run, run.failure, expected=("b", "c")))
    assert said.splitlines()[-3:] == ["failed as expected: b, c", "", "1 of 4 cases failed, and 2 as expected"]
