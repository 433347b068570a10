"""The command `retarget`: init, list, check, explain, compare, devices, show, schema, import-xfails, cache.

Exit status: 0 for success, 1 for faults of declarations, extensions or the machine, 2 for wrong usage. Each subcommand
is a module that offers `add_arguments` and `run` and is imported only when it is asked for.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from . import __version__
from .errors import RetargetError

__all__ = ["TRACEBACK_VARIABLE", "main"]

TRACEBACK_VARIABLE = "RETARGET_TRACEBACK"


class _CommandModule(Protocol):
    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    module: str
    help: str
    takes_extensions: bool = True


_COMMANDS = {
    "init": _Command(module="cli_init", help="write the first declarations for the modules in a folder"),
    "list": _Command(module="cli_list", help="list targets, configs, suites or tags, as text or JSON"),
    "check": _Command(module="cli_check", help="check all declarations and what they name"),
    "explain": _Command(module="cli_explain", help="show where everything about one target comes from"),
    "compare": _Command(module="cli_compare", help="run a module two ways and show how the outputs differ"),
    "devices": _Command(module="cli_devices", help="show what each driver finds on this machine"),
    "show": _Command(module="cli_show", help="print an artifact as text"),
    "schema": _Command(module="cli_schema", help="print the JSON Schema of the files, for editors"),
    "import-xfails": _Command(
        module="cli_import_xfails",
        help="take over config files of iree-test-suites, with what they know to fail",
        takes_extensions=False,
    ),
    "cache": _Command(module="cli_cache", help="show, check or clear the store of artifacts", takes_extensions=False),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # reasons and signatures have characters that not all have
    try:
        arguments = _parser(words).parse_args(words)
        command: _CommandModule = arguments.command_module
        status = command.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # What reads our output has seen enough (`| head`). Python's own flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
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
        told = f"retarget: this should not have happened: {type(error).__name__}: {error}"
        sys.stderr.write(f"{told}\nset {TRACEBACK_VARIABLE}=1 to see where\n")
        return 1
    return status


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="retarget", description="Declarative test matrices for retargetable compilers. To run them: pytest."
    )
    parser.add_argument("--version", action="version", version=f"retarget {__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True)
    chosen = next((word for word in words if not word.startswith("-")), "")
    for name, command in _COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=command.help, description=f"{command.help[:1].upper()}{command.help[1:]}."
        )
        if name != chosen:
            continue
        module = cast("_CommandModule", importlib.import_module(f".{command.module}", __package__))
        module.add_arguments(subparser)
        subparser.set_defaults(command_module=module)
        if command.takes_extensions:
            subparser.add_argument(
                "--retarget-extension",
                action="append",
                default=[],
                metavar="MODULE",
                help="load an extension that no entry point names; may be repeated",
            )
    return parser


if __name__ == "__main__":
    sys.exit(main())
