"""Extensions provide subcommands of `retarget`; one that does not load takes no other command down."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.cli.main import _Parser
from retarget.extension.registry import EXTENSIONS_VARIABLE

GREET = """
from retarget.extension import Command, hookimpl

class Greet(Command):
    name = "greet"
    help = "greet somebody, 100% politely"
    examples = (("retarget greet world", "greet the world"),)

    def add_arguments(self, parser):
        parser.add_argument("whom")

    def run(self, arguments):
        print(f"hello {arguments.whom}")
        return 3

@hookimpl
def retarget_commands():
    return (Greet(),)
"""

Install = Callable[..., None]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Name extension modules by the environment variable."""
    monkeypatch.syspath_prepend(tmp_path)

    def install_modules(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setenv(EXTENSIONS_VARIABLE, os.pathsep.join(texts))

    return install_modules


def test_an_extension_that_does_not_load_takes_no_other_command_down(
    install: Install, run: Run, tmp_path: Path
) -> None:
    install(broken="1 / 0\n", greeting=GREET)
    error = "  extension 'broken' cannot be imported: ZeroDivisionError: division by zero\n"
    heading = "extensions that cannot be loaded, and their commands with them:\n"
    assert run("cache", "info", "--cache-dir", str(tmp_path / "store"))[0] == 0
    assert run("greet", "world") == (3, "hello world\n", "")
    assert run("--help")[1].endswith(heading + error)
    assert run("unheard-of")[2].endswith(heading + error)


def test_a_command_that_two_extensions_provide_is_refused(install: Install, run: Run, tmp_path: Path) -> None:
    install(first=GREET, second=GREET)
    error = "extension 'second': command 'greet' is provided by extension 'first' already\n"
    assert run("greet", "world") == (1, "", error)
    assert run("check", str(tmp_path)) == (1, "", error)
    assert run("--help")[1].endswith(f"  {error}")


def test_a_command_of_retarget_cannot_be_replaced(install: Install, run: Run, tmp_path: Path) -> None:
    install(mine=GREET.replace('"greet"', '"check"'))
    error = "extension 'mine': command 'check' is provided by extension 'retarget' already\n"
    assert run("check", str(tmp_path)) == (1, "", error)


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        *((name, True) for name in ("init", "list", "check", "explain", "compare", "devices", "show", "schema")),
        *((name, False) for name in ("cache", "results", "history")),
    ],
)
def test_commands_that_ask_extensions_take_one_that_no_entry_point_names(run: Run, name: str, takes: bool) -> None:
    status, out, _ = run(name, "--help")
    assert (status, "--retarget-extension MODULE" in out) == (0, takes)


def test_an_action_says_in_its_help_what_the_list_of_actions_says_of_it(run: Run) -> None:
    status, out, _ = run("ci", "plan", "--help")
    assert status == 0
    assert "\n\nWhich leg runs which targets.\n" in out


@pytest.mark.parametrize(
    ("words", "paths", "left"),
    [
        (("a", "--option", "1", "b"), ["a", "b"], ""),
        (("a", "--option", "1", "--no"), [], "found --no, which retarget x does not take"),
        (("a", "--option", "1", "--", "b"), [], "found -- b, which retarget x does not take"),
    ],
)
def test_arguments_are_on_both_sides_of_an_option_up_to_two_dashes(
    words: tuple[str, ...], paths: list[str], left: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = _Parser(prog="retarget x")
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--option")
    with pytest.raises(SystemExit) if left else nullcontext():
        assert parser.parse_known_args(words)[0].paths == paths
    assert left in capsys.readouterr().err.replace("found b,", "found -- b,")


def test_arguments_that_argparse_does_not_mix_with_options_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    parser = _Parser(prog="retarget x")
    parser.add_mutually_exclusive_group().add_argument("one", nargs="?")
    parser.add_argument("--option")
    with pytest.raises(SystemExit):
        parser.parse_known_args(["--option", "1", "a", "b"])
    assert capsys.readouterr().err.endswith("retarget x: error: found b, which retarget x does not take\n")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ("ci", "plan", "--event", "pr", "--since", "HEAD"),
            "usage: retarget ci plan [-h] --event NAME [-o FILE]\n"
            "retarget ci plan: error: found --since HEAD, which retarget ci plan does not take; in its place "
            "`--retarget-reuse-results` takes the results that still hold: docs/ci.md\n",
        ),
        (("ci", "emit", "--check"), "does not take; in its place `retarget ci verify` compares the files\n"),
        (("ci", "summary"), "'schema'); in its place `retarget results show` lists failures\n"),
        (
            ("compare", "--configs", "a,b", "--seed", "1"),
            "in its place `retarget init` writes cases with generated inputs\n",
        ),
        (("cache", "info", "--seed"), "retarget cache: error: found --seed, which retarget cache does not take\n"),
    ],
)
def test_an_unknown_option_is_an_error_of_its_action_and_names_what_replaces_it(
    words: tuple[str, ...], error: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert (ended.value.code, capsys.readouterr().err[-len(error) :]) == (2, error)


def test_output_whose_reader_has_gone_does_not_end_as_a_pass(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install(greeting=GREET)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(["greet", "world"]) == 141
