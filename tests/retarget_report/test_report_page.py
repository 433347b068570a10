"""The page in a browser: what it shows, and what keys, filters and the address do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from report_results import failed, node_id, record, some_records, write_leg_plan, write_results
from retarget.results import Attribution
from retarget_report.command import write_site
from retarget_report.read import read_report

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from conftest import Open

pytestmark = pytest.mark.slow  # each opens a page in a browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `some_records` with a plan: one target is missing, one is waived."""
    folder = tmp_path_factory.mktemp("page")
    records = some_records()
    write_results(folder / "results", records)
    ids = [one.nodeid for one in records]
    plan = folder / "plan.json"
    write_leg_plan(plan, [*ids, node_id("pad_llvm-cpu_local-task", "tensor")], [node_id("pad_vulkan-spirv", "tensor")])
    write_site(read_report([folder / "results"], [plan]), folder / "site")
    return folder / "site"


def rows(page: Page) -> dict[str, list[str]]:
    """What each module's row says, cell by cell."""
    read = """() => [...document.querySelectorAll(".row")].map(row => [
        row.querySelector(".name").innerText, [...row.querySelectorAll(".cell")].map(cell => cell.innerText)])"""
    return dict(page.evaluate(read))


def test_each_cell_says_its_outcome_in_words(show: Open, site: Path) -> None:
    assert rows(show(site)) == {
        "add": ["✓ ok", "✓ ok", "✓ ok", "✗ compare"],
        "matmul": ["✗ compile", "⊘ blocked", "✓ ok", "≈ xfail"],
        "conv": ["✓ ok", "↻ flaky 1/3", "✓ ok", "∅ no device"],
        "pad": ["✓ ok", "∿ chance", "? missing", "◌ waived"],
    }


def test_totals_have_their_denominators(show: Open, site: Path) -> None:
    page = show(site)
    assert page.locator(".facts summary").inner_text() == (
        "16 targets, 76.9 % of the 13 with a verdict as expected, 3 without one · 1 session · plan pr, 1 leg"
    )
    assert page.locator(".sum").inner_text() == "16 of 16 targets shown; as expected: 76.9 % of 13 with a verdict"
    totals = page.locator(".totals").first.locator("[role=gridcell]").all_inner_texts()
    assert totals == ["66.6 %\nof 3", "100 %\nof 2", "100 %\nof 3", "50 %\nof 2"]
    assert page.locator("h2").first.inner_text().split("\n")[:2] == ["▾ linalg", "80 % of 10 as expected"]


def test_the_address_filters(show: Open, site: Path) -> None:
    from playwright.sync_api import expect

    page = show(site)
    for address, shown in (
        ("m=vulkan%20and%20run", ["add", "matmul", "conv"]),
        ("m=driver(name%3D'vulkan')%20and%20not%20matmul", ["add", "matmul", "conv"]),
        ("m=tensor", ["pad"]),
        ("stage=compile", ["matmul"]),
        ("sig=values%20differ", ["add", "matmul"]),
        ("q=LEGALIZE", ["matmul"]),
        ("q=conv_vulkan", ["conv"]),
        ("o=flaky,missing", ["conv", "pad"]),
        ("o=fail&m=compile", ["matmul"]),
        ("q=nothing%20of%20this", []),
    ):
        page.evaluate(f'location.hash = "matrix?{address}"')
        expect(page.locator(".row .name"), address).to_have_text(shown)


def test_columns_that_an_expression_leaves_out_are_not_shown(show: Open, site: Path) -> None:
    page = show(site, "#matrix?m=vulkan%20and%20run")
    assert page.locator(".config").all_inner_texts() == ["lavapipe"]
    assert rows(page)["add"] == ["✗ compare"]


def test_typing_changes_the_address_and_the_way_back_leads_to_the_filter_before(show: Open, site: Path) -> None:
    page = show(site)
    page.keyboard.press("/")
    page.keyboard.type("matmul")
    page.wait_for_url("**/*q=matmul*")
    assert list(rows(page)) == ["matmul"]
    page.locator(".legend .chip", has_text="xfail").click()
    page.wait_for_url("**/*o=xfail*")
    assert page.locator(".sum").inner_text().startswith("1 of 16 targets shown")
    page.go_back()
    page.locator(".sum", has_text=re.compile("^4 of 16 targets shown")).wait_for()
    page.locator("#f-clear").click()
    page.wait_for_url(lambda url: "q=" not in url)
    assert len(rows(page)) == 4
    assert page.locator("#f-q").input_value() == ""


def test_an_error_of_an_expression_shows_its_column_and_keeps_what_was_shown(show: Open, site: Path) -> None:
    page = show(site)
    page.locator("#f-m").fill("vulkan and (run")
    page.locator("#f-error").wait_for()
    assert page.locator("#f-error").inner_text() == "-m: column 16: found the end of line, expected ')'"
    assert page.locator("#f-m").get_attribute("aria-invalid") == "true"
    assert len(rows(page)) == 4
    page.locator("#f-m").fill("vulkan and (run)")
    page.locator("#f-error").wait_for(state="hidden")
    assert list(rows(page)) == ["add", "matmul", "conv"]


def test_the_keyboard_moves_between_cells_and_opens_a_target(show: Open, site: Path) -> None:
    page = show(site)
    page.locator(".grid").focus()
    focused = "document.activeElement.textContent"
    for keys, text in (
        (["ArrowRight", "ArrowRight", "ArrowRight"], "✗ compare"),
        (["ArrowDown"], "≈ xfail"),
        (["Home"], "✗ compile"),
        (["ArrowDown", "ArrowDown"], "✓ ok"),
        (["ArrowRight", "ArrowRight"], "? missing"),
        (["ArrowUp", "End"], "∅ no device"),
        (["PageUp", "Home", "ArrowDown"], "✗ compile"),
    ):
        for key in keys:
            page.keyboard.press(key)
        assert page.evaluate(focused) == text
    page.keyboard.press("Enter")
    page.locator(".panel h2").wait_for()
    assert page.evaluate(focused) == "matmul_llvm-cpu"
    assert "t=suites%2Flinalg" in page.url
    page.keyboard.press("Escape")
    page.locator(".panel").wait_for(state="hidden")
    assert page.evaluate(focused) == "✗ compile"


def test_the_active_cell_is_the_only_tab_stop_among_the_cells(show: Open, site: Path) -> None:
    page = show(site)
    page.locator(".grid").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".cell[tabindex]").count() == 1
    assert page.locator(".cell[tabindex='0']").inner_text() == "✗ compile"


def test_a_panel_has_all_of_a_target(show: Open, site: Path) -> None:
    page = show(site)
    page.locator(".row", has_text="add").locator(".cell").nth(3).click()
    panel = page.locator(".panel")
    panel.locator("h2").wait_for()
    text = panel.inner_text()
    for expected in (
        "add_vulkan-spirv_lavapipe",
        "✗ fails at compare",
        node_id("add_vulkan-spirv_lavapipe"),
        "suites/linalg/add.mlir",
        "driver(name='vulkan')",
        "values differ",
        "error: values differ",
        "iree-compile add.mlir -o add.vmfb",
        "run-1",
    ):
        assert expected in text
    page.evaluate("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
    panel.locator(".copied", has_text="iree-compile").locator("button").click()
    assert page.evaluate("window.copied") == "iree-compile add.mlir -o add.vmfb"
    page.locator(".row", has_text="add").locator(".cell").nth(1).click()
    panel.locator("h2", has_text="add_llvm-cpu_local-sync").wait_for()
    assert re.search(r"host CPU\s+local-sync", panel.inner_text())
    assert re.search(r"waiting for devices\s+200 ms", panel.inner_text())
    assert re.search(r"(?i)devices that were lost\s+GPU was lost", panel.inner_text())


def test_a_panel_leads_to_the_target_that_blocks_and_shows_the_attempts_before(show: Open, site: Path) -> None:
    page = show(site, f"#matrix?t={node_id('matmul_llvm-cpu_local-sync')}")
    page.locator(".panel a").click()
    page.locator(".panel h2", has_text=re.compile("^matmul_llvm-cpu$")).wait_for()
    page.evaluate(f"Retarget.go({{t: {node_id('conv_llvm-cpu_local-sync')!r}}})")
    page.locator(".panel h2", has_text="conv").wait_for()
    assert "passed in 1 of 3 attempts" in page.locator(".panel").inner_text()
    assert page.locator(".panel details summary").all_inner_texts() == ["attempt 2: failed", "attempt 1: failed"]


def test_targets_without_a_result_say_what_the_plan_says(show: Open, site: Path) -> None:
    page = show(site, f"#matrix?t={node_id('pad_vulkan-spirv', 'tensor')}")
    page.locator(".panel h2").wait_for()
    assert "no such machine yet · https://example.org/7" in page.locator(".panel").inner_text()
    assert page.locator("header .alarm").inner_text() == "Missing: 1 of 16 targets are planned, but have no result."


def test_an_unknown_target_and_a_damaged_address_are_told(show: Open, site: Path) -> None:
    page = show(site, "#matrix?t=gone%zz")
    page.locator(".panel [role=alert]").wait_for()
    assert page.locator(".panel").inner_text() == "The results have no target gone%zz."
    assert len(rows(page)) == 4


def test_suites_fold(show: Open, site: Path) -> None:
    page = show(site)
    page.get_by_role("button", name="linalg").click()
    assert list(rows(page)) == ["pad"]
    assert page.get_by_role("button", name="linalg").get_attribute("aria-expanded") == "false"
    page.get_by_role("button", name="fold all").click()
    assert rows(page) == {}
    page.get_by_role("button", name="unfold all").click()
    assert len(rows(page)) == 4


def test_the_focus_stays_in_the_matrix_when_its_cell_scrolls_out_of_sight(show: Open, tmp_path: Path) -> None:
    write_results(tmp_path / "results", [record(f"m{number:03}", position=number) for number in range(500)])
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    page = show(tmp_path / "site")
    page.locator(".grid").focus()
    page.keyboard.press("ArrowDown")
    page.evaluate("document.querySelector('.grid').scrollTop = 8000")
    page.locator(".row", has_text="m340").wait_for()
    assert page.locator(".row", has_text="m001").count() == 0
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.parentElement.firstChild.textContent") == "m002"


def test_paper_has_all_rows_and_the_colours_of_light(show: Open, tmp_path: Path) -> None:
    write_results(tmp_path / "results", [record(f"m{number:03}", position=number) for number in range(300)])
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    page = show(tmp_path / "site", color_scheme="dark")
    assert len(rows(page)) < 100
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert len(rows(page)) == 300
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(rows(page)) < 100


def test_shares_are_of_all_outcomes_where_some_are_chosen(show: Open, site: Path) -> None:
    page = show(site, "#matrix?o=fail")
    assert page.locator(".sum").inner_text() == (
        "2 of 16 targets shown; with all outcomes, as expected: 76.9 % of 13 with a verdict"
    )
    assert page.locator(".totals b").all_inner_texts() == ["66.6 %", "100 %", "100 %", "50 %"]


def test_help_opens_with_its_key_and_closes(show: Open, site: Path) -> None:
    page = show(site)
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    assert "planned, but has no result" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_colours_follow_the_system_and_the_choice_which_is_kept(show: Open, site: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page = show(site, color_scheme="dark")
    assert page.evaluate(ground) == "rgb(20, 23, 26)"
    page.get_by_role("button", name="light").click()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.reload()
    page.locator(".row").first.wait_for()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="auto").click()
    assert page.evaluate(ground) == "rgb(20, 23, 26)"


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"color_scheme": "dark"}, marks=pytest.mark.slow),
        pytest.param({"viewport": {"width": 380, "height": 720}}, marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(show: Open, site: Path, options: dict[str, object]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = show(site, f"#matrix?t={node_id('add_vulkan-spirv_lavapipe')}", **options)
    page.locator(".panel h2").wait_for()
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    found = Axe().run(page, options={"preload": False})
    assert found.violations_count == 0, found.generate_report()


def test_a_phone_shows_the_matrix_without_scrolling_the_page_sideways(show: Open, site: Path) -> None:
    page = show(site, viewport={"width": 380, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert rows(page)["add"][0] == "✓ ok"


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a\u2028b\u2029c",
    "nul\x00 bell\x07 escape\x1b[31m",
    "quotes \" ' ` ${1} \\",
    "__proto__",
    "right\u202eleft \U0001d518nicode \U0001d518mlaut",
]


def test_hostile_texts_are_shown_as_they_are(show: Open, tmp_path: Path) -> None:
    line = "x" * 1_000_000
    records = [
        failed(
            f"{text} {number}", signature=text, text=f"{text}\n{line}", message=text, commands=(text,), position=number
        )
        for number, text in enumerate(HOSTILE)
    ]
    session = write_results(tmp_path / "results", records, host=HOSTILE[0], arguments=(HOSTILE[1],), leg=HOSTILE[0])
    with next((tmp_path / "results").iterdir()).open("ab") as file:
        import msgspec

        said = Attribution(session=session.session, nodeid=records[0].nodeid, sentence=HOSTILE[0], section=HOSTILE[1])
        file.write(msgspec.json.encode(said) + b"\n")
    write_site(read_report([tmp_path / "results"], title=HOSTILE[0]), tmp_path / "site")
    page = show(tmp_path / "site")
    assert page.locator("h1").text_content() == HOSTILE[0]
    names = page.locator(".row .name").all()
    assert [name.text_content() for name in names] == [one.module for one in records]
    for number, text in enumerate(HOSTILE):
        page.locator(".row").nth(number).locator(".cell").first.click()
        page.locator(".panel h2", has_text=f"{number}_llvm-cpu").wait_for()
        assert page.locator(".panel [aria-label=commands]").text_content() == text
        shown = page.locator(".panel [aria-label='report of the failure']").text_content() or ""
        assert shown.startswith(text)
        assert re.search(r"… 9[0-9]{2},[0-9]{3} characters are left out …", shown)
    assert page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == page.locator("head script").count()


def test_an_incomplete_session_is_loud(show: Open, tmp_path: Path) -> None:
    write_results(tmp_path / "results", [record("add")], status=None, selected=40, leg="gpu")
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    alarm = show(tmp_path / "site").locator("header .alarm").inner_text()
    assert re.fullmatch(
        r"Incomplete: the session gpu on here, started \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, did not come to its end: "
        r"it has 1 of 40 results\.",
        alarm,
    )


def test_a_file_that_is_lost_is_told(show: Open, tmp_path: Path) -> None:
    write_results(tmp_path / "results", [record("add")])
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    (tmp_path / "site" / "data" / "matrix.js").write_text("")
    page = show(tmp_path / "site")
    assert page.locator("main").inner_text() == (
        "This page is incomplete: data/matrix.js is damaged. Write it again with: retarget report"
    )


@pytest.mark.parametrize(
    ("targets", "shown"), [(20_000, "20,009"), pytest.param(100_000, "100,011", marks=pytest.mark.exhaustive)]
)
def test_many_targets_are_seen_from_few_bytes_and_few_elements(
    show: Open, tmp_path: Path, targets: int, shown: str
) -> None:
    generator = Path(__file__).parents[2] / "benchmarks" / "synthetic_results.py"
    subprocess.run([sys.executable, generator, tmp_path / "results", "--targets", str(targets)], check=True)
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    loaded: list[str] = []
    page = show(tmp_path / "site", loaded=loaded)
    first = {Path(urlsplit(url).path) for url in loaded if url.startswith("file:")}
    assert sum(file.stat().st_size for file in first) < 20 * targets  # bytes
    assert page.locator(".sum").inner_text().startswith(f"{shown} of {shown} targets shown")
    for top in (0, 50_000, 10_000_000):
        page.evaluate(f"document.querySelector('.grid').scrollTop = {top}")
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("document.querySelectorAll('*').length") < 3000
    assert rows(page).popitem()[1][0]
    page.evaluate('location.hash = "matrix?m=vulkan and run and mat&stage=crash"')
    page.locator(".sum", has_text=re.compile(rf"^[\d,]{{1,5}} of {shown} targets shown")).wait_for()
