"""`retarget ci summary`: by signature, with denominators, escaped, and bounded."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.model import Observation
from retarget.results import (
    Leg,
    Outcome,
    Plan,
    Result,
    ResultsWriter,
    SessionResults,
    TargetRecord,
    Waived,
    digest_of_ids,
    new_session,
)
from retarget.results.files import SessionStart
from retarget_ci.summary import markdown

HOSTILE = "<script>alert(1)</script> ``` [a](javascript:b) | @team\n::error::forged\x1b[31m\x07 100%"


def record(name: str, *, outcome: Outcome = Outcome.PASSED, stage: str = "", signature: str = "", **more: object):
    observation = Observation(stage=stage, signature=signature) if signature else None
    return TargetRecord(
        nodeid=f"s/suite.toml::{name}", target=name, file="s/suite.toml", line=3, outcome=outcome,
        result=Result.PASSED if outcome is Outcome.PASSED else Result.FAILED, observation=observation, **more,
    )  # fmt: skip


def by_id(*records: TargetRecord) -> dict[str, TargetRecord]:
    return {one.nodeid: one for one in records}


def plan_of(*ids: str) -> Plan:
    leg = Leg(name="run-linux", kind="run", runner="linux", ids=ids, digest=digest_of_ids(ids))
    waived = Waived(ids=("s/suite.toml::w",), reason="no machine | yet", until="2030-01-01")
    return Plan(event="pr", paths=("s",), legs=(leg,), waived=(waived,))


def test_failures_are_grouped_by_stage_and_signature_largest_first_with_denominators() -> None:
    records = by_id(
        record("a"),
        record("b", outcome=Outcome.FAILED, stage="run", signature="out of memory", commands=("iree-run-module b",)),
        *(record(f"c{n}", outcome=Outcome.FAILED, stage="compile", signature="no rule", leg="build") for n in range(5)),
    )
    text = markdown(records)
    assert text.startswith("## retarget: 6 of 7 targets failed\n")
    assert "| failed | 6 | 85.7 % |\n| passed | 1 | 14.3 % |\n" in text
    assert text.index("### 5 of 7 targets: compile: `no rule`") < text.index("### 1 of 7 targets: run: `out of memory`")
    assert "- `s/suite.toml::c2` on `build`\n- and 2 more\n" in text
    assert "<pre>iree-run-module b</pre>" in text


def test_what_another_target_blocks_is_named_where_that_does_not_fail_among_the_results() -> None:
    blocked = record("b", outcome=Outcome.BLOCKED, blocked_by="s/suite.toml::a", reason="blocked by s/suite.toml::a")
    cause = record("a", outcome=Outcome.FAILED, stage="compile", signature="no rule")
    text = markdown(by_id(cause, blocked))
    assert text.startswith("## retarget: 1 of 2 targets failed\n")
    assert "blocked by" not in text
    for records in (by_id(blocked), by_id(record("a"), blocked)):
        text = markdown(records)
        assert text.startswith(f"## retarget: 1 of {len(records)} target")
        assert "target: `blocked by s/suite.toml::a`" in text.replace("targets:", "target:")
        assert "- `s/suite.toml::b`\n" in text


def test_what_is_missing_on_the_machine_is_counted_apart() -> None:
    found = {"a": (Outcome.SKIPPED, True), "b": (Outcome.SKIPPED, False), "c": (Outcome.PASSED, True)}
    text = markdown(by_id(*(record(name, outcome=one, unavailable=lacks) for name, (one, lacks) in found.items())))
    for name in ("skipped: missing on this machine", "skipped", "passed"):
        assert f"| {name} | 1 |" in text


def test_a_plan_is_the_denominator_and_what_is_missing_is_named() -> None:
    plan = plan_of("s/suite.toml::a", "s/suite.toml::b")
    text = markdown(by_id(record("a", plan=plan.digest), record("x")), plan)
    assert "1 of 2 planned targets with a result.\n" in text
    assert "**1 target planned, but without a result:** `s/suite.toml::b`\n" in text
    assert "**1 target with a result, but not planned:** `s/suite.toml::x`\n" in text
    assert "- 1 target not run by a waiver until `2030-01-01`: `no machine | yet`\n" in text


def test_a_result_of_another_plan_is_none_of_this_one_and_is_named() -> None:
    plan = plan_of("s/suite.toml::a", "s/suite.toml::b", "s/suite.toml::c")
    of_others = record("b", plan="0" * 64), record("c")
    text = markdown(by_id(record("a", plan=plan.digest), *of_others), plan)
    assert "1 of 3 planned targets with a result.\n" in text
    where = "`s/suite.toml::b`, `s/suite.toml::c`"
    assert f"**2 targets with a result of another plan, or of none:** {where}\n" in text


def test_a_session_that_is_not_whole_is_named() -> None:
    start = SessionStart(version=1, session="s", started=0.0, selected=2, digest="", leg="gpu`")
    session = SessionResults(start=start, records=(record("t"),))
    text = markdown(by_id(record("t")), None, [session])
    assert (
        "The session `` gpu` `` is not in order: it was killed, or still runs; 1 of 2 targets have no result." in text
    )


def test_nothing_in_a_diagnostic_is_markup() -> None:
    failed = record(HOSTILE, outcome=Outcome.FAILED, stage="run", signature=HOSTILE, commands=(HOSTILE,), leg=HOSTILE)
    text = markdown(by_id(failed))
    outside_code = [line for line in text.splitlines() if "<script>" in line and "````" not in line]
    assert outside_code == []
    assert html.escape("<script>alert(1)</script>") in text
    assert not {"\x1b", "\x07"} & set(text)


def test_the_page_stays_below_githubs_limit_and_says_what_it_leaves_out() -> None:
    failed = [
        record(f"t{n}" + "é" * 500, outcome=Outcome.FAILED, stage="run", signature=f"{n} " + "x" * 2000)
        for n in range(1500)
    ]
    text = markdown(by_id(*failed))
    assert 900_000 < len(text.encode()) < 2**20
    assert "further groups left out: the page would be too long." in text


def test_on_github_the_page_gets_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    start = new_session(selected=1, digest="")
    with ResultsWriter(tmp_path / "results", start) as writer:
        writer.write(record("a", outcome=Outcome.FAILED, stage="run", signature="wrong", session=start.session))
        writer.end(1)
    (tmp_path / "plan.json").write_bytes(plan_of("s/suite.toml::a").text)
    command = ["ci", "summary", "--results", str(tmp_path / "results"), "--plan", str(tmp_path / "plan.json")]
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("## retarget `pr`: 1 of 1 target failed\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))
    assert main(command) == 0
    assert (tmp_path / "page.md").read_text() == printed
    assert capsys.readouterr().out == ""


def test_of_a_run_without_any_results_all_that_is_planned_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "plan.json").write_bytes(plan_of("s/suite.toml::a").text)
    command = ["ci", "summary", "--results", str(tmp_path / "none")]
    assert main([*command, "--plan", str(tmp_path / "plan.json")]) == 0
    assert "0 of 1 planned target with a result.\n" in capsys.readouterr().out
    assert main(command) == 1
    assert "found no such file or folder" in capsys.readouterr().err


def test_a_run_in_which_all_is_waived_is_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    plan, none = str(tmp_path / "plan.json"), str(tmp_path / "none")
    (tmp_path / "plan.json").write_bytes(Plan(event="pr", paths=(".",)).text)
    assert main(["ci", "verify", "--plan", plan, "--results", none]) == 0
    assert main(["report", none, "--plan", plan, "-o", str(tmp_path / "site")]) == 0
    capsys.readouterr()
    assert main(["ci", "summary", "--plan", plan, "--results", none]) == 0
    assert capsys.readouterr().out.endswith("targets failed\n\n\n0 of 0 planned targets with a result.\n")
