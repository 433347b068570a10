"""`retarget ci verify` as a command."""

from __future__ import annotations

from pathlib import Path

import pytest
from ci_trees import declare, emit, write
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from mlir_modules import GOOD
from msgspec.structs import replace
from planned_results import BUILD, PLAN, RUN, records_of, write_leg
from retarget.cli import main
from retarget.results import Plan
from retarget_ci.files import read_ci
from retarget_ci.verify import skipped_by_rules


@pytest.fixture(autouse=True)
def _planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_bytes(PLAN.text)
    write_leg(Path("results"), BUILD)


def test_results_of_earlier_runs_are_counted_apart(capsys: pytest.CaptureFixture[str]) -> None:
    first, *others = records_of(RUN)
    write_leg(Path("results"), RUN, records=[replace(first, unchanged=True), *others])
    assert main(["ci", "verify", "--results", "results"]) == 0
    assert capsys.readouterr().out.endswith(": 6 passed; 1 of them reused from earlier runs\n")


def test_what_rules_skip_is_not_said_to_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_runtime = '[[expectation]]\nmatch = "*"\nwhen = "run"\noutcome = "skip"\nreason = "hangs"\n'
    of_one = '[[expectation]]\nmatch = "one"\noutcome = "skip"\nreason = "too large"\n'
    expired = of_runtime.replace("reason", "until = 2020-01-01\nreason")
    files = {
        "ci.toml": 'paths = ["s"]\nlabels = ["u"]\n[[runner]]\nname = "linux"\nlabels = ["u"]\nbuilds = true\n'
        'drivers = ["local-sync"]\n[[event]]\nname = "pr"\non = ["pull_request"]\nbudget = "20 min"\n',
        "s/suite.toml": declarations(
            compiler("vmvx", flags=VMVX_FLAGS),
            runtime("sync", driver="local-sync"),
            target("t", "vmvx", ["sync"]),
            suite("s", targets=["t"]),
        ),
        "s/one.mlir": GOOD,
        "s/two.mlir": GOOD,
    }
    for rules, said in (
        ("", "'pr' runs 4 in 2 legs"),
        (of_runtime, "'pr' runs 2 in 2 legs (rules skip 2 more)"),
        (of_one, "'pr' runs 2 in 2 legs (rules skip 2 more)"),
    ):
        write(tmp_path, {**files, "s/expectations.toml": rules})
        emit(tmp_path)
        assert main(["ci", "verify"]) == 0
        assert capsys.readouterr().out.startswith(f"verified ci.toml: 4 targets: {said}\n")
    write(tmp_path, {"s/expectations.toml": expired})
    assert len(skipped_by_rules(declare(read_ci(tmp_path / "ci.toml")))) == 0


def test_names_from_elsewhere_cannot_write_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    strange = [replace(record, nodeid="x\n::error::\x1b[31m<script>") for record in records_of(RUN)[:1]]
    write_leg(Path("results"), RUN, records=[*records_of(RUN), *strange])
    assert main(["ci", "verify", "--results", "results"]) == 1
    printed = capsys.readouterr().err
    assert len(printed.splitlines()) == 2
    assert "\x1b" not in printed


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--plan", "plan.json"], 2, "found --plan plan.json without --results, expected --results DIR"),
        (
            ["--plan", "gone.json", "--results", "results"],
            1,
            "cannot read the plan gone.json: No such file or directory",
        ),
        (["--results", "gone"], 1, "gone: found no such file or folder, expected results"),
    ],
)
def test_what_is_not_there_is_an_error(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        found = main(["ci", "verify", *arguments])
    except SystemExit as stopped:
        found = stopped.code
    assert found == status
    assert said in capsys.readouterr().err


def test_a_run_in_which_all_is_waived_is_in_order() -> None:
    Path("plan.json").write_bytes(Plan(event="pr", paths=(".",)).text)
    assert main(["ci", "verify", "--results", "none"]) == 0
    assert main(["report", "none", "--plan", "plan.json", "-o", "site"]) == 0
