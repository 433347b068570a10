"""Lines that show what is compiled while a target waits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from model_targets import compile_target
from pytest_retarget.session.progress import Progress


class Terminal:
    """As much of pytest's terminal reporter as the lines of progress use."""

    def __init__(self, *, is_terminal: bool) -> None:
        self.verbosity = 0
        self.hasmarkup = is_terminal
        self.isatty = lambda: is_terminal
        self._tw = SimpleNamespace(fullwidth=100, width_of_current_line=12)
        self.lines: list[str] = []

    def ensure_newline(self) -> None:
        pass

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def progress_on(terminal: Terminal | None) -> Progress:
    config = SimpleNamespace(pluginmanager=SimpleNamespace(getplugin={"terminalreporter": terminal}.get))
    return Progress(cast("pytest.Config", config))


MATMUL = compile_target("matmul", "llvm-cpu")


def test_a_terminal_shows_what_is_compiled_of_how_many_until_it_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(is_terminal=True)
    with progress_on(terminal).of(MATMUL) as on_wait:
        assert on_wait is not None
        on_wait(0.1, 2, 120)
        assert capsys.readouterr().out == ""
        on_wait(2.3, 2, 120)
        assert capsys.readouterr().out == "\x1b7 compiling 3 of 120: linalg/matmul (llvm-cpu), 2 s\x1b[K\x1b8"
    assert capsys.readouterr().out == "\x1b[K"
    assert terminal.lines == []


def test_a_log_gets_a_line_now_and_then_and_not_one_per_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("pytest_retarget.session.progress.time.monotonic", lambda: now)
    terminal = Terminal(is_terminal=False)
    progress = progress_on(terminal)
    for done in range(60):
        now += 1.0
        with progress.of(MATMUL) as on_wait:
            assert on_wait is not None
            on_wait(1.0, done, 60)
    assert terminal.lines == [
        "retarget: compiling 30 of 60: linalg/matmul (llvm-cpu), 1 s",
        "retarget: compiling 60 of 60: linalg/matmul (llvm-cpu), 1 s",
    ]
    assert capsys.readouterr().out == ""


def test_nothing_is_shown_where_no_terminal_reports_or_it_is_quiet() -> None:
    quiet = Terminal(is_terminal=True)
    quiet.verbosity = -1
    for terminal in (None, quiet):
        with progress_on(terminal).of(MATMUL) as on_wait:
            assert on_wait is None
