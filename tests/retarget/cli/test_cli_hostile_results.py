"""Names and diagnostics that want to be more than text, through everything that reads results."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.model.outcomes import Observation
from retarget.results.files import Attribution, ResultsWriter, new_session
from retarget.results.record import CaseRecord, CompileRecord, DeviceRecord, Outcome, Result, RunRecord, TargetRecord

HOSTILE = (
    "a\"b'c</script><script>alert(1)</script><!--&amp;\x1b[31m\x1b]0;t\x07\x00\x7f\u202e\u2066\u2028\ud800 $(id) `x` |"
    "%0A::error::x ##[error]y {{7*7}} %s \\ \t\r\n::error::z\x85 é"
)
LONG = "x" * 10**6

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def record(number: int, text: str, session: str) -> TargetRecord:
    return TargetRecord(
        nodeid=f"s/suite.toml::{text}::{number}",
        file=f"s/{text}",
        suite=text,
        compiler=text,
        runtime=text,
        driver=text,
        target=text,
        module=text,
        tags=(text,),
        outcome=Outcome.FAILED,
        result=Result.FAILED,
        stage="run",
        observation=Observation(stage="run", signature=text[:200]),
        message=text,
        reason=text,
        hint=text,
        text=text,
        commands=(text,),
        cases=(CaseRecord(name=text, outcome=Outcome.FAILED, stage="run", signature=text[:200], reason=text),),
        compile=CompileRecord(key=text, build=text, seconds=1.0, started=1.0, worker=1),
        run=RunRecord(load_seconds=0.0, run_seconds=1.0, compare_seconds=0.0, started=2.0, wait_seconds=1.0),
        devices=(DeviceRecord(driver=text, uri=text, name=text, physical_id=text),),
        process=text,
        session=session,
        leg=text,
    )


@pytest.fixture(params=[HOSTILE, pytest.param(LONG, marks=pytest.mark.slow)], ids=["hostile", "long"])
def results(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    text = request.param
    start = new_session(selected=2, digest="d", leg=text, host=text, revision=text, arguments=(text,))
    with ResultsWriter(Path("results"), start) as writer:
        for number in range(2):
            writer.write(record(number, text, start.session))
        writer.write(Attribution(session=start.session, nodeid=f"s::{text}", sentence=text, section=text))
    return "results"


def test_what_is_printed_is_plain_text_in_lines_that_can_be_read(
    results: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for command, status in (
        (["results", "show", results, "--outcome", "failed"], 1),
        (["results", "diff", results, results], 0),
        (["history", "add", results, "--to", "history"], 0),
        (["history", "list", "--from", "history"], 0),
    ):
        assert main(command) == status
        printed = capsys.readouterr()
        assert not CONTROLS.search(printed.out + printed.err), command
        assert max(map(len, printed.out.splitlines()), default=0) < 10_000, command
        assert not [line for line in printed.out.splitlines() if line.lstrip().startswith("::")], command


def test_what_is_exported_can_be_read_by_others(results: str) -> None:
    for name in ("junit", "ctrf", "trace"):
        assert main(["results", "export", name, results, "-o", name]) == 0
    cases = list(ET.parse("junit").iter("testcase"))  # noqa: S314
    assert len(cases) == 3  # the session did not end
    assert len(json.loads(Path("ctrf").read_bytes())["results"]["tests"]) == 2
    assert json.loads(Path("trace").read_bytes())["traceEvents"]


def test_nothing_in_the_page_is_markup(results: str) -> None:
    assert main(["report", results, "-o", "site"]) == 0
    for script in Path("site/data").iterdir():
        assert not {"<", "\u2028", "\ud800"} & set(script.read_text(encoding="utf-8"))
    page = Path("site/index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "onerror" not in page


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": found no whole line, expected results; its session was killed at once: remove it"),
        ('{"type":"session"', ": found no whole line, expected results; its session was killed at once: remove it"),
        ("\0\0\n", ":1: found a damaged line, expected a record of results: JSON is malformed"),
        ("[" * 10**5 + "\n", ":1: found a damaged line, expected a record of results: Expected `object`, got `array`"),
        (
            '{"type":"session","version":7,"session":"s","started":1.0,"selected":1,"digest":"d"}\n',
            ":1: found results of version 7, expected 1; read them with the retarget that wrote them",
        ),
    ],
    ids=["empty", "cut", "nul", "deep", "version"],
)
def test_a_file_that_is_damaged_is_named_and_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(content)
    assert main(["results", "show", "a.jsonl"]) == 1
    assert capsys.readouterr().err.startswith(f"a.jsonl{message}")
