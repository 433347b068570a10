"""The view of benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from page_targets import record
from report_results import write_results
from retarget.results import CaseRecord, Outcome, Sessions, TargetRecord
from retarget.results.history import add_run
from retarget.results.record import TimesRecord
from retarget_report.command import write_site
from retarget_report.read import Report, read_report
from retarget_report.views.history import rows

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]
NOW, DAY = 1_760_000_000.0, 86_400.0


def timed(name: str, seconds: float) -> TargetRecord:
    times = TimesRecord(first=0.01, median=seconds, spread=0.01, calls=10, samples=(seconds, seconds))
    return record(name, Outcome.PASSED, cases=(CaseRecord(name="f", outcome=Outcome.PASSED, times=times),))


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """A run with benchmarks, and one before it with other times."""
    write_results(tmp_path / "before", [timed("a_c_r", 0.001), timed("b_c_r", 0.004)], started=NOW - DAY)
    add_run(Sessions.read([tmp_path / "before"]), str(tmp_path / "history"))
    write_results(tmp_path / "now", [timed("a_c_r", 0.002), timed("b_c_r", 0.0041), timed("d_c_r", 3.0)], started=NOW)
    return read_report([tmp_path / "now"], history=str(tmp_path / "history"))


def test_each_metric_of_a_target_is_a_row_with_its_past(report: Report) -> None:
    found = [(one.target, one.metric, one.quantity, one.now, tuple(one.past)) for one in rows(report)]
    assert [one for one in found if one[1] == "latency"] == [
        (0, "latency", "time", 0.002, (0.001, 0.002)),
        (1, "latency", "time", 0.0041, (0.004, 0.0041)),
        (2, "latency", "time", 3.0, (None, 3.0)),
    ]


@pytest.mark.slow
def test_the_view_has_the_largest_changes_and_the_slowest(report: Report, tmp_path: Path, show: Open) -> None:
    write_site(report, tmp_path / "site")
    page = show(tmp_path / "site", "#benchmarks")
    tables = [
        [row.locator("th, td").all_inner_texts()[:4] for row in table.locator("tbody tr").all()]
        for table in page.locator("section table").all()
    ]
    assert tables[0] == [["a_c_r", "2 ms", "1 ms", "+100.0 %"], ["b_c_r", "4.1 ms", "4 ms", "+2.5 %"]]
    assert tables[1] == [["d_c_r", "3 s", "", ""], *sorted(tables[0], reverse=True)]
    assert page.locator("section svg").count() == 4
    page.locator("#metric").select_option("first-call")
    page.get_by_text("none: no run before this one has this metric, or nothing changed").wait_for()


@pytest.mark.slow
def test_axe_finds_nothing(report: Report, tmp_path: Path, show: Open) -> None:
    from axe_playwright_python.sync_playwright import Axe

    write_site(report, tmp_path / "site")
    page = show(tmp_path / "site", "#benchmarks")
    page.locator("section svg").first.wait_for()
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()


def test_a_page_without_benchmarks_has_no_such_view(tmp_path: Path) -> None:
    write_results(tmp_path / "now", [record("a_c", Outcome.PASSED)], started=NOW)
    index = write_site(read_report([tmp_path / "now"]), tmp_path / "site")
    assert "benchmarks.js" not in index.read_text()
