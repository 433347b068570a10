"""The command `retarget`, whose subcommands extensions provide: `retarget.cli.commands` those of this package.

The exit status is part of each `--help`.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from retarget import __version__
from retarget.extension.products import Command
from retarget.extension.registry import load_commands
from retarget.support.errors import REPLACED, RetargetError, did_you_mean

TRACEBACK_VARIABLE = "RETARGET_TRACEBACK"
_SHOWN = 100

_MORE_HELP = "retarget COMMAND --help shows the options of a command, with examples.\n"
_EXIT_STATUS = """\
exit status:
  0  success
  1  an error in declarations, extensions, artifacts or on this machine; for compare and results, what differs or failed
  2  wrong usage: an unknown option, a path that does not exist, an expression that is none
"""


class _Actions(argparse._SubParsersAction):  # type: ignore[type-arg]  # noqa: SLF001  # argparse has no public name for it
    """An action says in its own help what the list of actions says of it, where it says no more."""

    def add_parser(self, name: str, **settings: Any) -> Any:
        does = settings["help"].replace("%%", "%")
        return super().add_parser(name, **{"description": f"{does[:1].upper()}{does[1:]}.", **settings})


class _Parser(argparse.ArgumentParser):
    """Takes positional arguments on both sides of an option: `list runtimes --format json suites`, as pytest does."""

    _is_again = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", "parsers", _Actions)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        parsed, extras = super().parse_known_args(args, namespace)
        if self._is_again or self._subparsers is not None or not extras:
            return parsed, extras
        if any(not word.startswith("-") for word in extras) and "--" not in (args or ()):
            self._is_again = True
            with suppress(TypeError):  # argparse cannot mix these positional arguments with options
                parsed, extras = self.parse_known_intermixed_args(args)
        if extras:
            self.error(f"found {' '.join(extras)}, which {self.prog} does not take")
        return parsed, extras

    def error(self, message: str) -> NoReturn:
        """End with wrong usage, and name what takes the place of an action or option that is gone."""
        words = re.findall(r"[-a-z]+", message)
        super().error(message + "".join(REPLACED.get(f"{self.prog} {word}", "") for word in words))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # reasons and signatures have characters that not all have
    try:
        arguments = _parser(words).parse_args(words)
        command: Command = arguments.command
        status = command.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has closed it (`| head`). Python's own flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as of programs that SIGPIPE ends: nothing has passed
    except KeyboardInterrupt:
        return 130
    except argparse.ArgumentError as error:
        sys.stderr.write(f"retarget: {error}\n")
        return 2
    except RetargetError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        sys.stderr.write(f"{_unforeseen(error)}\n")
        return 1
    return status


def _unforeseen(error: Exception) -> str:
    """Return what is printed of an error that is no `RetargetError`: of the system, or our own."""
    if isinstance(error, OSError) and error.strerror:
        name = str(error.filename or "")
        where = f"{name[:_SHOWN]}{'…' if len(name) > _SHOWN else ''}: " if name else ""
        return f"retarget: {where}{error.strerror}"
    message = f"retarget: this should not have happened: {type(error).__name__}: {error}"
    return f"{message}\nset {TRACEBACK_VARIABLE}=1 to see where"


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    chosen = next((word for word in words if not word.startswith("-")), "")
    loaded = load_commands(chosen)
    commands = loaded.provided
    parser = _Parser(
        prog="retarget",
        description="Declarative test matrices for retargetable compilers. To run them: pytest.",
        epilog="\n".join([_MORE_HELP, _EXIT_STATUS, *_listed(loaded.errors)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"retarget {__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True)
    if chosen and chosen not in commands:
        hint = did_you_mean(chosen, commands) or f"; expected one of {', '.join(commands)}"
        parser.error("\n".join([f"found the command {chosen[:_SHOWN]!r}{hint}", *_listed(loaded.errors)]))
    if chosen in loaded.conflicts:
        raise loaded.conflicts[chosen]
    for name, command in commands.items() if not chosen else ((chosen, commands[chosen]),):
        subparser = subparsers.add_parser(name, help=command.help.replace("%", "%%"))
        if name == chosen:
            _parser_of(command, subparser)
    return parser


def _parser_of(command: Command, parser: argparse.ArgumentParser) -> None:
    statuses = _columns("exit status:", getattr(command, "statuses", ())) or _EXIT_STATUS
    parser.epilog = "\n".join(filter(None, (_columns("examples:", command.examples), statuses)))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_arguments(parser)
    parser.set_defaults(command=command)


def _listed(errors: Sequence[RetargetError]) -> list[str]:
    lines = [f"  {error}" for error in errors]
    return ["extensions that cannot be loaded, and their commands with them:", *lines] if lines else []


def _columns(title: str, rows: Sequence[tuple[object, str]]) -> str:
    """Return rows below a title, what each does beside it; nothing for none."""
    width = max((len(str(one)) for one, _ in rows), default=0)
    return "\n".join([title, *(f"  {one!s:<{width}}  {does}" for one, does in rows), ""]) if rows else ""
