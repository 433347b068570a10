"""The files of the page: data as scripts, the matrix in few bytes, and the command that writes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from report_results import failed, node_id, record, some_records, write_leg_plan, write_results
from retarget.cli import main
from retarget.results import Outcome
from retarget.support import RetargetError
from retarget_report.command import VIEWS, as_script, write_site
from retarget_report.read import Report, read_report
from retarget_report.views import matrix


def test_data_are_a_script_that_no_text_can_end() -> None:
    text = "</script><!-- \u2028 \u2029 \x00 \\u003c"
    script = as_script("name", [text]).decode()
    assert script.startswith('Retarget.data("name", [')
    assert not {"<", "\u2028", "\u2029", "\x00"} & set(script)
    assert json.loads(script.removeprefix('Retarget.data("name", ').removesuffix(");\n")) == [text]


def test_each_view_yields_the_data_of_its_name() -> None:
    empty = Report(title="", sessions=(), targets=())
    first = {name: next(iter(view(empty)))[0] for name, view in VIEWS.items()}
    assert first == {name: name for name in VIEWS}


def test_what_is_known_of_targets_is_split_into_files_by_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "_SHARD", 600)
    write_results(tmp_path, some_records())
    files = dict(matrix.data(read_report([tmp_path])))
    linalg, tensor = files["matrix"]["suites"]
    assert linalg["shards"] == [[0, "cells-1"], [1, "cells-2"], [2, "cells-3"]]
    assert tensor["shards"] == [[0, "cells-4"]]
    cells = msgspec.json.decode(msgspec.json.encode(files["cells-2"]))["cells"]
    assert [cells[cell]["id"].rpartition("::")[2] for cell in ("4", "5", "6", "7")] == [
        "matmul_llvm-cpu",
        "matmul_llvm-cpu_local-sync",
        "matmul_vulkan-spirv",
        "matmul_vulkan-spirv_lavapipe",
    ]


def test_expressions_know_a_target_by_its_tags_and_marks_and_a_column_without_results_by_its_configs(
    tmp_path: Path,
) -> None:
    known = record("add", runtime="local-sync")
    write_results(tmp_path / "results", [known])
    write_leg_plan(tmp_path / "plan.json", run=[known.nodeid, node_id("add_llvm-cpu")])
    whole = dict(matrix.data(read_report([tmp_path / "results"], [tmp_path / "plan.json"])))["matrix"]
    (suite,) = whole["suites"]

    def words(number: int) -> set[object]:
        return {whole["words"][word] for word in whole["wordsets"][number]}

    without, with_results = suite["columns"]
    assert with_results[:2] == ["llvm-cpu", "local-sync"]
    assert words(with_results[2]) == {*known.tags, *known.marks}
    assert without[:2] == ["llvm-cpu", ""]
    assert words(without[2]) == {"llvm-cpu", "compile", ("compiler", (("name", "llvm-cpu"),))}


def test_stages_signatures_and_attempts_are_by_cell(tmp_path: Path) -> None:
    records = [
        failed("a", stage="compile", signature="no op"),
        record("b", position=1),
        failed("b", "vmvx", "sync", position=2, attempt=2, tags=("run", "linalg", "vmvx", "sync", "local-sync", "own")),
        record("c", "vmvx", "sync", position=3, attempt=3),
        failed("d", "vmvx", "sync", stage="crash", signature="", position=4),
        failed("e", stage="compile", signature="no op", position=5),
    ]
    write_results(tmp_path, records)
    whole = dict(matrix.data(read_report([tmp_path])))["matrix"]
    (suite,) = whole["suites"]
    assert suite["cells"] == "f pf p ff "
    assert (suite["stages"], whole["stages"]) == ("1  2   31 ", ["compile", "compare", "crash"])
    assert (suite["signed"], whole["signatures"]) == ([0, 0, 3, 1, 5, 0], ["no op", "values differ"])
    assert suite["tries"] == [3, 0, 2, 5, 1, 3]
    cell, words = suite["own"]
    assert (cell, [whole["words"][word] for word in whole["wordsets"][words]]) == (3, ["own"])


def test_the_command_needs_a_folder_to_write_to(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", "results"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("error: the following arguments are required: -o\n")


def test_long_texts_are_cut_in_their_middle(tmp_path: Path) -> None:
    write_results(tmp_path, [failed("add", text="a" * 500_000 + "z" * 500_000, signature="s" * 1000)])
    files = dict(matrix.data(read_report([tmp_path])))
    (shown,) = msgspec.json.decode(msgspec.json.encode(files["cells-1"]))["cells"]["0"]["attempts"]
    assert shown["text"] == f"{'a' * 36864} … 950,848 characters are left out … {'z' * 12288}"
    assert files["matrix"]["signatures"] == [f"{'s' * 225} … 700 characters are left out … {'s' * 75}"]


def test_a_page_whose_writer_was_killed_is_written_again_and_a_folder_named_data_is_left_alone(tmp_path: Path) -> None:
    write_results(tmp_path / "results", [record("add")])
    report = read_report([tmp_path / "results"])
    write_site(report, tmp_path / "site").unlink()
    assert write_site(report, tmp_path / "site").is_file()
    (tmp_path / "own" / "data").mkdir(parents=True)
    with pytest.raises(RetargetError, match="found something that is no page"):
        write_site(report, tmp_path / "own")


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    write_results(tmp_path / "results", [record("add")])
    report = read_report([tmp_path / "results"])
    with pytest.raises(RetargetError, match="found something that is no page, expected a new or empty folder"):
        write_site(report, tmp_path / "results")
    (tmp_path / "index.html").write_text("<p>mine</p>")
    with pytest.raises(RetargetError, match="choose another folder with -o"):
        write_site(report, tmp_path)
    with pytest.raises(RetargetError, match=r"^cannot write the page to .*/index.html/page: Not a directory$"):
        write_site(report, tmp_path / "index.html" / "page")
    assert (tmp_path / "index.html").read_text() == "<p>mine</p>"


def test_an_older_page_is_replaced(tmp_path: Path) -> None:
    write_results(tmp_path / "results", some_records())
    site = tmp_path / "site"
    write_site(read_report([tmp_path / "results"]), site)
    (site / "data" / "cells-77.js").write_text("old")
    write_site(read_report([tmp_path / "results"]), site)
    assert not (site / "data" / "cells-77.js").exists()


def test_the_command_prints_the_address_of_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(tmp_path / "results", some_records())
    assert main(["report", str(tmp_path / "results"), "-o", str(tmp_path / "site"), "--title", "Nightly <1>"]) == 0
    assert capsys.readouterr().out == f"{(tmp_path / 'site' / 'index.html').as_uri()}\n"
    assert "<h1>Nightly &lt;1&gt;</h1>" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_results_that_are_not_there_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results").mkdir()
    assert main(["report", str(tmp_path / "results"), "-o", str(tmp_path / "site")]) != 0
    assert "found no results (*.jsonl) in this folder" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_the_command_line_imports_no_template_engine_before_it_writes_a_page() -> None:
    code = "import sys, retarget_report.extension, retarget_report.command; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_many_incomplete_sessions_are_counted_and_three_are_told(tmp_path: Path) -> None:
    for number in range(5):
        write_results(tmp_path / "results", [record(f"m{number}")], status=None, leg=f"leg-{number}")
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert index.count("<strong>Incomplete:</strong>") == 3
    assert "2 more sessions are incomplete: all are listed below." in index
    assert index.count('<tr class="bad">') == 5


@pytest.mark.parametrize(("status", "alarms"), [(0, 0), (1, 1)])
def test_a_session_that_failed_although_no_target_did_is_an_alarm(tmp_path: Path, status: int, alarms: int) -> None:
    write_results(tmp_path / "results", [record("m", outcome=Outcome.PASSED)], status=status, leg="gpu")
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert index.count("<strong>Failed:</strong> the session gpu, started") == alarms
    assert index.count(": it ended with pytest&#39;s exit status 1, although no target failed.") == alarms
    assert index.count('<tr class="bad">') == alarms


@pytest.mark.parametrize(
    ("seconds", "text"), [(-1, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (7500, "2 h 05 min")]
)
def test_the_page_counts_verdicts_and_says_how_long_a_session_took(tmp_path: Path, seconds: float, text: str) -> None:
    write_results(tmp_path / "results", some_records(), started=1_760_000_000.0, leg="run-1", revision="abc")
    report = read_report([tmp_path / "results"])
    (session,) = report.sessions
    assert session.end is not None
    end = msgspec.structs.replace(session.end, ended=1_760_000_000.0 + seconds)
    report = replace(report, sessions=(replace(session, end=end),))
    index = write_site(report, tmp_path / "site").read_text(encoding="utf-8")
    facts = index[index.index("<summary>") : index.index("</summary>")]
    assert "<strong>14</strong> targets, <strong>83.3 %</strong> of the 12 with a verdict as expected, 2" in facts
    assert "· 1 session " in facts
    row = index[index.index("<tbody>") : index.index("</tbody>")]
    cells = ["<td>2025-10-09 08:53:20 UTC</td>", f"<td>{text}</td>", "<td>14 of 14</td>", "<td>exit status 1</td>"]
    assert [cell for cell in cells if cell not in row] == []
    assert 'role="alert"' not in index


def test_blocked_targets_that_no_failure_explains_are_an_alarm_and_count_as_bad(tmp_path: Path) -> None:
    blocked = {"outcome": Outcome.BLOCKED, "stage": "", "runtime": "local-sync"}
    ways = {"add": {"blocked_by": node_id("add_llvm-cpu")}, "sub": {"blocked_by": node_id("gone_llvm-cpu")}, "mul": {}}
    records = [record(name, **blocked, **by) for name, by in ways.items()]
    fine = record("add", outcome=Outcome.PASSED)
    write_results(tmp_path / "results", [fine, failed("mul", stage="compile"), *records], status=1)
    write_site(report := read_report([tmp_path / "results"]), tmp_path / "site")
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    named = f"{node_id('add_llvm-cpu_local-sync')}, {node_id('sub_llvm-cpu_local-sync')}"
    why = "are blocked by targets that are not among the results, or did not fail there"
    assert f"<strong>Blocked:</strong> 2 of 5 targets {why}: {named}.</p>" in index
    assert "<strong>25 %</strong> of the 4 with a verdict as expected, 1 without one" in index
    assert [str(one.state) for one in report.targets if one.runtime] == ["unexplained", "unexplained", "blocked"]
    plan = write_leg_plan(tmp_path / "plan.json", run=[node_id("gone_llvm-cpu"), *(one.nodeid for one in records)])
    write_results(tmp_path / "planned", [replace(records[1], plan=plan.digest)], status=1)
    write_site(read_report([tmp_path / "planned"], [tmp_path / "plan.json"]), tmp_path / "site")
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert ("Missing:</strong> 3 of 4" in index, "Blocked:" in index) == (True, False)


def test_planned_targets_without_a_result_are_an_alarm_and_unplanned_ones_a_warning(tmp_path: Path) -> None:
    planned = [node_id(f"{name}_llvm-cpu") for name in ("add", "mul", "div")]
    plan = write_leg_plan(tmp_path / "plan.json", run=planned)
    write_results(tmp_path / "results", [record("add", plan=plan.digest), record("sub"), record("div", plan="0" * 64)])
    report = read_report([tmp_path / "results"], [tmp_path / "plan.json"])
    index = write_site(report, tmp_path / "site").read_text(encoding="utf-8")
    assert "<strong>Missing:</strong> 1 of 4 targets are planned, but have no result." in index
    assert "2 of 4 targets have a result of none of the plans." in index
