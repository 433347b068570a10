"""The status from states: blockers grouped and ranked, what is left out, the rungs, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from retarget.model import Rung
from retarget_bringup.ladder.states import TargetState
from retarget_bringup.status.assemble import Status, status_of
from retarget_bringup.status.text import status_lines
from status_states import failed, matches, node_id, not_compiled, state

LEGALIZE = "failed to legalize operation 'vector.bitcast'"


@pytest.fixture
def root(cwd: Path) -> Path:
    """A project in the current folder with modules of 10 bytes for each letter of their name."""
    (cwd / "suites").mkdir()
    for name in ("a", "bb", "ccc", "dddd", "eeeee"):
        (cwd / "suites" / f"{name}.mlir").write_text("x" * 10 * len(name))
    return cwd


def made(states: Sequence[TargetState], root: Path, **fields: Any) -> Status:
    known: dict[str, Any] = {"root": root, "stable_runs": 3, "is_raised": True}
    return status_of("gpu", states, **known | fields)


def text(status: Status, *, everything: bool = False) -> str:
    return "\n".join(status_lines(status, everything=everything))


def test_run_targets_of_a_module_that_does_not_compile_count_with_its_failure(root: Path) -> None:
    states = [not_compiled("bb", LEGALIZE), not_compiled("a", LEGALIZE), failed("ccc", Rung.NONE, "compile", LEGALIZE)]
    (blocker,) = made(states, root).blockers
    assert (blocker.rung, blocker.stage, blocker.signature, blocker.frees) == ("none", "compile", LEGALIZE, 3)
    assert blocker.command == f"pytest '{node_id('a_gpu')}'"  # the compile target, which is what fails
    assert blocker.diagnostic == (f"x.mlir:3:1: error: {LEGALIZE}", "  %0 = foo", "  ^")


def test_commands_by_hand_are_no_part_of_what_a_blocker_says(root: Path) -> None:
    summary = "compile is not written yet"
    report = f"{summary}\n\nhint: no verdict\n\nto reproduce this by hand:\n  cd /somewhere\n"
    state = failed("a", Rung.NONE, "compile", summary)
    assert state.record is not None
    record = msgspec.structs.replace(state.record, message=summary, text=report)
    (blocker,) = made([replace(state, record=record)], root).blockers
    assert blocker.diagnostic == ("hint: no verdict",)


def test_blockers_that_free_as_many_are_ranked_by_the_smallest_module(root: Path) -> None:
    states = [
        failed("ccc", Rung.LOADS, "run", "b"),
        failed("a", Rung.LOADS, "run", "c"),
        failed("bb", Rung.LOADS, "run", "a"),
    ]
    assert [one.module for one in made(states, root).blockers] == ["a", "bb", "ccc"]


def test_a_failure_that_a_rule_excuses_is_shown_with_its_reason_and_run_without_the_rule(root: Path) -> None:
    (blocker,) = made([failed("a", Rung.COMPLETES, "compare", "values differ", reason="known: #12")], root).blockers
    assert blocker.known == "known: #12"
    assert blocker.command == f"pytest '{node_id('a_gpu_gpu')}' --retarget-ignore-expectations"


def test_the_command_goes_to_the_project_from_where_the_user_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "suites")
    (blocker,) = made([failed("a", Rung.LOADS, "run", "x")], root).blockers
    assert blocker.command == f"cd {root} && pytest '{node_id('a_gpu_gpu')}'"


@pytest.mark.parametrize(
    ("reference", "command"), [("cpu/sync", f"pytest '{node_id('a_cpu_sync')}'"), ("cpu", ""), ("", "")]
)
def test_the_command_of_the_reference_is_that_of_a_declared_target(root: Path, reference: str, command: str) -> None:
    declared = {node_id("a_cpu_sync"), node_id("a_")}
    for one in (failed("a", Rung.LOADS, "run", "x"), not_compiled("a", "x")):
        (blocker,) = made([one], root, reference=reference, declared=declared).blockers
        assert blocker.reference == command


def test_the_percentage_is_over_targets_that_are_seen_and_not_permanent(root: Path) -> None:
    states = [
        matches("a"),
        matches("bb", Rung.STABLE),
        failed("ccc", Rung.LOADS, "run", "x"),
        matches("new", line=None),
        state("never", None, is_permanent=True, reason="no shaderInt8"),
        state("gone", None, reason="the device vulkan://0 is gone after a_gpu_gpu"),
    ]
    status = made(states, root)
    assert (status.matches, status.counted) == (2, 3)
    assert status.percentage == 66.6
    assert [(one.state, one.reason, one.targets) for one in status.excluded] == [
        ("permanent", "no shaderInt8", (node_id("never_gpu_gpu"),)),
        ("unseen", "matches", (node_id("new_gpu_gpu"),)),
        ("not tried", "the device vulkan://0 is gone after a_gpu_gpu", (node_id("gone_gpu_gpu"),)),
    ]


@pytest.mark.parametrize(
    ("states", "fields", "what", "why", "command"),
    [
        pytest.param(
            [
                failed("a", Rung.LOADS, "run", "x"),
                failed("bb", Rung.LOADS, "run", "y"),
                failed("ccc", Rung.LOADS, "run", "y"),
            ],
            {},
            "mend in bb: run: error: y",
            "it frees 2 targets, more than any other does",
            f"pytest '{node_id('bb_gpu_gpu')}'",
            id="the blocker that frees the most",
        ),
        pytest.param(
            [
                failed("a", Rung.LOADS, "run", "x", was=Rung.MATCHES),
                failed("bb", Rung.LOADS, "run", "y"),
                failed("ccc", Rung.LOADS, "run", "y"),
            ],
            {},
            "mend in a: run: error: x",
            "1 target fell by it, and a ladder only rises",
            f"pytest '{node_id('a_gpu_gpu')}'",
            id="but what fell before all others",
        ),
        pytest.param(
            [matches("a"), matches("bb", Rung.STABLE)],
            {},
            "run what matches again: 1 target not stable yet",
            "all that was tried matches; stable takes 3 runs",
            "retarget bringup gpu --runs 3",
            id="then stability",
        ),
        pytest.param(
            [matches("a", Rung.STABLE)],
            {"is_raised": False},
            "raise the ladder, and commit it",
            "what was found is not in it yet",
            "retarget bringup gpu --raise",
            id="then the ladder",
        ),
        pytest.param(
            [matches("a", Rung.STABLE), state("bb", None, reason="no Vulkan device")],
            {},
            "run the rest where it can run",
            "no Vulkan device",
            "",
            id="then what cannot run here",
        ),
        pytest.param(
            [matches("a", Rung.STABLE)],
            {},
            "add modules",
            "all targets are stable, and the ladder says so",
            "",
            id="nothing",
        ),
    ],
)
def test_the_next_thing_to_do(
    root: Path, *, states: Sequence[TargetState], fields: dict[str, Any], what: str, why: str, command: str
) -> None:
    step = made(states, root, **fields).next
    assert (step.what, step.why, step.command) == (what, why, command)


def test_what_the_ladder_has_as_stable_needs_one_run_to_stay_so(root: Path) -> None:
    status = made([matches("a", was=Rung.STABLE), failed("bb", Rung.LOADS, "run", "x", was=Rung.STABLE)], root)
    assert {one.rung: one.stop for one in status.rungs if one.stop} == {"loads": 1, "stable": 1}
    assert made([matches("a", was=Rung.STABLE)], root).next.what == "add modules"


def test_where_the_driver_is_missing_the_compiler_comes_first(root: Path) -> None:
    compiled = [state(name, Rung.COMPILES, only_compiled=True, reason="no libcuda.so") for name in ("a", "bb")]
    step = made([not_compiled("ccc", "op is illegal"), *compiled], root).next
    assert step.what == "mend in ccc: compile: error: op is illegal"
    status = made(compiled, root)
    assert (status.next.what, status.next.why, status.blockers) == (
        "run the rest where it can run", "no libcuda.so", ()
    )  # fmt: skip
    assert text(status).startswith("gpu: none of 2 targets was tried; 2 compile\n")
