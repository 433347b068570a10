from __future__ import annotations

from pathlib import Path

import pytest
from page_targets import nodeid_of, record, session
from report_results import write_results
from retarget.cli import main
from retarget.results import History, Outcome, TargetRecord
from retarget.results.history import add_run, pack, unpack
from retarget.results.record import DeviceRecord
from retarget_report.read import Report
from retarget_report.views.history import Past, data, past


def run_of(number: int, *records: TargetRecord) -> bytes:
    return pack([session(*records, session=f"session{number}", started=1000.0 * (number + 1))])[1]


def history_of(*runs: tuple[TargetRecord, ...]) -> History:
    return unpack([(f"{number}", "", run_of(number, *records)) for number, records in enumerate(runs)])


def texts(found: Past, target: int) -> list[str]:
    return [found.states[cell].text for cell in found.patterns[found.of[target]].cells]


def test_targets_that_were_alike_in_every_run_share_a_pattern() -> None:
    passed, failed = (
        [record(name, Outcome.PASSED) for name in ("a_c", "b_c", "d_c")],
        record("d_c", stage="compile", signature="s"),
    )
    found = past(
        history_of(tuple(passed), (*passed[:2], failed)), [nodeid_of(name) for name in ("a_c", "b_c", "d_c", "new_c")]
    )
    assert found.of == [0, 0, 1, -1]
    assert texts(found, 0) == ["passed", "passed"]
    assert texts(found, 2) == ["passed", "failed at compile: s"]
    assert (found.patterns[1].since, found.patterns[1].regressions) == (1, [(1, -1)])


def test_a_target_that_only_earlier_runs_have_is_gone() -> None:
    found = past(
        history_of((record("a_c", Outcome.PASSED), record("old_c", Outcome.PASSED)), (record("a_c", Outcome.PASSED),)),
        [nodeid_of("a_c")],
    )
    assert [
        (name, [found.states[cell].text for cell in found.patterns[pattern].cells]) for name, pattern in found.gone
    ] == [(nodeid_of("old_c"), ["passed", "no result"])]


def test_what_changed_otherwise_is_told_by_the_sorts_and_the_settled_states() -> None:
    found = past(
        history_of(
            (record("a_c", Outcome.PASSED),), (record("a_c", Outcome.FLAKY),), (record("a_c", Outcome.NOT_RUN),)
        ),
        [],
    )
    by_text = {kind.text: kind for kind in found.states}
    assert by_text["flaky"].settled == by_text["passed"].settled
    assert (by_text["flaky"].sort, by_text["not run"].sort, by_text["no result"].sort) == ("good", "killed", "absent")
    assert found.changes == {
        "good": {"good": "changed otherwise", "bad": "newly broken", "none": "no longer run", "absent": "gone"},
        "bad": {"good": "changed otherwise", "bad": "changed otherwise", "none": "no longer run", "absent": "gone"},
        "none": {"good": "changed otherwise", "bad": "newly broken", "none": "changed otherwise", "absent": "gone"},
        "absent": {"good": "new", "bad": "new", "none": "new", "absent": ""},
    }


def test_a_pass_on_another_device_leaves_the_regression_open() -> None:
    a, b = (DeviceRecord(driver="d", uri="d://", name=name, physical_id="p") for name in "AB")
    bad, good = record("a_c_r", stage="run", signature="s", devices=(a,)), record("a_c_r", Outcome.PASSED, devices=(b,))
    found = past(history_of((bad,), (good,)), [nodeid_of("a_c_r")])
    assert found.patterns[0].regressions == [(0, -1)]


def test_the_results_of_the_page_are_the_last_run_and_later_ones_are_left_out(tmp_path: Path) -> None:
    for number in (0, 2):
        add_run(
            [session(record("a_c", Outcome.PASSED), session=f"s{number}", started=1000.0 * (number + 1))], str(tmp_path)
        )
    shown = session(record("a_c", stage="run", signature="aborted"), session="s1", started=2000.0)
    assert [run.started for run in History.read(str(tmp_path), now=[shown]).runs] == [1000.0, 2000.0]


def test_results_that_are_in_the_history_are_not_counted_twice(tmp_path: Path) -> None:
    shown = session(record("a_c", Outcome.PASSED), started=2000.0)
    add_run([shown], str(tmp_path))
    assert len(History.read(str(tmp_path), now=[shown]).runs) == 1


def test_without_a_history_the_page_has_no_runs() -> None:
    [(name, found)] = data(Report(title="", sessions=(session(record("a_c", Outcome.PASSED)),), targets=()))
    assert (name, found.runs, found.patterns) == ("history", (), [])


def test_a_history_that_is_not_there_is_told_before_a_page_is_touched(
    cwd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_results(cwd / "results", [])
    assert main(["report", "results", "--history", "none", "-o", "site"]) == 1
    assert capsys.readouterr().err == (
        "none: found no history, expected files '*.history.json.gz'; "
        "`retarget history add RESULTS --to none` writes one\n"
    )
    assert not (cwd / "site").exists()
