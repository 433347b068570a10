"""What the options of several subcommands take, and how they run a session of pytest."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from retarget.cli import main, support


@pytest.fixture(autouse=True)
def _here(cwd: Path) -> None:
    (cwd / "file").touch()
    (cwd / "link").symlink_to("nowhere")


FEW = "expected a number from 1 to 100000"
TIME = "expected a number of seconds above 0, such as 90 or 0.5"


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (support.whole_number, "1", 1),
        (support.whole_number, "100000", 100_000),
        *(
            (support.whole_number, text, f"found {text!r}, {FEW}")
            for text in ("0", "100001", "-1", "x", "", "²", "1.5")
        ),
        (support.seconds_above_0, "0.5", 0.5),
        (support.seconds_above_0, "90", 90.0),
        *((support.seconds_above_0, text, f"found {text!r}, {TIME}") for text in ("0", "-1", "x", "inf", "nan")),
        (support.input_path, "a/b", Path("a/b")),
        (support.input_path, "", "found an empty path, expected a file or folder ('.' for the current folder)"),
        (support.output_folder, ".", Path()),
        (support.output_folder, "new", Path("new")),
        (support.output_folder, "", "found an empty path, expected one to write to ('.' for the current folder)"),
        (support.output_folder, "file", "found file, which is no folder; expected one to write to"),
        (support.output_folder, "link", "found link, which is no folder; expected one to write to"),
        (support.words_for_pytest, "-m 'a b' x", ["-m", "a b", "x"]),
        (support.words_for_pytest, "'a", """--pytest-args: found "'a": No closing quotation"""),
    ],
)
def test_an_option_is_read_or_refused_with_what_is_expected(
    read: Callable[[str], object], text: str, found: object
) -> None:
    try:
        assert read(text) == found
    except (argparse.ArgumentTypeError, argparse.ArgumentError) as error:
        assert str(error) == found  # noqa: PT017


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".", ""),
        ("file", ""),
        ("file::suite::target", ""),
        ("link", ""),
        ("absent", "--x: found no file or folder absent; or say more"),
        ("file/x", "--x: found no file or folder file/x; or say more"),
        ("a" * 300, f"--x: cannot read '{'a' * 100}…': File name too long"),
    ],
)
def test_a_path_is_there_and_can_be_read(path: str, message: str) -> None:
    try:
        support.check_paths([path], after="--x: ", or_else="; or say more")
        found = ""
    except argparse.ArgumentError as error:
        found = str(error)
    assert found == message


class Session:
    """In place of a process: what each wait for it does, and what it is sent."""

    def __init__(self, *waits: Callable[[Session], None]) -> None:
        self.waits = list(waits)
        self.returncode: int | None = None
        self.sent: list[int] = []
        self.started: Any = None

    def __call__(self, command: object, **known: Any) -> Session:
        self.started = (command, known)
        return self

    def wait(self) -> None:
        self.waits.pop(0)(self)

    def send_signal(self, number: int) -> None:
        self.sent.append(number)


def ends(session: Session) -> None:
    session.returncode = 3


def interrupted(_: Session) -> None:
    raise KeyboardInterrupt


def terminated(_: Session) -> None:
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize(
    ("waits", "sent"),
    [
        ((ends,), None),
        ((interrupted, ends), []),
        ((interrupted, interrupted, ends), []),
        ((terminated, ends), [signal.SIGINT]),
    ],
)
def test_a_session_is_waited_for_whatever_signal_comes(
    monkeypatch: pytest.MonkeyPatch, waits: tuple[Any, ...], sent: list[int] | None
) -> None:
    session = Session(*waits)
    monkeypatch.setattr(support.subprocess, "Popen", session)
    before = signal.getsignal(signal.SIGTERM)
    if sent is None:
        assert support.run_session(["pytest"], Path("folder"), env={"A": "b"}) == 3
    else:
        with pytest.raises(KeyboardInterrupt):
            support.run_session(["pytest"], Path("folder"), env={"A": "b"})
    assert (session.sent, session.waits) == (sent or [], [])
    assert session.started == (["pytest"], {"cwd": Path("folder"), "env": {"A": "b"}, "stdin": None, "stdout": None})
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 0, '"$schema"'),
        (["--for", "results"], 0, '"title": "A line of retarget\'s results'),
        (["--for", "cases"], 0, '"$schema"'),
        (["--for", "case"], 2, "found 'case', expected one of declarations, results, cases"),
        (["--for", "case"], 2, "did you mean 'cases'?"),
    ],
)
def test_a_schema_is_printed_of_what_has_one(
    capsys: pytest.CaptureFixture[str], words: list[str], status: int, said: str
) -> None:
    assert main(["schema", *words]) == status
    out, err = capsys.readouterr()
    assert said in (err if status else out)
    assert bool(out) is not bool(status)
