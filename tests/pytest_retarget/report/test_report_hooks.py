"""Hooks that take reports: bundles, annotations of GitHub, cases as subtests, what `--lf` remembers. pytest's own parts
are doubles."""

from __future__ import annotations

import importlib.util
import io
import subprocess
from collections.abc import Generator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.collect.requirements import Refusing
from pytest_retarget.internals import TerminalWriter
from pytest_retarget.items.targets import PlainWhereItMust
from pytest_retarget.options import SETTINGS
from pytest_retarget.record import RECORD
from pytest_retarget.report import bundles, recording
from pytest_retarget.report.bundles import Bundles
from pytest_retarget.report.github import GitHub
from pytest_retarget.report.recording import RememberBlocked
from retarget.model import Observation
from retarget.results import CaseRecord, Outcome, Result, TargetRecord
from retarget.support.github import MAX_ANNOTATIONS


class Terminal:
    """Lines that were written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.red: list[str] = []
        self.errors: Sequence[str] = ()

    def write_line(self, line: str, *, red: bool = False) -> None:
        (self.red if red else self.lines).append(line)

    def ensure_newline(self) -> None:
        pass


def record(name: str = "m_c", outcome: Outcome = Outcome.FAILED, signature: str = "bad", **more: Any) -> TargetRecord:
    values = {"nodeid": f"s.toml::s::{name}", "suite": "s", "target": name, "outcome": outcome}
    values |= {"result": Result.FAILED, "observation": Observation(stage="compile", signature=signature)}
    return TargetRecord(**values | more)


def report(of: TargetRecord | None = None, *, nodeid: str = "", longrepr: Any = "text\nmore", **more: Any) -> Any:
    found = pytest.TestReport(
        nodeid=nodeid or (of.nodeid if of is not None else "a.py::test"),
        location=("s.toml", 3, "s"),
        keywords={},
        outcome=more.pop("outcome", "failed" if of is None or of.outcome.is_bad else "passed"),
        longrepr=longrepr,
        when="call",
        start=10.0,
        **more,
    )
    if of is not None:
        setattr(found, RECORD, of)
    return found


def exhausted(hook: Generator[Any, Any, Any]) -> None:
    """Do what a wrapper does before and after the hooks that it wraps."""
    next(hook)
    with pytest.raises(StopIteration):
        hook.send(None)


# ---------------------------------------------------------------- the page


@pytest.mark.parametrize(
    ("status", "said"), [(0, "page: file:///site"), (1, "ERROR: --retarget-report: no space"), (1, None)]
)
def test_a_session_ends_with_the_address_of_its_page_or_why_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, said: str | None
) -> None:
    (tmp_path / "a.jsonl").touch()
    done = SimpleNamespace(returncode=status, stdout="" if status else "file:///site\n", stderr="no space\n")
    monkeypatch.setattr(bundles.subprocess, "run", lambda *_, **given: done if given["capture_output"] else None)
    terminal = Terminal()
    manager = SimpleNamespace(get_plugin=lambda _: None if said is None else terminal)
    config: Any = SimpleNamespace(pluginmanager=manager)
    session: Any = SimpleNamespace(exitstatus=0)
    exhausted(bundles.Page(config, tmp_path / "site", tmp_path).pytest_sessionfinish(session))
    assert session.exitstatus == (4 if status else 0)
    assert (terminal.red if status else terminal.lines) == ([] if said is None else [said])


# ---------------------------------------------------------------- bundles


class Packing:
    """A session whose bundles are written by a `retarget repro` that says what it is to say."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.terminal = folder / "bundles", Terminal()
        self.settings = SimpleNamespace(artifacts=None, extensions=("e",), toolchains={"t": "/p", "u": None})
        manager = SimpleNamespace(get_plugin=lambda _: self.terminal)
        self.config: Any = SimpleNamespace(stash={SETTINGS: self.settings}, pluginmanager=manager, rootpath=folder)
        self.session: Any = SimpleNamespace(exitstatus=0)
        self.says: list[tuple[int, str, str]] = []
        self.commands: list[list[str]] = []
        monkeypatch.setattr(bundles, "cache_dir", lambda _: folder / "cache")
        monkeypatch.setattr(bundles, "subprocess", SimpleNamespace(run=self._run, DEVNULL=subprocess.DEVNULL))

    def _run(self, command: list[str], *, cwd: Path, env: dict[str, str], **_: Any) -> Any:
        self.commands.append(command[3:])
        assert (cwd, env["RETARGET_CACHE_DIR"]) == (self.config.rootpath, str(cwd / "cache"))
        status, output, errors = self.says.pop(0)
        return SimpleNamespace(returncode=status, stdout=output, stderr=errors)

    def pack(self, *records: TargetRecord) -> None:
        hooks = Bundles(self.config, self.folder)
        hooks.pytest_runtest_logreport(report())
        for one in records:
            hooks.pytest_runtest_logreport(report(one))
        exhausted(hooks.pytest_sessionfinish(self.session))


@pytest.fixture
def packing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packing:
    return Packing(tmp_path, monkeypatch)


def test_a_bundle_of_each_signature_is_written(packing: Packing) -> None:
    packing.says = [(0, "x: 5 bytes\nbundle.json holds A\nreproduced once\n", ""), (0, "y: 5 bytes\nflaky\n", "")]
    packing.pack(record("a/m"), record("n"), record("o", signature="other"), record("p", outcome=Outcome.PASSED))
    assert packing.commands == [
        ["repro", "s.toml::s::a/m", "-o", str(packing.folder / "s-a-m.tar.zst"), *OPTIONS],
        ["repro", "s.toml::s::o", "-o", str(packing.folder / "s-o.tar.zst"), *OPTIONS],
    ]
    assert packing.terminal.lines[1:] == [
        "  s-a-m.tar.zst  reproduced once (2 targets)",
        "    bundle.json holds A",
        "  s-o.tar.zst  flaky",
    ]
    assert packing.terminal.lines[0].startswith("bundles of 2 signatures, in ")
    assert (packing.terminal.red, packing.session.exitstatus) == ([], 0)


OPTIONS = ["--retarget-extension", "e", "--retarget-toolchain", "t=/p", "--retarget-toolchain", "u=PATH"]


def test_ten_bundles_are_written_at_most(packing: Packing) -> None:
    packing.says = [(0, "x\nsaid\n", "")] * 10
    packing.pack(*(record(name, signature=name) for name in "abcdefghijkl"))
    assert len(packing.commands) == 10
    assert packing.terminal.lines[-1] == "  2 more without one: `retarget repro TARGET` writes it"


def test_nothing_is_said_where_nothing_failed(packing: Packing) -> None:
    packing.pack(record(outcome=Outcome.PASSED), record(outcome=Outcome.XFAILED))
    assert (packing.terminal.lines, packing.folder.exists()) == ([], False)


def test_what_is_not_reproduced_is_said_with_what_was_found(packing: Packing) -> None:
    packing.says = [(3, "", "it does not fail:\n  expected: compile: bad\n  found: good\nmore\n")]
    packing.pack(record())
    assert packing.terminal.lines[1:] == [
        "  not reproduced: s.toml::s::m_c  compile: bad",
        "    expected: compile: bad",
        "    found: good",
    ]
    assert packing.session.exitstatus == 0


@pytest.mark.parametrize(
    ("output", "errors", "why"), [("", "first\nlast\n \n", "last"), ("said\n", "", "said"), ("", "", "exit status 1")]
)
def test_a_bundle_that_cannot_be_written_is_an_error(output: str, errors: str, why: str, packing: Packing) -> None:
    packing.says = [(1, output, errors)]
    packing.pack(record())
    assert packing.terminal.red == [f"ERROR: --retarget-repro: s.toml::s::m_c: {why}"]
    assert packing.session.exitstatus == pytest.ExitCode.USAGE_ERROR


def test_a_folder_that_cannot_be_made_is_an_error_and_keeps_the_status(packing: Packing) -> None:
    packing.folder.touch()
    packing.session.exitstatus = 1
    packing.pack(record())
    assert packing.terminal.red == [f"ERROR: --retarget-repro: {packing.folder} cannot be created: File exists"]
    assert (packing.session.exitstatus, packing.commands) == (1, [])


def test_bundles_need_a_package(packing: Packing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(pytest.UsageError, match="--retarget-repro needs the package zstandard, which is not"):
        Bundles(packing.config, packing.folder)


# ---------------------------------------------------------------- annotations


class Job:
    """A job of GitHub Actions, in which nothing hides failures."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.terminal = folder, Terminal()
        self.option = SimpleNamespace(no_summary=False, tbstyle="auto")
        self.plugins = set[str]()
        config: Any = SimpleNamespace(
            rootpath=folder,
            option=self.option,
            invocation_params=SimpleNamespace(dir=folder),
            pluginmanager=SimpleNamespace(has_plugin=lambda name: name in self.plugins),
        )
        terminal: Any = self.terminal
        self.hooks = GitHub(config, terminal)

    def annotations(self) -> list[str]:
        exhausted(self.hooks.pytest_terminal_summary(self.terminal))
        return [line for line in self.terminal.lines if line.startswith("::error")]


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    return Job(tmp_path)


def test_failures_with_one_signature_are_one_annotation_the_most_first(job: Job) -> None:
    for one in (record("a", signature="alone"), record("c"), record("b")):
        job.hooks.pytest_runtest_logreport(report(one))
    job.hooks.pytest_runtest_logreport(report(record("d", signature="passed"), outcome="passed"))
    first, second = job.annotations()
    assert (
        first == "::error file=s.toml,line=1,title=s.toml%3A%3As%3A%3Ab and 1 more::text%0As.toml::s::b%0As.toml::s::c"
    )
    assert second == "::error file=s.toml,line=1,title=s.toml%3A%3As%3A%3Aa::text"
    opened = [line for line in job.terminal.lines if line.startswith("::group::")]
    assert opened == ["::group::failures: 2 signatures"]
    assert job.terminal.lines.count("::endgroup::") == 1


def test_errors_of_declarations_are_at_their_line(job: Job) -> None:
    job.terminal.errors = ["s.toml:7: bad", "elsewhere"]
    text = "s.toml:3: unknown key\nand more\nt.toml:4: another"
    failed = pytest.CollectReport(nodeid="s.toml", outcome="failed", longrepr=text, result=None)
    job.hooks.pytest_collectreport(failed)
    other = pytest.CollectReport(nodeid="u.py", outcome="failed", longrepr="no place", result=None)
    job.hooks.pytest_collectreport(other)
    assert sorted(job.annotations()) == [
        "::error file=s.toml,line=3,title=s.toml%3A3::unknown key",
        "::error file=s.toml,line=7,title=s.toml%3A7::bad",
        "::error file=t.toml,line=4,title=t.toml%3A4::another",
        "::error file=u.py,line=1,title=u.py::no place",
    ]


def test_another_plugin_leaves_the_job_without_annotations_and_a_leg_of_a_plan_does_not(job: Job) -> None:
    job.hooks.pytest_runtest_logreport(report(record()))
    job.plan = "plan.json"
    assert len(job.annotations()) == 1
    job.plugins = {"pytest_github_actions_annotate_failures"}
    job.terminal.lines.clear()
    assert job.annotations() == []


def test_what_is_not_shown_is_not_folded(job: Job) -> None:
    job.hooks.pytest_runtest_logreport(report(record()))
    job.option.tbstyle = "no"
    job.annotations()
    job.option.tbstyle, job.option.no_summary = "auto", True
    job.annotations()
    assert not any("group" in line for line in job.terminal.lines)


def test_the_rest_of_many_signatures_is_counted(job: Job) -> None:
    count = MAX_ANNOTATIONS + 2
    for number in range(count):
        job.hooks.pytest_runtest_logreport(report(record(f"m{number}", signature=f"{number}")))
    found = job.annotations()
    assert len(found) == MAX_ANNOTATIONS
    assert found[-1] == "::error title=retarget::3 further signatures failed"


def test_the_section_ends_before_others(job: Job) -> None:
    job.hooks.pytest_runtest_logreport(report(record()))
    hook = job.hooks.pytest_terminal_summary(job.terminal)
    next(hook)
    job.hooks.pytest_after_failures()
    assert job.terminal.lines[-1] == "::endgroup::"


# ---------------------------------------------------------------- cases


def test_cases_of_a_target_with_several_are_reported_to_what_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    asked: list[Any] = []

    def hook(name: str, plugins: Any) -> Any:
        asked.append((name, plugins))
        return lambda *, report: seen.append(report)

    junit = object()
    monkeypatch.setattr(recording, "junit_log", lambda _: junit)
    manager = SimpleNamespace(get_plugin={"session": "S"}.get, subset_hook_caller=hook)
    config: Any = SimpleNamespace(pluginmanager=manager)
    cases = (
        CaseRecord(name="f", outcome=Outcome.PASSED, seconds=1.5),
        CaseRecord(name="g", outcome=Outcome.FAILED, seconds=0.5, reason="bad", stage="run", signature="INTERNAL"),
        CaseRecord(name="h", outcome=Outcome.XFAILED, reason="known"),
        CaseRecord(name="i", outcome=Outcome.NOT_RUN, reason="skipped by a rule"),
    )
    recording.log_cases(config, report(), record(cases=cases[:1]))
    assert seen == []
    recording.log_cases(config, report(), record(cases=cases))
    assert asked == [("pytest_runtest_logreport", ["S", junit])]
    assert [(one.outcome, one.longrepr, one.start, one.stop, one.context.msg) for one in seen] == [
        ("passed", None, 10.0, 11.5, "f"),
        ("failed", "bad", 10.0, 10.5, "g"),
        ("skipped", "known", 10.0, 10.0, "h"),
        ("skipped", ("s.toml", 4, "Skipped: skipped by a rule"), 10.0, 10.0, "i"),
    ]
    assert seen[1].user_properties == [
        ("retarget.case", "g"),
        ("retarget.outcome", "failed"),
        ("retarget.seconds", "0.500000"),
        ("retarget.stage", "run"),
        ("retarget.signature", "INTERNAL"),
    ]
    assert [getattr(one, "wasxfail", None) for one in seen] == [None, None, "known", None]
    shown: Any = SimpleNamespace(get_verbosity=lambda _: 1)
    quiet: Any = SimpleNamespace(get_verbosity=lambda _: 0)
    assert [recording.case_status(one, quiet) for one in seen] == [("", "", "")] * 4
    assert [recording.case_status(one, shown) for one in seen] == [
        ("subtests passed", "u", ("SUBPASSED[f]", {"green": True})),
        ("subtests failed", "u", ("SUBFAILED[g]", {"red": True})),
        ("subtests xfailed", "y", ("SUBXFAIL[h]", {"yellow": True})),
        ("subtests skipped", "-", ("SUBSKIPPED[i]", {"yellow": True})),
    ]
    assert recording.case_status(report(), shown) is None


# ---------------------------------------------------------------- what is remembered, what is refused


@pytest.mark.parametrize(
    ("outcome", "remembered"),
    [(Outcome.BLOCKED, True), (Outcome.NOT_RUN, True), (Outcome.SKIPPED, False), (Outcome.FAILED, False)],
)
def test_what_was_blocked_or_not_run_is_run_again_with_lf(outcome: Outcome, remembered: bool) -> None:
    seen: list[str] = []
    plugin: Any = SimpleNamespace(pytest_runtest_logreport=lambda report: seen.append(report.outcome))
    config: Any = SimpleNamespace(pluginmanager=SimpleNamespace(getplugin={"lfplugin": plugin}.get))
    given = report(record(outcome=outcome), outcome="skipped")
    RememberBlocked(config).pytest_runtest_logreport(given)
    RememberBlocked(config).pytest_runtest_logreport(report(outcome="skipped"))
    assert (seen, given.outcome) == (["failed"] if remembered else [], "skipped")
    without: Any = SimpleNamespace(pluginmanager=SimpleNamespace(getplugin=lambda _: None))
    RememberBlocked(without).pytest_runtest_logreport(given)


@pytest.mark.parametrize("failed_before", [True, False])
def test_what_failed_is_run_again_with_lf_after_a_part_of_its_cases_passed(failed_before: bool) -> None:
    seen: list[str] = []
    given = report(record(outcome=Outcome.PARTIAL))
    known = {given.nodeid: True} if failed_before else {}
    plugin: Any = SimpleNamespace(
        pytest_runtest_logreport=lambda report: seen.append(report.outcome),
        config=SimpleNamespace(cache=SimpleNamespace(get=lambda *_: known)),
    )
    config: Any = SimpleNamespace(pluginmanager=SimpleNamespace(getplugin={"lfplugin": plugin}.get))
    RememberBlocked(config).pytest_runtest_logreport(given)
    assert seen == (["failed"] if failed_before else [])


def test_errors_refuse_to_run_anything() -> None:
    config: Any = SimpleNamespace()
    items: list[Any] = ["item"]
    refusing = Refusing(config, "errors")
    refusing.refuse([], items)
    assert items == ["item"]
    with pytest.raises(pytest.UsageError, match="bad"):
        refusing.refuse(["bad"], items)


def test_errors_of_workers_are_shown_once_by_the_controller() -> None:
    worker: Any = SimpleNamespace(workerinput={}, workeroutput={})
    items: list[Any] = ["item"]
    of_worker = Refusing(worker, "errors")
    of_worker.refuse(["bad", "bad"], items)
    session: Any = SimpleNamespace(config=worker, exitstatus=0)
    of_worker.pytest_sessionfinish(session)
    assert (items, worker.workeroutput, session.exitstatus) == ([], {"errors": ["bad"]}, 0)

    controller: Any = SimpleNamespace()
    refusing, terminal = Refusing(controller, "errors"), Terminal()
    refusing.pytest_sessionfinish(session)
    assert session.exitstatus == 0
    for node in (worker, worker, SimpleNamespace()):
        refusing.pytest_testnodedown(node)
    refusing.pytest_sessionfinish(session)
    refusing.pytest_terminal_summary(terminal)
    assert (terminal.red, session.exitstatus) == (["ERROR: bad"], pytest.ExitCode.USAGE_ERROR)


@pytest.mark.parametrize(
    ("markup", "text"), [(False, "head\nnote: it\n"), (True, "\x1b[31m\x1b[1mhead\x1b[0m\n\x1b[2mnote\x1b[0m: it\n")]
)
def test_a_failure_has_its_colours_and_a_red_head_where_there_are_colours(*, markup: bool, text: str) -> None:
    writer = TerminalWriter(file := io.StringIO())
    writer.hasmarkup = markup
    PlainWhereItMust(["head\n", "\x1b[2mnote\x1b[0m: it\n"]).toterminal(writer)
    assert file.getvalue() == text
