"""The small parts: colours, lines of progress, shares of the cores, the fixed marks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pytest_retarget.collect.unknown_words import unknown_words
from pytest_retarget.options import MARKERS, Settings
from pytest_retarget.report.failures import at_path, split_place
from pytest_retarget.report.progress import Progress
from pytest_retarget.session import compiles_at_a_time
from retarget.model import CompilerConfig, CompileTarget, Module, Origin
from retarget.support.text import strip_colour
from retarget.targets.tags import MARK_FIELDS
from retarget.worker.process import available_cores


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a.mlir:1:1: \x1b[0;1;31merror\x1b[0m: no", "a.mlir:1:1: error: no"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("[0m is no escape sequence", "[0m is no escape sequence"),
    ],
)
def test_escape_sequences_are_taken_out(text: str, plain: str) -> None:
    assert strip_colour(text) == plain


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a.mlir:3:8: error: no", "s t/a.mlir:3:8: error: no"),
        ("\x1b[1ma.mlir:3:8: no\nx\na.mlir:1:1: note", "\x1b[1ms t/a.mlir:3:8: no\nx\ns t/a.mlir:1:1: note"),
        ("b/a.mlir:3:8: or ba.mlir:3:8: or a.mlir alone", "b/a.mlir:3:8: or ba.mlir:3:8: or a.mlir alone"),
    ],
)
def test_a_compilers_message_gets_the_path_to_its_source(text: str, told: str) -> None:
    assert at_path(text, "a.mlir", "s t/a.mlir") == told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a and b", []),
        ("a or c or not d", ["c", "d"]),
        ("(c or a) and d(name='x')", ["c", "d"]),
    ],
)
def test_each_unknown_word_of_an_expression_is_found(text: str, said: list[str]) -> None:
    assert unknown_words(text, ["a", "b"]) == [f"-m {text!r}: no target has the tag {word!r}" for word in said]


@pytest.mark.parametrize(
    ("summary", "parts"),
    [
        ("a.mlir:3:8: error: no", ("error: no", 3)),
        ("error: no", ("error: no", 0)),
        ("a.mlir:3:8: ", ("a.mlir:3:8: ", 0)),
        ("b.mlir:3:8: error", ("b.mlir:3:8: error", 0)),
    ],
)
def test_the_place_is_told_apart_from_the_message(summary: str, parts: tuple[str, int]) -> None:
    assert split_place(summary, "a.mlir") == parts


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


MATMUL = CompileTarget(
    name="matmul_llvm-cpu",
    suite="linalg",
    kind="check",
    folder=Path("linalg"),
    module=Module(name="matmul", path=Path("linalg/matmul.mlir")),
    compiler=CompilerConfig(
        name="llvm-cpu", compiler="iree", origin=Origin(file=Path("matrix.toml"), key_path="compiler_config[0]")
    ),
    flags=(),
    timeout=None,
    tags=(),
)


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
    monkeypatch.setattr("pytest_retarget.report.progress.time.monotonic", lambda: now)
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


@pytest.mark.parametrize(
    ("jobs", "processes", "share"), [(8, 1, 8), (8, 3, 2), (1, 4, 1), (0, 1, available_cores()), (0, 1000, 1)]
)
def test_processes_share_the_compiles_at_a_time(jobs: int, processes: int, share: int) -> None:
    assert compiles_at_a_time(Settings(jobs=jobs), processes) == share


def test_the_fixed_marks_are_those_that_targets_get() -> None:
    told = {line.partition(":")[0] for line in MARKERS}
    assert told == {"compile", "run"} | {f"{name}({', '.join(fields)})" for name, fields in MARK_FIELDS}
