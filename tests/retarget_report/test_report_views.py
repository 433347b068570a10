"""The views beside the matrix, in a browser: failures, history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from report_results import failed, node_id, record, some_records, write_leg_plan, write_results
from retarget.results import CaseRecord, DeviceRecord, Outcome, Sessions, TargetRecord
from retarget.results.history import add_run
from retarget.results.record import CompileRecord, GoldenRecord, RunRecord
from retarget_report.command import write_site
from retarget_report.read import read_report

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from conftest import Open

pytestmark = pytest.mark.slow  # each opens a page in a browser

DAY = 86400.0
NOW = 1_780_000_000.0
VIEWS = ("failures", "history")


def with_times(records: list[TargetRecord]) -> list[TargetRecord]:
    """A second after another: compiles on two workers, runs on the device that they name."""
    run = RunRecord(load_seconds=0.1, run_seconds=0.5, compare_seconds=0.1, started=NOW + 10, wait_seconds=2.0)
    device = DeviceRecord(driver="local-sync", uri="local-sync://0", name="host CPU", physical_id="cpu")
    found = []
    for number, one in enumerate(records):
        if one.outcome in {Outcome.BLOCKED, Outcome.SKIPPED}:
            found.append(one)
        elif one.runtime:
            found.append(replace(one, run=run, devices=(device,)))
        else:
            compiled = CompileRecord(key=one.nodeid, seconds=4.0, started=NOW + number, worker=number % 4 // 2 + 1)
            found.append(replace(one, compile=compiled))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `some_records`, with two runs before: in the first, matmul and a target that is gone passed."""
    folder = tmp_path_factory.mktemp("views")
    records = with_times(some_records())
    passed = replace(records[4], outcome=Outcome.PASSED, observation=None)
    before = [*records[:4], passed, *records[5:], record("old")]
    for number, run in enumerate((before, records[1:])):
        write_results(folder / f"{number}", run, started=NOW - DAY * (2 - number), revision=f"{number}" * 40)
        add_run(Sessions.read([folder / f"{number}"]), str(folder / "history"))
    write_results(folder / "results", records, started=NOW, revision="2" * 40)
    write_site(read_report([folder / "results"], history=str(folder / "history")), folder / "site")
    return folder / "site"


def summaries(page: Page) -> list[str]:
    return [" | ".join(text.split("\n")) for text in page.locator(".card > summary").all_inner_texts()]


def test_failures_are_grouped_by_signature_with_their_share_and_what_they_block(show: Open, site: Path) -> None:
    page = show(site, "#failures")
    assert summaries(page) == [
        "✗ fail: compile | failed to legalize operation 'linalg.x' | 1 = 50 % of 2, blocks 1",
        "✗ fail: compare | values differ | 1 = 50 % of 2",
        "≈ xfail: compare | values differ | 1 = 100 % of 1",
    ]
    assert page.locator(".content h3").all_inner_texts() == ["2 not as expected", "1 known to fail, with a reason"]
    assert (
        page.locator(".content .note").first.inner_text()
        == "14.2 % of 14 targets, in 2 ways; 1 more is blocked by them"
    )


def test_a_group_has_its_smallest_module_configs_report_commands_and_targets(show: Open, site: Path) -> None:
    page = show(site, "#failures")
    assert page.locator(".card[open]").count() == 1
    page.locator(".card > summary", has_text="50 % of 2").nth(1).click()
    card = page.locator(".card").nth(1)
    card.locator("[aria-label=commands]").wait_for()
    assert card.locator(".body p").first.inner_text() == "module: add · add_vulkan-spirv_lavapipe · show in the matrix"
    assert card.locator("[aria-label='configs affected']").inner_text() == "vulkan-spirv/lavapipe 1 of 3"
    assert card.locator("[aria-label='report of the failure']").inner_text() == "error: values differ"
    assert card.locator("[aria-label=commands]").inner_text() == "iree-compile add.mlir -o add.vmfb"
    card.locator(".many a").click()
    page.locator(".panel h2", has_text="add_vulkan-spirv_lavapipe").wait_for()
    card.get_by_role("link", name="show in the matrix").click()
    page.locator(".row .cell.s-fail").wait_for()
    assert page.locator(".sum").inner_text().startswith("1 of 14 targets shown")


def test_the_filter_of_the_address_applies_to_every_view_and_stays_from_one_to_the_next(show: Open, site: Path) -> None:
    page = show(site, "#failures?m=vulkan")
    assert summaries(page)[0] == "✗ fail: compare | values differ | 1 = 100 % of 1"
    page.get_by_role("link", name="History").click()
    page.locator(".trend").wait_for()
    assert page.locator("table", has_text="as it is since").locator("tbody tr").count() == 3
    page.locator("#f-clear").click()
    page.wait_for_function("document.querySelectorAll('.figures:last-of-type tbody tr').length > 3")


def test_a_long_list_begins_short(show: Open, tmp_path: Path) -> None:
    write_results(tmp_path / "results", [failed(f"m{number:02}") for number in range(29)])
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    page = show(tmp_path / "site", "#failures")
    targets = page.locator(".card .many").first
    assert targets.locator("li").count() == 20
    page.get_by_role("button", name="show all 29 targets").click()
    assert targets.locator("li").count() == 29
    assert page.evaluate("document.activeElement.textContent") == "m20_llvm-cpu"
    page.get_by_role("link", name="History").click()
    page.locator(".content .note", has_text="This page was written without a history").wait_for()


def test_history_says_what_changed_against_the_last_run_and_a_chosen_one(show: Open, site: Path) -> None:
    page = show(site, "#history")
    assert summaries(page) == ["1 new | 7.1 % of 14"]
    page.locator("#against").select_option(index=1)
    page.wait_for_url("**/*against=*")
    assert summaries(page) == ["1 newly broken | 7.1 % of 14", "1 gone | whatever the filter"]
    assert page.locator(".card[open] li").inner_text() == (
        "matmul_llvm-cpu passed → failed at compile: failed to legalize operation 'linalg.x'"
    )


def test_history_has_open_regressions_chance_and_what_did_not_run(show: Open, site: Path) -> None:
    page = show(site, "#history")
    text = page.locator(".content").inner_text()
    for expected in (
        "2 open, of 14 targets",
        "matmul_llvm-cpu since 2026-05-27 20:26 (1111111111), opened 1 run ago",
        "3 of 3 runs conv_llvm-cpu_local-sync ↻↻↻",
        "never in 3 runs conv_vulkan-spirv_lavapipe skipped: no Vulkan device",
        "14.2 % of 14 targets have no verdict in the last run",
    ):
        assert expected in text
    page.locator("details", has_text="the same as a table").locator("summary").first.click()
    rows = page.locator("[aria-label=runs] tbody tr").all_inner_texts()
    assert [row.split("\t")[3:] for row in rows] == [
        ["14", "12", "83.3 % of 12"],
        ["13", "11", "81.8 % of 11"],
        ["14", "12", "91.6 % of 12"],
    ]
    strips = page.locator("tr", has_text="matmul_llvm-cpu").first.locator(".strip")
    assert (
        strips.get_attribute("aria-label")
        == "passed; then failed at compile: failed to legalize operation 'linalg.x', 2 runs"
    )


def test_a_planned_target_that_the_run_before_had_and_this_one_lacks_is_no_longer_run(
    show: Open, tmp_path: Path
) -> None:
    write_results(tmp_path / "0", [record("add"), record("sub")], started=NOW - DAY)
    add_run(Sessions.read([tmp_path / "0"]), str(tmp_path / "history"))
    write_results(tmp_path / "1", [record("add")], started=NOW)
    write_leg_plan(tmp_path / "plan.json", [], build=[node_id("add_llvm-cpu"), node_id("sub_llvm-cpu")])
    report = read_report([tmp_path / "1"], [tmp_path / "plan.json"], history=str(tmp_path / "history"))
    write_site(report, tmp_path / "site")
    page = show(tmp_path / "site", "#history")
    assert summaries(page) == ["1 no longer run | 50 % of 2"]
    assert "no result; the last verdict 1 run ago" in page.locator(".content").inner_text()


def test_a_pass_on_another_device_is_not_said_to_mend(show: Open, tmp_path: Path) -> None:
    for number, (one, device) in enumerate(((failed, "A"), (record, "B"))):
        devices = (DeviceRecord(driver="d", uri="d://", name=device, physical_id="p"),)
        write_results(tmp_path / f"{number}", [one("add", runtime="r", devices=devices)], started=NOW + number * DAY)
        add_run(Sessions.read([tmp_path / f"{number}"]), str(tmp_path / "history"))
    write_site(read_report([tmp_path / "1"], history=str(tmp_path / "history")), tmp_path / "site")
    page = show(tmp_path / "site", "#history")
    assert summaries(page) == ["1 changed otherwise | 100 % of 1"]
    assert "1 open, of 1 targets" in page.locator(".content").inner_text()


def test_a_pass_that_judges_no_golden_rule_is_not_said_to_mend(show: Open, tmp_path: Path) -> None:
    broken = (GoldenRecord(rule="r", verdict="broken", text=""),)
    for number, one in enumerate((failed("add", runtime="r", goldens=broken), record("add", runtime="r"))):
        write_results(tmp_path / f"{number}", [one], started=NOW + number * DAY)
        add_run(Sessions.read([tmp_path / f"{number}"]), str(tmp_path / "history"))
    write_site(read_report([tmp_path / "1"], history=str(tmp_path / "history")), tmp_path / "site")
    assert summaries(show(tmp_path / "site", "#history")) == ["1 changed otherwise | 100 % of 1"]


def test_a_case_that_fails_newly_in_an_expected_failure_is_newly_broken(show: Open, tmp_path: Path) -> None:
    for number, failing in enumerate(("f", "fg")):
        cases = [CaseRecord(name=name, outcome=Outcome.XFAILED if name in failing else Outcome.PASSED) for name in "fg"]
        known = failed("add", runtime="r", outcome=Outcome.XFAILED, cases=tuple(cases))
        write_results(tmp_path / f"{number}", [known], started=NOW + number * DAY)
        add_run(Sessions.read([tmp_path / f"{number}"]), str(tmp_path / "history"))
    write_site(read_report([tmp_path / "1"], history=str(tmp_path / "history")), tmp_path / "site")
    page = show(tmp_path / "site", "#history")
    assert summaries(page) == ["1 newly broken | 100 % of 1"]
    how = "xfailed at compare: values differ in f"
    assert page.locator(".card[open] li").inner_text() == f"add_llvm-cpu_r {how} → {how}, g"


def test_the_panel_of_a_target_has_its_history(show: Open, site: Path) -> None:
    page = show(site, f"#matrix?t={node_id('matmul_llvm-cpu')}")
    section = page.locator(".panel").get_by_text("As it is since")
    section.wait_for()
    assert (
        section.inner_text()
        == "As it is since 2026-05-27 20:26 (1111111111), 1 run ago; with a verdict in 100 % of 3 runs."
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 380, "height": 720}}])
def test_axe_finds_nothing_in_any_view(show: Open, site: Path, options: dict[str, object]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = show(site, "#failures", **options)
    for view in VIEWS:
        page.evaluate(f"location.hash = '{view}'")
        page.locator(f".view-{view} .content section").first.wait_for()
        page.evaluate("for (const one of document.querySelectorAll('.content details')) one.open = true")
        page.wait_for_function("!document.querySelector('.content [role=status]')?.textContent.includes('Loading')")
        found = Axe().run(page, options={"preload": False})
        assert found.violations_count == 0, f"{view}: {found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


def test_hostile_texts_are_shown_as_they_are_in_every_view(show: Open, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>\u2028__proto__"
    one = failed(hostile, signature=hostile, text=f"{hostile}\n- {hostile}", commands=(hostile,), reason=hostile)
    write_results(tmp_path / "before", [record(hostile)], started=NOW - DAY, revision=hostile, leg=hostile)
    add_run(Sessions.read([tmp_path / "before"]), str(tmp_path / "history"))
    write_results(tmp_path / "results", with_times([one]), started=NOW, revision=hostile, leg=hostile)
    write_site(read_report([tmp_path / "results"], history=str(tmp_path / "history")), tmp_path / "site")
    page = show(tmp_path / "site", "#failures")
    page.locator(".card [aria-label=commands]").wait_for()
    assert page.locator(".card .signature").text_content() == hostile
    assert page.locator(".card [aria-label='report of the failure']").text_content() == f"{hostile}\n- {hostile}"
    for view in VIEWS:
        page.evaluate(f"location.hash = '{view}'")
        page.locator(f".view-{view} .content section").first.wait_for()
        assert hostile in (page.locator(".content").text_content() or "")
        assert page.locator("img").count() == 0
