"""ctest gives each target the outcome that pytest gives it."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import pytest
from retarget.results.files import latest, read_results

CTEST = str(Path(sys.executable).with_name("ctest"))
NOT_RUN = "not run: Fixture dependency failed"
SAME = {
    "passed": "passed",
    "xfailed": "passed",
    "failed": "failed",
    "xpassed": "failed",
    "skipped": "skipped",
    "blocked": NOT_RUN,
}
"""What ctest makes of the outcomes of pytest."""


def emitted(project: Path, folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "retarget.cli", "emit", "ctest", "-o", str(folder), *arguments]
    return subprocess.run(command, cwd=project, check=True, capture_output=True, text=True).stdout


def by_pytest(project: Path, folder: Path, *arguments: str) -> Mapping[str, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--retarget-results={folder}", *arguments]
    subprocess.run(command, cwd=project, check=False, capture_output=True)
    (session,) = read_results([folder])
    return {record.nodeid: SAME[record.outcome] for record in latest(session.records).values()}


def by_ctest(folder: Path, *arguments: str) -> Mapping[str, str]:
    report = folder / "report.xml"
    command = [CTEST, "--test-dir", str(folder), "--output-junit", str(report), *arguments]
    subprocess.run(command, check=False, capture_output=True)
    return {str(case.get("name")): _outcome(case) for case in ET.parse(report).getroot().iter("testcase")}  # noqa: S314


def _outcome(case: ET.Element) -> str:
    if case.get("status") == "run":
        return "passed"
    if case.get("status") == "fail":
        return "failed"
    message = str(case.find("skipped").get("message"))  # type: ignore[union-attr]
    return "skipped" if "SKIP_RETURN_CODE=77" in message else f"not run: {message}"


@pytest.mark.slow
def test_outcomes_are_those_of_pytest(mixed: Path, tmp_path: Path) -> None:
    assert emitted(mixed, tmp_path / "ctest") == f"{tmp_path}/ctest/CTestTestfile.cmake: 21 tests\n"
    expected = by_pytest(mixed, tmp_path / "results")
    skipped = "linalg/suite.toml::linalg::refused_vmvx_phone"
    assert expected[skipped] == "skipped"  # ctest does not start it, as its fixture fails
    assert by_ctest(tmp_path / "ctest", "-j2") == {**expected, skipped: NOT_RUN}
    run_alone = [one for one in expected if one.endswith("_vmvx_sync")]
    compiles = [one for one in expected if one.endswith("_vmvx")]
    chosen = by_ctest(tmp_path / "ctest", "-j2", "-L", "^sync$")
    assert chosen == {one: expected[one] for one in (*run_alone, *compiles)}
