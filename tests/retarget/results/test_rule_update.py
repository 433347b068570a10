"""What results show becomes rules, and is said with its colour."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, runtime, suite, target
from msgspec.structs import replace
from retarget.extension.registry import load_extensions
from retarget.results.record import CaseRecord, CompileRecord, DeviceRecord, Outcome, Result, TargetRecord
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
    return list(update.write(load_extensions()))


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


def test_failures_of_targets_that_are_not_declared_any_more_are_left_to_a_person(cwd: Path) -> None:
    update = RuleUpdate()
    update.add(of_m(failed("m", "no such op", "compile")))
    (cwd / "m.mlir").rename(cwd / "n.mlir")
    assert list(update.write(load_extensions())) == [
        ("expectations: nothing to change, 0 failures as expected", ""),
        ("expectations: left to you, as they are not declared here: m_cc", "yellow"),
    ]
    assert update.left_over


def on(card: str, record: TargetRecord) -> TargetRecord:
    device = DeviceRecord(driver="vulkan", uri="vulkan://", name="GPU", physical_id=card)
    return replace(record, compile=CompileRecord(key="k", devices=(device,)))


def test_two_cards_of_one_model_that_differ_are_left_to_a_person() -> None:
    broken, mended = failed("m", "no such op", "compile"), compiled("m", outcome=Outcome.PASSED)
    rules = Path("expectations.toml")
    update = RuleUpdate()
    for record in (on("card-1", broken), on("card-2", mended)):
        update.add(of_m(record))
    assert list(update.write(load_extensions())) == [
        ("expectations: nothing to change, 0 failures as expected", ""),
        ("expectations: left to you, as no rule tells card-1 and card-2 apart, whose results differ: m_cc", "yellow"),
    ]
    assert update.left_over
    assert not rules.exists()

    lines(on("card-1", broken), on("card-2", broken))
    written = rules.read_text()
    lines(on("card-1", broken), on("card-2", mended))
    assert rules.read_text() == written
    lines(on("card-1", broken), on("card-2", mended), on("card-1", mended))  # the last of each card counts
    assert rules.read_text() != written


@pytest.mark.parametrize(
    ("toolchains", "hosts", "apart"),
    [
        (("t=/x",), ("x86", "x86"), "the toolchain t=/x and the declared toolchains"),
        ((), ("x86", "arm"), "x86 and arm"),
    ],
)
def test_toolchains_and_hosts_that_differ_are_left_to_a_person(
    toolchains: tuple[str, ...], hosts: tuple[str, str], apart: str
) -> None:
    update = RuleUpdate()
    update.add(of_m(failed("m", "no such op", "compile", toolchains=toolchains)), hosts[0])
    update.add(of_m(compiled("m")), hosts[1])
    said = [line for line, colour in update.write(load_extensions()) if colour == "yellow"]
    assert said == [f"expectations: left to you, as no rule tells {apart} apart, whose results differ: m_cc"]
    assert update.left_over


def test_two_cards_of_one_model_differ_where_other_cases_fail(cwd: Path) -> None:
    tables = (compiler("cc"), runtime("r", "local-task"), target("all", "cc", ["r"]), suite("linalg", targets=["all"]))
    (cwd / "suite.toml").write_text(declarations(*tables))
    update = RuleUpdate()
    for card, failing in (("card-1", "fg"), ("card-2", "f")):
        cases = tuple(
            CaseRecord(name=name, outcome=Outcome.FAILED, stage="compare", signature="x")
            if name in failing
            else CaseRecord(name=name, outcome=Outcome.PASSED)
            for name in "fg"
        )
        device = DeviceRecord(driver="vulkan", uri="vulkan://", name="GPU", physical_id=card)
        record = of_m(failed("m", "x", cases=cases, devices=(device,)))
        update.add(replace(record, target="m_cc_r", runtime="r"))
    said = [line for line, colour in update.write(load_extensions()) if colour == "yellow"]
    assert said == ["expectations: left to you, as no rule tells card-1 and card-2 apart, whose results differ: m_cc_r"]


@pytest.mark.parametrize("crashes", [False, True])
def test_cases_that_a_later_session_does_not_run_keep_what_was_seen_of_them(cwd: Path, crashes: bool) -> None:
    tables = (compiler("cc"), runtime("r", "local-task"), target("all", "cc", ["r"]), suite("linalg", targets=["all"]))
    (cwd / "suite.toml").write_text(declarations(*tables))
    bad = CaseRecord(name="f", outcome=Outcome.FAILED, stage="compare", signature="x")
    good = CaseRecord(name="g", outcome=Outcome.PASSED)
    all_of_them = replace(failed("m", "x"), cases=(bad, good))
    some = replace(
        compiled("m"),
        stage="compare",
        cases=(replace(bad, outcome=Outcome.NOT_RUN, stage=""), good),
        unselected_cases=("f",),
    )
    if crashes:
        crashed = CaseRecord(name="g", outcome=Outcome.XFAILED, stage="crash", signature="SIGSEGV")
        not_run = replace(bad, outcome=Outcome.NOT_RUN, stage="", excused=False)
        some = replace(failed("m", "SIGSEGV"), cases=(not_run, crashed))
    update = RuleUpdate()
    for record in (all_of_them, some):
        update.add(replace(of_m(record), target="m_cc_r", runtime="r"))
    assert ('+case = "f"', "green") in list(update.write(load_extensions()))


@pytest.mark.parametrize("has_own", [True, False])
def test_what_a_later_run_target_says_of_its_compile_counts(cwd: Path, has_own: bool) -> None:
    tables = (compiler("cc"), runtime("r", "local-task"), target("all", "cc", ["r"]), suite("linalg", targets=["all"]))
    (cwd / "suite.toml").write_text(declarations(*tables))
    broken, mended = of_m(failed("m", "no such op", "compile")), of_m(replace(compiled("m"), stage="compare"))
    for records, rules in (((mended, broken), 1), ((broken, mended), 0)):
        update = RuleUpdate()
        for session, record in enumerate(records):
            of_run = {} if has_own and not session else {"target": "m_cc_r", "runtime": "r"}
            update.add(replace(record, session=str(session), **of_run))
        list(update.write(load_extensions()))
        assert Path("expectations.toml").read_text().count("[[expectation]]") == rules
