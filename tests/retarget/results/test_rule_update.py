"""What results show becomes rules, and is said with its colour."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, suite, target
from msgspec.structs import replace
from retarget.extension.registry import load_extensions
from retarget.results.record import Outcome, Result, TargetRecord
from retarget.results.rule_update import RuleUpdate
from sample_results import compiled, failed


@pytest.fixture(autouse=True)
def _project(cwd: Path) -> None:
    (cwd / ".git").mkdir()
    (cwd / "suite.toml").write_text(
        declarations(compiler("cc"), target("all", "cc", []), suite("linalg", targets=["all"]))
    )
    (cwd / "m.mlir").touch()


def of_m(record: TargetRecord) -> TargetRecord:
    result = Result.FAILED if record.outcome is Outcome.FAILED else Result.PASSED
    return replace(
        record, result=result, file="suite.toml", suite="linalg", target="m_cc", module="m", compiler="cc", runtime=""
    )


def lines(*records: TargetRecord) -> list[tuple[str, str]]:
    update = RuleUpdate()
    for record in records:
        update.add(of_m(record))
    return list(update.write(load_extensions(), in_full=False))


def test_a_failure_becomes_a_rule_that_goes_once_it_is_mended() -> None:
    broken = failed("m", "no such op", "compile")
    written = lines(broken)
    assert ("+[[expectation]]", "green") in written
    assert any(line.startswith("@@") and colour == "cyan" for line, colour in written)
    assert 'stage = "compile"' in Path("expectations.toml").read_text()
    assert lines(broken) == [("expectations: nothing to change, 1 failure as expected", "")]

    mended = compiled("m", outcome=Outcome.PASSED)
    assert ("-[[expectation]]", "red") in lines(broken, mended)
    assert lines(mended) == [("expectations: nothing to change, 0 failures as expected", "")]


def test_entries_that_match_nothing_stay_where_they_may_be_missing_and_are_named() -> None:
    names = [f"gone{number}" for number in range(5)]
    Path("expectations.toml").write_text(
        f"[[expectation]]\nmatch = {names}\nstage = 'compile'\noutcome = 'xfail'\nreason = 'why'\n"
    )
    Path("n.mlir").touch()  # a target that the run left out
    (line,) = [line for line, colour in lines(compiled("m")) if colour == "yellow"]
    assert line == (
        "expectations: 5 entries of `match` match nothing here and stay in expectations.toml: 'gone0', 'gone1', "
        "'gone2', 'gone3', … (-vv shows all); this run left out 1 target of the suites there, so they may be missing "
        "rather than gone: remove by hand what is gone"
    )
