"""ctest gives each target the outcome that pytest gives it."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
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
NOT_BY_VMVX = """\
func.func @angle(%x: tensor<2xf32>) -> tensor<2xf32> {
  %angle = math.acos %x : tensor<2xf32>
  return %angle : tensor<2xf32>
}
"""


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
    assert emitted(mixed, tmp_path / "ctest") == f"{tmp_path}/ctest/CTestTestfile.cmake: 24 tests\n"
    expected = by_pytest(mixed, tmp_path / "results")
    # What needs a compile target that fails, though it compiled or would be skipped: ctest does not start it.
    names = {
        "compiles_again_vmvx_sync": "passed",
        "compiles_again_vmvx_phone": "skipped",
        "refused_vmvx_phone": "skipped",
    }
    not_started = {f"linalg/suite.toml::linalg::{name}": outcome for name, outcome in names.items()}
    assert expected["linalg/suite.toml::linalg::compiles_again_vmvx"] == "failed"
    assert {name: expected[name] for name in not_started} == not_started
    everywhere = {**expected, **dict.fromkeys(not_started, NOT_RUN)}
    assert by_ctest(tmp_path / "ctest", "-j2") == everywhere
    run_alone = [one for one in expected if one.endswith("_vmvx_sync")]
    compiles = [one for one in expected if one.endswith("_vmvx")]
    chosen = by_ctest(tmp_path / "ctest", "-j2", "-L", "^sync$")
    assert chosen == {one: everywhere[one] for one in (*run_alone, *compiles)}


@pytest.mark.slow
def test_what_is_to_agree_with_a_config_that_fails_is_blocked_by_pytest_and_fails_by_ctest(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "matrix.toml": declarations(
            "root = true\n",
            compiler("vmvx", flags=VMVX_FLAGS),
            compiler("llvm-cpu", flags=[flag.replace("vmvx", "llvm-cpu") for flag in VMVX_FLAGS]),
            runtime("sync"),
            target("all", ["vmvx", "llvm-cpu"], ["sync"]),
        ),
        "suite.toml": suite("math", kind="cases"),
        "m.mlir": NOT_BY_VMVX,
        "m.cases.toml": '[[case]]\nname = "agrees"\ninputs = [[0, 0.5]]\nagree_with = "vmvx"\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    emitted(tmp_path, tmp_path / "ctest")
    expected = by_pytest(tmp_path, tmp_path / "results")
    assert expected == {
        "suite.toml::math::m_vmvx": "failed",
        "suite.toml::math::m_vmvx_sync": NOT_RUN,
        "suite.toml::math::m_llvm-cpu": "passed",
        "suite.toml::math::m_llvm-cpu_sync": NOT_RUN,
    }
    assert by_ctest(tmp_path / "ctest", "-j2") == {**expected, "suite.toml::math::m_llvm-cpu_sync": "failed"}
