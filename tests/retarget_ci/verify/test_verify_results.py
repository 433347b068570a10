"""`retarget ci verify --results DIR`: what is lost between a plan and its results."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from planned_results import BUILD, PLAN, RUN, compile_id, id_of, records_of, write_leg
from retarget.model.outcomes import Observation
from retarget.results.files import read_results
from retarget.results.plan import Leg
from retarget.results.record import CaseRecord, CompileRecord, Outcome, TargetRecord
from retarget.support.errors import RetargetError
from retarget_ci.verify.results import Verified, verify_results

FAILURES = {Outcome.FAILED, Outcome.ERROR, Outcome.XPASSED}
ADD, DOT, SUM = (id_of(f"{module}_llvm-cpu_local-sync") for module in ("add", "dot", "sum"))


def verified(folder: Path) -> Verified:
    return verify_results(PLAN, read_results([folder]))


def changed(leg: Leg, changes: dict[str, dict[str, Any]]) -> list[TargetRecord]:
    return [replace(record, **changes.get(record.nodeid, {})) for record in records_of(leg)]


def problems(folder: Path, run: dict[str, dict[str, Any]], build: dict[str, dict[str, Any]] | None = None) -> Verified:
    """What is said where the legs' records differ so from those of targets that passed."""
    write_leg(folder, BUILD, records=changed(BUILD, build or {}))
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


def test_a_leg_that_ran_twice_is_an_error_that_names_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
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


def test_a_killed_leg_says_how_far_it_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN, records=records_of(RUN)[:1], status=None)
    assert verified(tmp_path).lost == (
        f"leg 'run-linux-1': {file.name}: the session was killed: it has no end, and results of 1 of 3 targets; "
        f"2 targets without a result: {DOT}, {SUM}",
    )


def test_a_lost_line_is_found_although_the_session_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN)
    lines = file.read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines) - 1):
        file.write_bytes(b"".join([*lines[:number], *lines[number + 1 :]]))
        assert verified(tmp_path).lost == (
            f"leg 'run-linux-1': {file.name}: lines of it are lost: found 2 results, its end counts 3",
            f"leg 'run-linux-1': {file.name}: 1 target without a result: {(ADD, DOT, SUM)[number - 1]}",
        )


def test_results_of_another_plan_are_an_error_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN, plan="0123456789abcdef")
    assert verified(tmp_path).lost == (
        f"leg 'run-linux-1': {file.name} answers to the plan 0123456789ab…, expected {PLAN.digest[:12]}…; "
        "plan once, and run each leg with that plan",
    )


def test_a_session_that_selected_other_targets_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN, digest="feed" * 16)
    assert verified(tmp_path).lost == (
        f"leg 'run-linux-1': {file.name}: its session selected 3 targets of the digest feedfeedfeed…, "
        f"planned are 3 of {RUN.digest[:12]}…; were declarations or options others?",
    )


def test_a_session_without_a_plan_and_one_of_an_unknown_leg_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
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


def test_targets_of_another_leg_and_of_none_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    more = [*records_of(RUN), records_of(BUILD)[0], replace(records_of(RUN)[0], nodeid=id_of("new_llvm-cpu"))]
    file = write_leg(tmp_path, RUN, records=more)
    where = f"leg 'run-linux-1': {file.name}"
    assert verified(tmp_path).lost == (
        f"{where}: found results of 1 target, which the plan does not have: {id_of('new_llvm-cpu')}",
        f"{where}: found results of 1 target, which the leg 'build' is to run: {compile_id('add')}",
    )


def test_records_that_name_another_leg_or_plan_than_their_session_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN, records=changed(RUN, {ADD: {"leg": "build"}, DOT: {"plan": "feed"}}))
    assert verified(tmp_path).lost == (
        f"leg 'run-linux-1': {file.name}: 2 results of another leg or plan than its session: {ADD}, {DOT}",
    )


def test_several_results_of_one_attempt_are_an_error_and_attempts_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    first = records_of(RUN)[0]
    again = [replace(first, outcome=Outcome.FAILED), replace(first, outcome=Outcome.FLAKY, attempt=2)]
    file = write_leg(tmp_path, RUN, records=[*again, *records_of(RUN)[1:]])
    assert verified(tmp_path).problems == ()
    file.unlink()
    file = write_leg(tmp_path, RUN, records=[*records_of(RUN), replace(first, outcome=Outcome.XFAILED)])
    assert verified(tmp_path).lost == (
        f"leg 'run-linux-1': {file.name}: 1 target with several results of one attempt: {ADD}",
    )


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.ERROR], ids=["skipped", "required"])
def test_a_target_without_its_device_breaks_the_promise_of_its_runner(tmp_path: Path, outcome: Outcome) -> None:
    gone = {"outcome": outcome, "unavailable": True, "reason": "local-sync: no device"}
    assert problems(tmp_path, {ADD: gone, SUM: gone}).problems == (
        "leg 'run-linux-1': 2 targets found no device or tool, which the runner 'linux' promises: "
        f"local-sync: no device: {ADD}, {SUM}",
    )


def test_a_skip_is_no_success_unless_a_rule_asks_for_it(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        {
            ADD: {"outcome": Outcome.SKIPPED, "excused": True, "reason": "too large"},
            DOT: {"outcome": Outcome.SKIPPED, "reason": "not today"},
            SUM: {"outcome": Outcome.SKIPPED},
        },
    )
    said = '1 target skipped, and no rule with outcome = "skip" says so'
    assert found.lost == (
        f"leg 'run-linux-1': {said}: not today: {DOT}",
        f"leg 'run-linux-1': {said}: no reason was given: {SUM}",
    )


def test_a_target_that_did_not_run_or_not_all_of_its_cases_is_an_error(tmp_path: Path) -> None:
    found = problems(
        tmp_path, {ADD: {"outcome": Outcome.NOT_RUN, "reason": "the session ended"}, DOT: {"unselected_cases": ("a",)}}
    )
    assert found.lost == (
        f"leg 'run-linux-1': 1 target did not run: the session ended: {ADD}",
        f"leg 'run-linux-1': 1 target ran without some of their cases: a: {DOT}",
    )


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (1, "1, but no target failed; see the log of the leg"),
        (2, "2: it was interrupted, or a collection failed"),
        (3, "3: an internal error"),
        (4, "4: wrong usage, or invalid declarations"),
        (5, "5: it collected no target"),
        (-9, "-9: a signal"),
    ],
)
def test_a_session_that_did_not_end_well_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    file = write_leg(tmp_path, RUN, status=status)
    assert verified(tmp_path).lost == (f"leg 'run-linux-1': {file.name}: pytest ended with status {why}",)


def test_a_leg_of_which_rules_skip_everything_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_leg(tmp_path, BUILD)
    skipped = {one: {"outcome": Outcome.SKIPPED, "excused": True, "reason": "no bf16 (#12)"} for one in RUN.ids}
    file = write_leg(tmp_path, RUN, records=changed(RUN, skipped), status=1)
    assert verified(tmp_path).problems == (
        f"leg 'run-linux-1': {file.name}: pytest ended with status 1, but rules skip all of its targets "
        "(no bf16 (#12)): a leg that runs nothing fails",
    )


def test_a_failed_compile_counts_once_with_the_run_targets_that_it_blocks(tmp_path: Path) -> None:
    observation = Observation(stage="compile", signature="failed to legalize operation 'linalg.dot'")
    build = {compile_id("dot"): {"outcome": Outcome.FAILED, "observation": observation}}
    found = problems(tmp_path, {DOT: {"outcome": Outcome.BLOCKED, "reason": "blocked"}}, build)
    assert found.failures == (
        "failed: compile: failed to legalize operation 'linalg.dot' (1 target, which block 1 run target): "
        f"{compile_id('dot')}",
    )
    assert found.lost == ()


def test_a_blocked_target_whose_compile_did_not_fail_is_an_error(tmp_path: Path) -> None:
    blocked = {"outcome": Outcome.BLOCKED, "reason": "blocked: it was not compiled\x1b[31m"}
    found = problems(tmp_path, {ADD: blocked, DOT: {**blocked, "blocked_by": id_of("gone_llvm-cpu")}})
    assert found.lost == (
        f"leg 'run-linux-1': 1 target blocked by {compile_id('add')}, which has no failed result (passed): "
        f"blocked: it was not compiled: {ADD}",
        f"leg 'run-linux-1': 1 target blocked by {id_of('gone_llvm-cpu')}, which the plan does not have: "
        f"blocked: it was not compiled: {DOT}",
    )


def test_targets_that_block_each_other_are_an_error(tmp_path: Path) -> None:
    blocked = {one: {"outcome": Outcome.BLOCKED, "blocked_by": by} for one, by in ((ADD, DOT), (DOT, ADD), (SUM, SUM))}
    assert problems(tmp_path, blocked).lost == (
        f"leg 'run-linux-1': 1 target blocked by {ADD}, which they block: {ADD}",
        f"leg 'run-linux-1': 1 target blocked by {DOT}, which they block: {DOT}",
        f"leg 'run-linux-1': 1 target blocked by {SUM}, which they block: {SUM}",
    )


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.XPASSED])
def test_a_failure_is_one_also_where_something_was_unavailable(tmp_path: Path, outcome: Outcome) -> None:
    found = problems(tmp_path, {ADD: {"outcome": outcome, "unavailable": True, "message": "no"}})
    assert found.problems == (f"{outcome}: no (1 target): {ADD}",)


def test_an_error_is_the_result_in_whatever_order_lines_are_read(tmp_path: Path) -> None:
    add, dot, end = records_of(RUN)
    write_leg(tmp_path, BUILD)
    write_leg(tmp_path, RUN, records=[replace(add, outcome=Outcome.ERROR, message="no"), add, dot, end], status=1)
    assert verified(tmp_path).problems == (f"error: no (1 target): {ADD}",)


def test_failures_are_grouped_by_signature_the_largest_group_first(tmp_path: Path) -> None:
    wrong = Observation(stage="compare", signature="values differ")
    found = problems(
        tmp_path,
        {
            ADD: {"outcome": Outcome.XPASSED, "message": "passed, expected to fail"},
            DOT: {"outcome": Outcome.FAILED, "observation": wrong},
            SUM: {"outcome": Outcome.FAILED, "observation": wrong},
        },
        {compile_id("add"): {"outcome": Outcome.ERROR, "message": f"<script>\x07{'x' * 10_000}\nmore"}},
    )
    assert found.failures == (
        f"failed: compare: values differ (2 targets): {DOT}, {SUM}",
        f"error: <script>?{'x' * 191}… (1 target): {compile_id('add')}",
        f"xpassed: passed, expected to fail (1 target): {ADD}",
    )
    assert found.lost == ()


def test_an_error_after_the_result_is_the_result(tmp_path: Path) -> None:
    write_leg(tmp_path, BUILD)
    first = records_of(RUN)[0]
    broken = replace(first, outcome=Outcome.ERROR, message="the rig is off")
    write_leg(tmp_path, RUN, records=[*records_of(RUN), broken], status=1)
    assert verified(tmp_path).problems == (f"error: the rig is off (1 target): {ADD}",)


def test_failures_that_differ_in_the_name_of_their_target_alone_are_one_group(tmp_path: Path) -> None:
    run = {
        nodeid: {"outcome": Outcome.FAILED, "message": f"the artifact of {name} has other flags"}
        for nodeid, name in ((ADD, "add_llvm-cpu"), (DOT, "dot_llvm-cpu"))
    }
    assert problems(tmp_path, run).problems == (f"failed: the artifact of … has other flags (2 targets): {ADD}, {DOT}",)


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
    sessions = read_results([tmp_path])
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
