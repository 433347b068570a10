"""`retarget ci verify --results DIR`: what is lost between a plan and its results."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from planned_results import BUILD, PLAN, RUN, compile_id, id_of, records_of, write_leg
from retarget.model import Observation
from retarget.results import CaseRecord, Leg, Outcome, Sessions, TargetRecord
from retarget.results.record import CompileRecord
from retarget.support import RetargetError
from retarget_ci.verify_results import Verified, verify_results

pytestmark = pytest.mark.usefixtures("cwd")
FAILURES = {Outcome.FAILED, Outcome.ERROR, Outcome.XPASSED}
ADD, DOT, SUM = (id_of(f"{module}_llvm-cpu_local-sync") for module in ("add", "dot", "sum"))


def verified(folder: Path) -> Verified:
    return verify_results(PLAN, Sessions.read([folder]))


def changed(leg: Leg, changes: dict[str, dict[str, Any]]) -> list[TargetRecord]:
    return [replace(record, **changes.get(record.nodeid, {})) for record in records_of(leg)]


def problems(folder: Path, run: dict[str, dict[str, Any]], build: dict[str, dict[str, Any]]) -> Verified:
    """What is said where the legs' records differ so from those of targets that passed."""
    write_leg(folder, BUILD, records=changed(BUILD, build))
    records = changed(RUN, run)
    write_leg(folder, RUN, records=records, status=int(any(record.outcome in FAILURES for record in records)))
    return verified(folder)


def test_all_targets_with_one_result_each_are_in_order(tmp_path: Path) -> None:
    write_leg(tmp_path / "a", BUILD)
    write_leg(tmp_path / "b", RUN)
    found = verified(tmp_path)
    assert found.problems == ()
    assert found.outcomes == {"passed": 6}


def test_a_leg_without_results_says_how_many_targets_are_missing(tmp_path: Path) -> None:
    write_leg(tmp_path, BUILD)
    assert verified(tmp_path).lost == (
        f"leg 'run-linux-1': found no results; 3 targets without a result: {ADD}, {DOT}, {SUM}; "
        "was its job skipped, cancelled, or its results not uploaded?",
    )


def test_the_same_file_in_two_folders_is_one_session(tmp_path: Path) -> None:
    write_leg(tmp_path / "a", BUILD)
    file = write_leg(tmp_path / "a", RUN)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "copy.jsonl").write_bytes(file.read_bytes())
    assert verified(tmp_path).problems == ()


def test_a_leg_that_ran_twice_is_an_error_that_names_the_files(tmp_path: Path) -> None:
    write_leg(tmp_path, BUILD)
    first, second = (write_leg(tmp_path / folder, RUN) for folder in "ab")
    assert verified(tmp_path).lost == (
        f"leg 'run-linux-1': found 2 sessions, expected one: {first.relative_to(tmp_path)}, "
        f"{second.relative_to(tmp_path)}; keep the results of one of them",
    )


@pytest.mark.parametrize("leg", [BUILD, RUN], ids=["build", "run"])
def test_a_leg_killed_at_any_byte_is_found(tmp_path: Path, leg: Leg) -> None:
    """Whatever is left of a file, and whatever was lost from it: never in order, and never a traceback."""
    for one in (BUILD, RUN):
        if one is not leg:
            write_leg(tmp_path, one)
    file = write_leg(tmp_path, leg)
    whole = file.read_bytes()
    lines = [at for at, byte in enumerate(whole) if byte == ord("\n")]
    cuts = {
        *lines,
        *(at + 1 for at in lines[:-1]),
        0,
        len(whole) - 1,
        *random.Random(11).sample(range(len(whole)), 200),  # noqa: S311
    }
    for cut in sorted(cuts):
        file.write_bytes(whole[:cut])
        if cut <= lines[0]:
            with pytest.raises(RetargetError, match=r"found no whole line, expected results; its session was killed"):
                verified(tmp_path)
            continue
        lost = verified(tmp_path).lost
        assert len(lost) == 1, (cut, lost)
        assert lost[0].startswith(f"leg {leg.name!r}: "), lost
        assert "the session was killed" in lost[0]
    file.write_bytes(whole)
    assert verified(tmp_path).problems == ()


def test_a_lost_line_is_found_although_the_session_ended(tmp_path: Path) -> None:
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN)
    lines = file.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines) - 1):
        file.write_bytes(b"".join([*lines[:number], *lines[number + 1 :]]))
        assert verified(tmp_path).lost == (
            f"leg 'run-linux-1': {file.name}: lines of it are lost: found 2 results, its end counts 3",
            f"leg 'run-linux-1': {file.name}: 1 target without a result: {(ADD, DOT, SUM)[number - 1]}",
        )


def test_a_session_without_a_plan_and_one_of_an_unknown_leg_are_errors(tmp_path: Path) -> None:
    write_leg(tmp_path, BUILD)
    write_leg(tmp_path, RUN)
    free = write_leg(tmp_path, replace(RUN, name=""), plan="")
    other = write_leg(tmp_path, replace(RUN, name="run-linux-2"))
    assert verified(tmp_path).lost == (
        f"{free.name}: found results of a session that ran no leg of a plan; "
        "expected `retarget ci run`, or pytest with --retarget-plan and --retarget-leg",
        f"{other.name}: found results of the leg 'run-linux-2', which the plan does not have; "
        "did you mean 'run-linux-1'?",
    )


LEG = "leg 'run-linux-1':"
FIRST, SECOND, THIRD = records_of(RUN)
BROKEN = replace(FIRST, outcome=Outcome.ERROR, message="no")
EXCUSED = {"outcome": Outcome.SKIPPED, "excused": True, "reason": "no bf16 (#12)"}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            {"records": [FIRST], "status": None},
            f"{LEG} FILE: the session was killed: it has no end, and results of 1 of 3 targets; "
            f"2 targets without a result: {DOT}, {SUM}",
        ),
        (
            {"plan": "0123456789abcdef"},
            f"{LEG} FILE answers to the plan 0123456789ab…, expected {PLAN.digest[:12]}…; "
            "plan once, and run each leg with that plan",
        ),
        (
            {"digest": "feed" * 16},
            f"{LEG} FILE: its session selected 3 targets of the digest feedfeedfeed…, planned are 3 of "
            f"{RUN.digest[:12]}…; were declarations or options others?",
        ),
        (
            {"records": [*records_of(RUN), records_of(BUILD)[0], replace(FIRST, nodeid=id_of("new_llvm-cpu"))]},
            f"{LEG} FILE: found results of 1 target, which the plan does not have: {id_of('new_llvm-cpu')}\n"
            f"{LEG} FILE: found results of 1 target, which the leg 'build' is to run: {compile_id('add')}",
        ),
        (
            {"records": [replace(FIRST, leg="build"), replace(SECOND, plan="feed"), THIRD]},
            f"{LEG} FILE: 2 results of another leg or plan than its session: {ADD}, {DOT}",
        ),
        (
            {"records": [*records_of(RUN), replace(FIRST, outcome=Outcome.XFAILED)]},
            f"{LEG} FILE: 1 target with several results of one attempt: {ADD}",
        ),
        (
            {
                "records": [
                    replace(FIRST, outcome=Outcome.FAILED),
                    replace(FIRST, outcome=Outcome.FLAKY, attempt=2),
                    *(SECOND, THIRD),
                ]
            },
            "",
        ),
        ({"records": [BROKEN, FIRST, SECOND, THIRD], "status": 1}, f"error: no (1 target): {ADD}"),
        ({"records": [FIRST, SECOND, THIRD, BROKEN], "status": 1}, f"error: no (1 target): {ADD}"),
        (
            {"records": changed(RUN, dict.fromkeys(RUN.ids, EXCUSED)), "status": 1},
            f"{LEG} FILE: pytest ended with status 1, but rules skip all of its targets (no bf16 (#12)): "
            "a leg that runs nothing fails",
        ),
        *(
            ({"status": status}, f"{LEG} FILE: pytest ended with status {status}{why}")
            for status, why in {
                1: ", although no target failed; see the log of the leg",
                2: ": it was interrupted, or a collection failed",
                3: ": an internal error",
                4: ": wrong usage, or invalid declarations",
                5: ": it collected no target",
                -9: ": a signal",
            }.items()
        ),
    ],
)
def test_what_is_wrong_with_a_session_is_an_error(tmp_path: Path, written: dict[str, Any], said: str) -> None:
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN, **written)
    assert "\n".join(verified(tmp_path).problems) == said.replace("FILE", file.name)


GONE = {"unavailable": True, "reason": "local-sync: no device"}
PROMISED = f"{LEG} 2 targets found no device or tool, which the runner 'linux' promises: local-sync: no device"
UNRULED = f'{LEG} 1 target skipped, and no rule with outcome = "skip" says so'
BLOCKED = {"outcome": Outcome.BLOCKED, "reason": "blocked: it was not compiled\x1b[31m"}
WRONG = {"outcome": Outcome.FAILED, "observation": Observation(stage="compare", signature="values differ")}
NO_RULE = {"outcome": Outcome.FAILED, "observation": Observation(stage="compile", signature="failed to legalize 'dot'")}


@pytest.mark.parametrize(
    ("run", "build", "lost", "failures"),
    [
        *(
            (dict.fromkeys((ADD, SUM), GONE | {"outcome": outcome}), {}, [f"{PROMISED}: {ADD}, {SUM}"], [])
            for outcome in (Outcome.SKIPPED, Outcome.ERROR)
        ),
        (
            {ADD: EXCUSED, DOT: {"outcome": Outcome.SKIPPED, "reason": "no"}, SUM: {"outcome": Outcome.SKIPPED}},
            {},
            [f"{UNRULED}: no: {DOT}", f"{UNRULED}: no reason was given: {SUM}"],
            [],
        ),
        (
            {ADD: {"outcome": Outcome.NOT_RUN, "reason": "the session ended"}, DOT: {"unselected_cases": ("a",)}},
            {},
            [
                f"{LEG} 1 target did not run: the session ended: {ADD}",
                f"{LEG} 1 target ran without some of their cases: a: {DOT}",
            ],
            [],
        ),
        (
            {DOT: BLOCKED},
            {compile_id("dot"): NO_RULE},
            [],
            [f"failed: compile: failed to legalize 'dot' (1 target, which block 1 run target): {compile_id('dot')}"],
        ),
        (
            {ADD: BLOCKED, DOT: {**BLOCKED, "blocked_by": id_of("gone_llvm-cpu")}},
            {},
            [
                f"{LEG} 1 target blocked by {compile_id('add')}, which has no failed result (passed): "
                f"blocked: it was not compiled: {ADD}",
                f"{LEG} 1 target blocked by {id_of('gone_llvm-cpu')}, which the plan does not have: "
                f"blocked: it was not compiled: {DOT}",
            ],
            [],
        ),
        (
            {one: {"outcome": Outcome.BLOCKED, "blocked_by": by} for one, by in {ADD: DOT, DOT: ADD, SUM: SUM}.items()},
            {},
            [f"{LEG} 1 target blocked by {one}, which they block: {one}" for one in (ADD, DOT, SUM)],
            [],
        ),
        *(
            (
                {ADD: {"outcome": outcome, "unavailable": True, "message": "no"}},
                {},
                [],
                [f"{outcome}: no (1 target): {ADD}"],
            )
            for outcome in (Outcome.FAILED, Outcome.XPASSED)
        ),
        (
            {ADD: {"outcome": Outcome.XPASSED, "message": "passed, expected to fail"}, DOT: WRONG, SUM: WRONG},
            {compile_id("add"): {"outcome": Outcome.ERROR, "message": f"<script>\x07{'x' * 10_000}\nmore"}},
            [],
            [
                f"failed: compare: values differ (2 targets): {DOT}, {SUM}",
                f"error: <script>?{'x' * 191}… (1 target): {compile_id('add')}",
                f"xpassed: passed, expected to fail (1 target): {ADD}",
            ],
        ),
        (
            {
                nodeid: {"outcome": Outcome.FAILED, "message": f"the artifact of {name} has other flags"}
                for nodeid, name in {ADD: "add_llvm-cpu", DOT: "dot_llvm-cpu"}.items()
            },
            {},
            [],
            [f"failed: the artifact of … has other flags (2 targets): {ADD}, {DOT}"],
        ),
    ],
)
def test_what_did_not_run_is_lost_and_failures_are_grouped_by_signature_the_largest_group_first(
    tmp_path: Path,
    run: dict[str, dict[str, Any]],
    build: dict[str, dict[str, Any]],
    lost: list[str],
    failures: list[str],
) -> None:
    """A skip is no success unless a rule asks for it, and a failure is one also where something was unavailable."""
    found = problems(tmp_path, run, build)
    assert ([*found.lost], [*found.failures]) == (lost, failures)


def test_a_leg_that_ran_with_other_flags_or_on_another_revision_is_found(tmp_path: Path) -> None:
    write_leg(tmp_path, BUILD)
    other, returned = CompileRecord(key="other flags"), CompileRecord(key="for a tool", returns_checks=True)
    write_leg(
        tmp_path, RUN, records=changed(RUN, {ADD: {"compile": other}, DOT: {"compile": returned}}), revision="beef+"
    )
    assert verified(tmp_path).lost == (
        "leg 'run-linux-1': 1 target ran other compiles than the build leg made (other flags…, not key of add…): "
        f"were flags or declarations others?: {ADD}",
        "found legs of 2 revisions, expected one: c0ffee: 'build'; beef+: 'run-linux-1'",
    )


def test_a_commit_with_changes_is_told_from_the_same_without(tmp_path: Path) -> None:
    commit = "c0ffee" * 6 + "c0ff"
    write_leg(tmp_path, BUILD, revision=commit)
    write_leg(tmp_path, RUN, revision=f"{commit}+")
    assert verified(tmp_path).lost == (
        "found legs of 2 revisions, expected one: c0ffeec0ffee: 'build'; c0ffeec0ffee+: 'run-linux-1'",
    )


def test_legs_of_another_commit_than_the_plan_s_are_found(tmp_path: Path) -> None:
    write_leg(tmp_path, BUILD, revision="beef+")
    write_leg(tmp_path, RUN, revision="beef+")
    sessions = Sessions.read([tmp_path])
    found = verify_results(replace(PLAN, revision="beef"), sessions)
    assert found.problems == ()
    assert found.notes == ("2 legs ran in a checkout with edits, which the plan's had not: build, run-linux-1",)
    assert verify_results(replace(PLAN, revision="beef+"), sessions).notes == ()
    assert verify_results(replace(PLAN, revision="c0ffee"), sessions).lost == (
        "found legs of another revision than the plan's, c0ffee: beef+: 'build', 'run-linux-1'; "
        "plan and run one commit",
    )


def test_a_leg_without_a_commit_and_configs_of_several_versions_are_named(tmp_path: Path) -> None:
    def built(leg: Leg, version: str) -> list[TargetRecord]:
        return [
            replace(one, compile=CompileRecord(key="", build=f"iree {version} (build 1)")) for one in records_of(leg)
        ]

    write_leg(tmp_path, BUILD, records=built(BUILD, "3.12"))
    write_leg(tmp_path, RUN, records=built(RUN, "3.13"), revision="")
    found = verified(tmp_path)
    assert found.problems == ()
    assert found.notes == (
        "1 leg found no git commit: run-linux-1",
        "config 'llvm-cpu' was of 2 versions of iree: 3.12 in 'build', 3.13 in 'run-linux-1'",
    )


BREAKAGES: dict[str, Callable[[TargetRecord], Sequence[TargetRecord]]] = {
    "lost": lambda record: [],
    "renamed": lambda record: [replace(record, nodeid=f"{record.nodeid}2")],
    "failed": lambda record: [replace(record, outcome=Outcome.FAILED)],
    "in error": lambda record: [replace(record, outcome=Outcome.ERROR)],
    "passed unexpectedly": lambda record: [replace(record, outcome=Outcome.XPASSED)],
    "skipped": lambda record: [replace(record, outcome=Outcome.SKIPPED)],
    "not run": lambda record: [replace(record, outcome=Outcome.NOT_RUN)],
    "run in part": lambda record: [
        replace(record, cases=(CaseRecord(name="a", outcome=Outcome.NOT_RUN, excused=False),))
    ],
    "blocked": lambda record: [replace(record, outcome=Outcome.BLOCKED, blocked_by="x")],
    "of another plan": lambda record: [replace(record, plan="x")],
    "of another leg": lambda record: [replace(record, leg="x")],
    "twice": lambda record: [record, replace(record, outcome=Outcome.XFAILED)],
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_no_single_broken_result_goes_unnoticed(tmp_path: Path, breakage: str) -> None:
    for broken in (*BUILD.ids, *RUN.ids):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for leg in (BUILD, RUN):
            records = [
                one
                for record in records_of(leg)
                for one in (BREAKAGES[breakage](record) if record.nodeid == broken else [record])
            ]
            write_leg(folder, leg, records=records)
        assert verified(folder).problems, broken
