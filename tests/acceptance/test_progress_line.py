"""What is compiled, behind pytest's current line: in sessions on a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyte
import pytest
from acceptance_support import DOUBLES, Project

COLUMNS = 100


@dataclass(kw_only=True)
class Terminal:
    """A terminal with a session of pytest in it."""

    process: subprocess.Popen[bytes]
    master: int
    screen: pyte.Screen = field(default_factory=lambda: pyte.Screen(COLUMNS, 60))
    written: bytes = b""

    def __post_init__(self) -> None:
        self.stream = pyte.ByteStream(self.screen)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
        self.screen.resize(60, columns)

    def read_until(self, is_there: Callable[[list[str]], object]) -> None:
        """Show what comes until the lines on the screen are as expected."""
        while not is_there(self.lines):
            assert self.read(), "\n".join(self.lines)

    def read(self) -> bool:
        """Show what comes next; whether there was anything before the session ended."""
        assert select.select([self.master], [], [], 60)[0], "\n".join(self.lines)
        try:
            data = os.read(self.master, 65536)
        except OSError:  # nobody has the terminal any more
            return False
        self.written += data
        self.stream.feed(data)
        return bool(data)

    def read_to_the_end(self) -> None:
        while self.read():
            pass
        assert self.process.wait(20) == 1


@pytest.fixture
def open_terminal(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Terminal]]:
    """Start pytest in a terminal of its own."""
    opened: list[Terminal] = []
    for name in ("COLUMNS", "LINES", "CI", "BUILD_NUMBER", "NO_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)

    def open_one(*arguments: str, **environment: str) -> Terminal:
        master, slave = pty.openpty()
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *DOUBLES, *arguments],
            cwd=project.path,
            env={**os.environ, "TERM": "xterm-256color", **environment},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        opened.append(Terminal(process=process, master=master))
        return opened[-1]

    yield open_one
    for terminal in opened:
        if terminal.process.poll() is None:
            os.killpg(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait(20)
        os.close(terminal.master)


def end_compiles(pid_file: Path, session: subprocess.Popen[bytes] | subprocess.Popen[str]) -> threading.Thread:
    """End each compile that hangs, until the session ends: it fails, and the session goes on."""

    def kill() -> None:
        while session.poll() is None:
            if pid_file.exists():
                os.kill(int(pid_file.read_text()), signal.SIGKILL)
                pid_file.unlink()
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


STATUS = re.compile(r"compiled 2 of 3: twice/モジュール \(dc\) \d+ s$")

ONE_AFTER_ANOTHER = {"a": "f: pass", "b": "f: pass", "モジュール": "compile: hang"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        pytest.param((), {}, id="plain"),
        pytest.param(("-v",), {}, id="verbose", marks=pytest.mark.slow),
        pytest.param(("-q",), {}, id="quiet", marks=pytest.mark.slow),
        pytest.param(("--capture=no",), {"NO_COLOR": "1"}, id="uncaptured without colour", marks=pytest.mark.slow),
    ],
)
def test_a_terminal_shows_what_is_compiled_and_nothing_of_it_is_left(
    project: Project, open_terminal: Callable[..., Terminal], arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    project.doubles(**ONE_AFTER_ANOTHER)
    terminal = open_terminal(*arguments, **environment)
    terminal.read_until(lambda lines: any(map(STATUS.search, lines)))
    shown = sum("compiled 2 of" in line for line in terminal.lines)
    terminal.resize(COLUMNS - 10)
    thread = end_compiles(project.path / "suites/モジュール.mlir.pid", terminal.process)
    terminal.read_to_the_end()
    thread.join()

    assert shown == 1
    assert not [line for line in terminal.lines if "compiled 2 of" in line]
    assert terminal.lines[-1] == "" or "failed" in terminal.lines[-1]
    assert any(re.search(r"1 failed, 4 passed, 1 blocked", line) for line in terminal.lines)
    assert (b"\x1b[3" in terminal.written) is (not environment)
