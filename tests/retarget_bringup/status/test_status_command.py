"""What the options of `retarget bringup NAME` make of a status. What runs and judges is a double."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget_bringup.status import command
from retarget_bringup.status.assemble import Blocker, Next, Status

NEXT = Next(what="w", why="y")
BLOCKERS = tuple(
    Blocker(rung="loads", stage="run", signature=f"s{at}", frees=1, targets=("t",), smallest="t", command="c")
    for at in range(12)
)


class Steps:
    """What was done, in order; and the command."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[Any] = []
        self.settings = SimpleNamespace(
            name="npu", root=Path("p"), stable=2, ladder_file=Path("npu.ladder"), reference=""
        )
        found = SimpleNamespace(settings=self.settings, states=(), ladder=None, declared=())

        def read(_: object, folders: object, extensions: object) -> Any:
            self.done.append(("read", folders, extensions))
            return found

        def ran(_: object, **known: object) -> Any:
            self.done.append(("run", known))
            return found

        def status(name: str, _: object, **known: Any) -> Status:
            self.done.append(("status", known["is_raised"]))
            return Status(name=name, next=NEXT, blockers=BLOCKERS)

        def apply(*_: object, **known: object) -> int:
            self.done.append(("ladder", known))
            return 1

        for name, value in (
            ("find_settings", lambda *_: Path("npu.toml")),
            ("read_settings", lambda _: self.settings),
            ("read_found", read),
            ("run_found", ran),
            ("status_of", status),
            ("raised", lambda *_: SimpleNamespace(changes={})),
            ("apply_options", apply),
            ("status_lines", lambda status, *, everything: [f"{len(status.blockers)} blockers, all: {everything}"]),
            ("next_lines", lambda _: ["next"]),
        ):
            monkeypatch.setattr(command, name, value)

    def run(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        parser.add_argument("--retarget-extension", action="append", default=[])
        command.add(parser.add_subparsers())
        arguments = parser.parse_args(["status", "npu", *words])
        status: int = arguments.act(arguments)
        return status


RUN = ("run", {"runs": 1, "pytest_args": [], "extensions": []})


@pytest.mark.parametrize(
    ("words", "done", "printed"),
    [
        ((), [RUN, ("status", True)], "12 blockers, all: False\n"),
        (("--all",), [RUN, ("status", True)], "12 blockers, all: True\n"),
        (("--next",), [RUN, ("status", True)], "next\n"),
        (
            ("--results", "a", "b"),
            [("read", [Path("a"), Path("b")], []), ("status", True)],
            "12 blockers, all: False\n",
        ),
        (
            ("--runs", "3", "--pytest-args=-k 'a b'"),
            [("run", {**RUN[1], "runs": 3, "pytest_args": ["-k", "a b"]}), ("status", True)],  # type: ignore[dict-item]
            "12 blockers, all: False\n",
        ),
    ],
)
def test_a_status_is_run_or_read_and_shown(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    done: list[object],
    printed: str,
) -> None:
    steps = Steps(monkeypatch)
    assert steps.run(*words) == 0
    assert (steps.done, capsys.readouterr().out) == (done, printed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--results", "a", "--runs", "2"),
            "--results: found it with an option that runs targets, expected one or the",
        ),
        (("--results", "a", "--pytest-args", "x"), "--results: found it with an option that runs targets"),
        (("--lower", "t"), "found --lower 't' and --reason '', expected both, the reason in one line"),
        (("--reason", "r"), "found --lower '' and --reason 'r', expected both"),
        (("--lower", "t", "--reason", "a\nb"), "found --lower 't' and --reason 'a\\nb', expected both"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    steps = Steps(monkeypatch)
    with pytest.raises(argparse.ArgumentError) as caught:
        steps.run(*words)
    assert str(caught.value).startswith(message)
    assert steps.done == []
