"""Results and plans → the states of targets."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from report_results import failed, node_id, record, some_records, write_leg_plan, write_results
from retarget.results import Attribution, Outcome
from retarget_report.read import State, read_report, state_of


def states(*results: Path, plans: tuple[Path, ...] = ()) -> dict[str, State]:
    return {target.id: target.state for target in read_report(results, plans).targets}


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_a_state(outcome: Outcome) -> None:
    assert state_of(record("add", outcome=outcome)) in State


def test_codes_glyphs_and_labels_are_each_used_once() -> None:
    for name in ("code", "glyph", "label", "meaning"):
        used = [getattr(state, name) for state in State]
        assert sorted(used) == sorted(set(used))


def test_a_skip_for_want_of_a_device_is_told_from_other_skips() -> None:
    assert state_of(record("add", outcome=Outcome.SKIPPED)) is State.SKIPPED
    assert state_of(record("add", outcome=Outcome.SKIPPED, unavailable=True)) is State.UNAVAILABLE


def test_targets_are_in_the_order_of_their_declarations(tmp_path: Path) -> None:
    records = some_records()
    write_results(tmp_path, records[::-1])
    assert [target.id for target in read_report([tmp_path]).targets] == list(
        dict.fromkeys(one.nodeid for one in records)
    )


def test_the_newest_session_counts_and_the_others_are_counted(tmp_path: Path) -> None:
    write_results(tmp_path, [failed("add")])
    write_results(tmp_path, [record("add")])
    (target,) = read_report([tmp_path]).targets
    assert (target.state, target.sessions, target.signature) == (State.OK, 2, "")


def test_what_others_suggest_is_of_the_session_that_counts(tmp_path: Path) -> None:
    write_results(tmp_path / "new", [failed("add", signature="SIGSEGV")], started=2.0)
    own = [failed("add"), failed("conv")]
    session = write_results(tmp_path / "old", own, started=1.0)
    with next((tmp_path / "old").iterdir()).open("ab") as file:
        for one in own:
            said = Attribution(session=session.session, nodeid=one.nodeid, sentence="it", section="")
            file.write(msgspec.json.encode(said) + b"\n")
    assert {*read_report([tmp_path / "old"]).attributions} == {node_id("add_llvm-cpu"), node_id("conv_llvm-cpu")}
    assert {*read_report([tmp_path]).attributions} == {node_id("conv_llvm-cpu")}


def test_the_last_attempt_is_the_result(tmp_path: Path) -> None:
    write_results(tmp_path, [record("add", attempt=2, outcome=Outcome.FLAKY), failed("add")])
    (target,) = read_report([tmp_path]).targets
    assert [one.attempt for one in target.attempts] == [1, 2]
    assert target.state is State.FLAKY


def test_a_plan_names_what_is_missing_and_what_is_waived(tmp_path: Path) -> None:
    ran, missing, waived = node_id("add_llvm-cpu"), node_id("a_b_llvm-cpu_lavapipe"), node_id("add_cuda_cuda")
    plan = write_leg_plan(tmp_path / "plan.json", [missing], [waived], build=[ran, node_id("add_cuda")])
    found_by = record("add", plan=plan.digest), record("add", runtime="local-sync"), record("sub")
    write_results(tmp_path / "results", found_by)
    report = read_report([tmp_path / "results"], [tmp_path / "plan.json"])
    found = {target.id: target for target in report.targets}
    assert {one: target.state for one, target in found.items()} == {
        ran: State.OK,
        node_id("add_llvm-cpu_local-sync"): State.OK,
        node_id("sub_llvm-cpu"): State.OK,
        missing: State.MISSING,
        waived: State.WAIVED,
        node_id("add_cuda"): State.MISSING,
    }
    assert report.outside == 2
    one = found[missing]
    assert (one.module, one.compiler, one.runtime, one.leg) == ("a_b", "llvm-cpu", "lavapipe", "run-1")
    assert (found[node_id("add_cuda")].compiler, found[node_id("add_cuda")].runtime) == ("cuda", "")
    assert (found[waived].compiler, found[waived].runtime) == ("cuda", "cuda")
    assert found[waived].waiver == "no such machine yet · https://example.org/7"


def test_of_a_plan_without_any_results_all_is_missing(tmp_path: Path) -> None:
    write_leg_plan(tmp_path / "plan.json", [node_id("add_llvm-cpu")])
    assert states(tmp_path / "none", plans=(tmp_path / "plan.json",)) == {node_id("add_llvm-cpu"): State.MISSING}


def test_the_targets_of_a_leg_without_results_are_named_as_their_compile_targets_are(tmp_path: Path) -> None:
    write_leg_plan(tmp_path / "plan.json", [node_id("a_b_vmvx"), node_id("a_b_vmvx_local-sync")], [])
    report = read_report([tmp_path / "none"], [tmp_path / "plan.json"])
    assert [(one.module, one.compiler, one.runtime) for one in report.targets] == [
        ("a_b", "vmvx", ""),
        ("a_b", "vmvx", "local-sync"),
    ]


def test_a_target_whose_declaration_could_not_be_read_is_named_by_its_id(tmp_path: Path) -> None:
    lost = {"module": "", "compiler": "", "runtime": "", "outcome": Outcome.NOT_RUN}
    write_results(tmp_path, [record("add"), replace(record("a_b", runtime="local-sync"), **lost)])
    target = next(target for target in read_report([tmp_path]).targets if target.module == "a_b")
    assert (target.compiler, target.runtime, target.state) == ("llvm-cpu", "local-sync", State.NOT_RUN)
