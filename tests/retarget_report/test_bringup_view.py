"""The bring-up view: what `retarget bringup NAME --json` prints, as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from report_results import some_records, write_results
from retarget.support import RetargetError
from retarget_report.command import write_site
from retarget_report.read import read_report

if TYPE_CHECKING:
    from conftest import Open

ONE, TWO = "s/suite.toml::s::one_chip_chip", "s/suite.toml::s::two_chip_chip"
STATUS: dict[str, Any] = {
    "version": 1,
    "name": "chip",
    "percentage": 50.0,
    "matches": 1,
    "counted": 2,
    "rungs": [{"rung": "compiles", "reach": 2, "stop": 1}, {"rung": "matches", "reach": 1, "stop": 1}],
    "blockers": [
        {
            "rung": "none",
            "signature": "no rule for 'spirv.<b>'",
            "frees": 1,
            "targets": [TWO],
            "smallest": TWO,
            "diagnostic": ["error: no rule for 'spirv.<b>'"],
            "command": f"pytest '{TWO}'",
            "reference": f"pytest '{ONE}'",
        }
    ],
    "next": {"what": "mend the compile of two", "why": "it frees 1 target", "command": f"pytest '{TWO}'"},
}


def written(folder: Path, status: object) -> Path:
    file = folder / "chip.json"
    file.write_text(json.dumps(status))
    return file


@pytest.mark.slow
def test_the_view_shows_rungs_and_blockers(tmp_path: Path, show: Open) -> None:
    write_results(tmp_path / "results", some_records())
    report = read_report([tmp_path / "results"], bringups=[written(tmp_path, STATUS)])
    write_site(report, tmp_path / "site")
    text = show(tmp_path / "site", "#bringup").locator("main").inner_text()
    for expected in (
        "50 % of 2 targets match",
        "mend the compile of two it frees 1 target",
        "does not compile",
        "no rule for 'spirv.<b>'",
        f"pytest '{ONE}'",
    ):
        assert " ".join(expected.split()) in " ".join(text.split())


def test_without_a_bring_up_there_is_no_such_view(tmp_path: Path) -> None:
    write_results(tmp_path / "results", some_records())
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    assert "bringup.js" not in (tmp_path / "site" / "index.html").read_text()
    assert read_report([tmp_path / "results"], bringups=[written(tmp_path, STATUS)]).bringups == [STATUS]


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (STATUS | {"version": 2}, "found version 2, expected what `retarget bringup NAME --json` prints in version 1"),
        ({"version": 1, "name": "x", "next": {}}, "found no blockers, rungs, expected what"),
        ([], "Expected `object`, got `array`; expected what `retarget bringup NAME --json` prints"),
    ],
)
def test_what_is_no_status_is_an_error(tmp_path: Path, status: object, found: str) -> None:
    file = written(tmp_path, status)
    write_results(tmp_path / "results", some_records())
    with pytest.raises(RetargetError) as error:
        read_report([tmp_path / "results"], bringups=[file])
    assert found in str(error.value)
