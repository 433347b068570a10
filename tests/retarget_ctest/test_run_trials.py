"""What `retarget run` makes of how its targets end: lines, counts, results, exit status. The trials are doubles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target, run_target
from retarget.engine.trial.ends import AsExpected, NotTried, Skip
from retarget.engine.trial.failures import StageFailedError
from retarget.extension import UnavailableError
from retarget.model.outcomes import Failure, Stage
from retarget.results.files import read_results
from retarget.results.record import Outcome, TargetRecord
from retarget.support.errors import RetargetError
from retarget_ctest import run as command
from retarget_ctest.chosen import Chosen
from retarget_ctest.settings import SessionSettings


def failed(text: str) -> StageFailedError:
    return StageFailedError(Failure(stage=Stage.COMPILE, summary="bad"), text)


class Bench:
    """Targets of one suite that end so, what was asked of the engine, and what started."""

    def __init__(self, folder: Path) -> None:
        self.settings = SessionSettings(cache=folder / "cache", extensions=("of_ini",), cases=("ini*",))
        self.ends: list[tuple[TargetRecord, BaseException | None]] = []
        self.chosen_with: list[Any] = []
        self.rule_errors: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.engine: Any = SimpleNamespace(
            sweep=lambda: self.done.append("sweep"), notes=(), submit=self._submit, flush=None
        )
        self.done: list[Any] = []
        self.spares: list[bool] = []
        self.positions: list[int] = []
        self.needed = True
        self.error: Exception | None = None

    def end(self, outcome: Outcome, error: BaseException | None = None, *, runs: bool = False, **fields: Any) -> None:
        name = f"m{len(self.ends)}_c{'_r' if runs else ''}"
        known = {"nodeid": f"suite.toml::s::{name}", "target": name, "suite": "s", "module": "m"}
        self.ends.append((TargetRecord(outcome=outcome, **{**known, **fields}), error))

    def choose(self, arguments: argparse.Namespace, settings: SessionSettings, extensions: Any) -> Chosen:
        self.chosen_with.append((arguments, settings, tuple(extensions)))
        names = [record.target for record, _ in self.ends]
        home: Any = SimpleNamespace(nodeid="suite.toml::s", names=names, trial=self._trial)
        targets = []
        for name in names:
            target: Any = compile_target(name.split("_")[0])
            targets.append((home, run_target(target) if name.endswith("_r") else target))
        registry: Any = SimpleNamespace()
        return Chosen(targets=targets, registry=registry, rule_errors=self.rule_errors)

    def _trial(self, target: Any, _: object, *, position: int) -> Any:
        self.positions.append(position)
        wholes: tuple[()] = ()
        rules = SimpleNamespace(wholes=wholes)
        return SimpleNamespace(
            target=target, in_force=rules, compile_id="i", compile_target=f"compile of {target.name}", earlier=()
        )

    def _submit(self, targets: list[str]) -> None:
        self.done.append(targets)
        if self.error is not None:
            raise self.error

    @contextmanager
    def services(self, *_: object) -> Iterator[Any]:
        self.engine.notes = self.notes
        yield SimpleNamespace(engine=self.engine, is_compile_needed=lambda *_: self.needed)
        self.done.append("closed")

    def spare(self, *, forks: bool) -> Any:
        self.spares.append(forks)
        return SimpleNamespace(close=lambda: self.done.append("spare closed"))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path)
    left = iter(made.ends)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "session_settings", lambda: made.settings)
    monkeypatch.setattr(command, "named_extensions", tuple)
    monkeypatch.setattr(command, "choose", made.choose)
    monkeypatch.setattr(command, "_services", made.services)
    monkeypatch.setattr(command, "SpareWorker", made.spare)
    monkeypatch.setattr(command, "_tried", lambda *_, **__: next(left))
    return made


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--retarget-extension", action="append", default=[])
    command.add_arguments(parser)
    return command.run(parser.parse_args(words))


@pytest.mark.parametrize(
    ("outcomes", "status", "counts"),
    [
        ("passed passed", 0, "2 targets: 2 passed"),
        ("passed failed passed", 1, "3 targets: 2 passed, 1 failed"),
        ("xpassed xfailed", 1, "2 targets: 1 failed, 1 xfail"),
        ("error flaky", 1, "2 targets: 1 error, 1 flaky"),
        ("passed not-run", 1, "2 targets: 1 passed, 1 not run"),
        ("skipped skipped", 77, "2 targets: 2 skipped"),
        ("skipped passed", 0, "2 targets: 1 skipped, 1 passed"),
        ("passed", 0, ""),
        ("skipped", 77, ""),
    ],
)
def test_the_status_is_that_of_the_worst_outcome(
    outcomes: str, status: int, counts: str, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    for outcome in outcomes.split():
        bench.end(Outcome(outcome.replace("-", " ")))
    assert run("x") == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[len(bench.ends) :] == ([counts] if counts else [])
    assert bench.done[-1] == "closed"


def test_lines_are_those_of_pytest_and_a_failure_is_shown_whole(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.end(Outcome.FAILED, failed("compile: \x1b[1mbad\x1b[0m\nmore"))
    bench.end(Outcome.XFAILED, AsExpected("known", RetargetError("bad")), reason="known\x1b")
    bench.end(Outcome.SKIPPED, Skip("no device"), reason="no device", hint="plug it in")
    bench.end(Outcome.NOT_RUN, NotTried("lost"), reason="lost")
    bench.end(Outcome.XPASSED, RetargetError("it passed"))
    assert run("x") == 1
    assert capsys.readouterr().out.splitlines() == [
        "suite.toml::s::m0_c FAILED",
        "compile: bad",
        "more",
        "suite.toml::s::m1_c XFAIL (known?)",
        "suite.toml::s::m2_c SKIPPED (no device)",
        "hint: plug it in",
        "suite.toml::s::m3_c NOT RUN (lost)",
        "suite.toml::s::m4_c FAILED",
        "it passed",
        "5 targets: 2 failed, 1 xfail, 1 skipped, 1 not run",
    ]


@pytest.mark.parametrize(
    ("is_terminal", "text"), [(True, "\x1b[1mbad\x1b[0m"), (False, "bad")], ids=["terminal", "file"]
)
def test_colours_are_for_terminals(
    is_terminal: bool, text: str, bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.end(Outcome.FAILED, failed("\x1b[1mbad\x1b[0m"))
    monkeypatch.setattr(command.sys.stdout, "isatty", lambda: is_terminal)
    run("x")
    assert capsys.readouterr().out.splitlines()[1:] == [text]


def test_errors_of_rules_and_notes_are_named_and_decide_the_status(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.end(Outcome.PASSED)
    bench.rule_errors, bench.notes = ("suite.toml:3: a rule of no module",), ("a device was waited for",)
    assert run("x") == 1
    assert capsys.readouterr().err.splitlines() == ["a device was waited for", "suite.toml:3: a rule of no module"]


@pytest.mark.parametrize(("case", "status"), [("f", 0), ("nothing", 2)])
def test_a_case_that_no_module_has_is_wrong_usage(
    case: str, status: int, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.settings = SessionSettings(cache=bench.settings.cache)
    bench.end(Outcome.PASSED, unselected_cases=("f",))
    assert run("x", "--case", case) == status
    assert ("found 'nothing', which matches no case" in capsys.readouterr().err) is (status == 2)


def test_a_target_that_another_blocks_is_an_error_only_where_that_one_did_not_fail(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.end(Outcome.FAILED, RetargetError("bad"), nodeid="a")
    bench.end(Outcome.BLOCKED, Skip("a failed"), reason="a failed", blocked_by="a", nodeid="b")
    bench.end(Outcome.BLOCKED, Skip("c failed"), reason="c failed", blocked_by="c", nodeid="d")
    assert run("x") == 1
    assert capsys.readouterr().err.splitlines() == [
        "d: blocked by c, which did not fail when it was tried itself; run both again"
    ]


def test_what_an_ini_file_says_is_added_to_the_options(bench: Bench) -> None:
    bench.end(Outcome.PASSED)
    run("x", "--case", "f", "--retarget-extension", "mine")
    ((arguments, settings, extensions),) = bench.chosen_with
    assert (arguments.case, arguments.retarget_extension) == (["ini*", "f"], ["mine", "of_ini"])
    assert (settings, extensions, arguments.ignore_expectations) == (bench.settings, ("mine", "of_ini"), False)


@pytest.mark.parametrize(
    ("words", "of_ini", "ignored"), [([], True, True), (["--ignore-expectations"], False, True), ([], False, False)]
)
def test_expectations_are_ignored_where_the_option_or_the_ini_file_says_so(
    words: list[str], of_ini: bool, ignored: bool, bench: Bench
) -> None:
    bench.end(Outcome.PASSED)
    bench.settings = SessionSettings(cache=bench.settings.cache, ignores_expectations=of_ini)
    run("x", *words)
    assert bench.chosen_with[0][0].ignore_expectations is ignored


@pytest.mark.parametrize(
    ("runs", "extensions", "spares"),
    [([True], (), [True]), ([True, False], (), [False]), ([False], (), []), ([True], ("e",), [])],
)
def test_a_worker_starts_ahead_where_something_runs_and_no_extension_is_named(
    runs: list[bool], extensions: tuple[str, ...], spares: list[bool], bench: Bench
) -> None:
    bench.settings = SessionSettings(cache=bench.settings.cache, extensions=extensions)
    for one in runs:
        bench.end(Outcome.PASSED, runs=one)
    run("x")
    assert bench.spares == spares
    assert ("spare closed" in bench.done) is bool(spares)


@pytest.mark.parametrize("error", [None, UnavailableError("none"), RetargetError("bad")])
def test_several_targets_are_compiled_ahead_and_errors_wait_for_their_trials(
    error: Exception | None, bench: Bench
) -> None:
    bench.error = error
    for _ in range(2):
        bench.end(Outcome.PASSED)
    assert run("x") == 0
    assert bench.done == ["sweep", ["compile of m0_c"], ["compile of m1_c"], "closed"]


def test_one_target_is_not_compiled_ahead_nor_what_needs_no_compile(bench: Bench) -> None:
    bench.end(Outcome.PASSED)
    run("x")
    assert bench.done == ["sweep", "closed"]


def test_what_needs_no_compile_is_not_compiled_ahead(bench: Bench) -> None:
    bench.needed = False
    for _ in range(2):
        bench.end(Outcome.PASSED)
    run("x")
    assert bench.done == ["sweep", "closed"]


def test_results_have_each_target_its_text_and_the_status(bench: Bench, tmp_path: Path) -> None:
    where = {"file": str(tmp_path / "suite.toml"), "module_file": str(tmp_path / "sub" / "m.mlir")}
    bench.end(Outcome.FAILED, failed("\x1b[1mbad\x1b[0m\nmore"), **where)
    bench.end(Outcome.XFAILED, AsExpected("known", RetargetError("as known")))
    bench.end(Outcome.SKIPPED, Skip("no device"), reason="no device")
    assert run("x", "--results", "kept") == 1
    (session,) = read_results([tmp_path / "kept"])
    assert [(one.outcome, one.text) for one in session.records] == [
        ("failed", "bad\nmore"),
        ("xfailed", "as known"),
        ("skipped", ""),
    ]
    first = session.records[0]
    assert (first.file, first.module_file, session.records[1].file) == ("suite.toml", "sub/m.mlir", "")
    assert first.session
    assert session.end is not None
    assert session.end.status == 1
    assert bench.positions == [0, 1, 2]


def test_an_interrupted_run_says_how_far_it_came(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        bench.end(Outcome.PASSED)
    ends = iter([bench.ends[0]])

    def tried(*_: object, **__: object) -> Any:
        for end in ends:
            return end
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_tried", tried)
    with pytest.raises(KeyboardInterrupt):
        run("x")
    assert capsys.readouterr().err == "interrupted after 1 of 3 targets: 1 passed\n"
    with pytest.raises(KeyboardInterrupt):
        run("x")
    assert capsys.readouterr().err == "interrupted after 0 of 3 targets\n"
