"""Lines that show how far the compiles are."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import termios
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from _pytest._io import TerminalWriter
from _pytest._io.wcwidth import wcswidth
from pytest_retarget.session.progress import Progress, _fitting, status
from retarget.session import BuildActivity


def activity(done: int, total: int, *running: tuple[str, float]) -> BuildActivity:
    return BuildActivity(done=done, total=total, running=running)


class Log:
    """As much of pytest's terminal reporter as lines in a log use."""

    def __init__(self, verbosity: int = 0) -> None:
        self.verbosity = verbosity
        self._tw = TerminalWriter(io.StringIO())
        self.lines: list[str] = []

    def ensure_newline(self) -> None:
        pass

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def progress_in(log: Log | None) -> Progress:
    config = SimpleNamespace(pluginmanager=SimpleNamespace(getplugin={"terminalreporter": log}.get))
    return Progress(cast("pytest.Config", config))


def test_a_log_gets_a_line_now_and_then_and_only_while_something_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("pytest_retarget.session.progress.time.monotonic", lambda: now)
    log = Log()
    progress = progress_in(log)
    for done in range(60):
        progress._activity = partial(activity, done, 60, ("linalg/matmul (llvm-cpu)", 1.0))
        now += 0.5
        progress._tick()
        with progress.waiting():
            now += 0.5
            progress._tick()
    assert log.lines == [
        "retarget: compiled 29 of 60: linalg/matmul (llvm-cpu) 1 s",
        "retarget: compiled 59 of 60: linalg/matmul (llvm-cpu) 1 s",
    ]


def test_a_note_is_a_line_of_its_own_also_within_a_row_of_dots() -> None:
    log = Log(verbosity=-1)
    log.write_line = log._tw.line  # type: ignore[method-assign]
    progress = progress_in(log)
    progress.note("at the start of a line")
    for dot in "..F":
        log._tw.write(dot)
    progress.note("waiting for a device")
    log._tw.write(".")
    assert log._tw._file.getvalue() == (  # type: ignore[attr-defined]
        "retarget: at the start of a line\n..F\nretarget: waiting for a device\n."
    )


@pytest.mark.parametrize(
    ("environment", "columns", "written"),
    [
        ({}, 40, "..\x1b7\x1b[?7l compiled 1 of 2: s/a (c) 1 s\x1b[J\x1b8\x1b[?7h\x1b[J"),
        ({}, 28, "..\x1b7\x1b[?7l compiled 1 of 2: s/a ...\x1b[J\x1b8\x1b[?7h\x1b[J"),
        ({}, 27, ".."),
        ({"TERM": "dumb"}, 40, ".."),
        ({"CI": "true"}, 40, ".."),
        ({"BUILD_NUMBER": "1"}, 40, ".."),
    ],
)
def test_a_terminal_shows_it_behind_its_current_line_and_nothing_of_it_is_left(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], columns: int, written: str
) -> None:
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"TERM": "xterm"} | environment).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("pytest_retarget.session.progress.PATIENCE", 0.0)
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    with os.fdopen(slave, "w") as file:
        log = Log()
        log._tw = TerminalWriter(file)
        progress = progress_in(log)
        progress._activity = partial(activity, 1, 2, ("s/a (c)", 1.0))
        log._tw.write("..", flush=True)
        with progress.waiting():
            progress._tick()
        progress.close()
        log._tw.write("\n", flush=True)
        with os.fdopen(master, newline="") as shown:
            assert shown.readline() == f"{written}\r\n"


def test_a_file_is_no_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"TERM": "xterm", "CI": "", "BUILD_NUMBER": ""}.items():
        monkeypatch.setenv(name, value)
    log = Log(verbosity=-1)
    with (tmp_path / "log").open("w") as file:
        log._tw = TerminalWriter(file)
        assert not progress_in(log).shows


@pytest.mark.parametrize("log", [None, Log(verbosity=-1)], ids=["no terminal reports", "quiet"])
def test_nothing_is_shown_where_no_terminal_reports_or_a_log_is_quiet(log: Log | None) -> None:
    assert not progress_in(log).shows


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (activity(0, 3), "compiled 0 of 3"),
        (activity(0, 3, ("s/a (c)", 0.2)), "compiled 0 of 3: s/a (c) 0 s"),
        (
            activity(0, 9, *((f"s/{name} (c)", 1.0) for name in "abcde")),
            "compiled 0 of 9: s/a (c) 1 s, s/b (c) 1 s, s/c (c) 1 s and 2 more",
        ),
        (activity(0, 1, ("s/\x1b[2J\n\u202ea\ud800 (c)", 1.0)), "compiled 0 of 1: s/??a? (c) 1 s"),
    ],
)
def test_a_status_says_how_many_how_long_and_what(found: BuildActivity, text: str) -> None:
    assert status(found) == text


@pytest.mark.parametrize(("columns", "text"), [(30, "done: モジュール"), (13, "done: モジ..."), (12, "done: モ...")])
def test_a_status_is_cut_to_the_columns_that_its_characters_take(columns: int, text: str) -> None:
    assert _fitting("done: モジュール", columns) == text
    assert wcswidth(text) <= columns
