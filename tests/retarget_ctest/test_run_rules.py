"""`retarget run` judges rules as pytest does with the same arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, table, target
from mlir_modules import GOOD
from retarget.cli import main

FILE = "linalg/suite.toml"
ID = f"{FILE}::linalg::good_vmvx_phone"
PAST = "until = 2020-01-01\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Targets that no machine runs, a rule for no module, and two that have expired, for one of them each."""
    rules = [
        table("expectation", match="gone", stage="compare", reason="of no module"),
        *(
            table("expectation", match=match, when="phone", stage="compare", reason=f"of {match}") + PAST
            for match in ("good", "other")
        ),
    ]
    matrix = declarations(
        "root = true\n",
        compiler("vmvx", flags=VMVX_FLAGS),
        runtime("phone", host_os="ios"),
        target("all", "vmvx", ["phone"]),
    )
    (tmp_path / "linalg").mkdir()
    for name, text in {
        "pytest.ini": "[pytest]\n",
        "matrix.toml": matrix,
        FILE: declarations(suite("linalg"), *rules),
        "linalg/good.mlir": GOOD,
        "linalg/other.mlir": GOOD,
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _kinds(lines: list[str]) -> list[str]:
    """What the errors of rules among these lines are about."""
    errors = [line for line in lines if line.startswith(f"{FILE}:") and "expectation[" in line]
    return ["gone" if "names no module" in line else line[line.rfind("(") :] for line in errors]


SELECTIONS = [
    pytest.param([".", "-m", "phone"], ["gone", "(of good)", "(of other)"], id="folder"),
    pytest.param([".", "-k", "good and phone"], ["gone", "(of good)", "(of other)"], id="part-of-folder"),
    pytest.param([FILE, "-k", "good and phone"], ["(of good)"], id="part-of-file"),
    pytest.param([ID], ["(of good)"], id="target"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("arguments", "errors"), SELECTIONS)
def test_rules_without_effect_and_expired_ones_are_errors(
    arguments: list[str], errors: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *arguments]) == 1
    assert _kinds(capsys.readouterr().err.splitlines()) == errors
    assert main(["run", *arguments, "--ignore-expectations"]) == 77
    assert _kinds(capsys.readouterr().err.splitlines()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "errors"), SELECTIONS)
def test_pytest_finds_the_same_errors(arguments: list[str], errors: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, _kinds(done.stdout.splitlines())) == (1, errors)
