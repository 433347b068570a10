"""The command `retarget`: init, list, check, explain, compare, devices, show, schema, import-xfails, cache.

The exit status is part of each `--help`. Each subcommand
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

from retarget import __version__
from retarget.support.errors import RetargetError, did_you_mean

__all__ = ["TRACEBACK_VARIABLE", "main"]

TRACEBACK_VARIABLE = "RETARGET_TRACEBACK"
_SHOWN = 100


class _CommandModule(Protocol):
    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """One subcommand. `examples` are command lines, each with what it does."""

    module: str
    help: str
    examples: tuple[tuple[str, str], ...]
    takes_extensions: bool = True


_COMMANDS = {
    "init": _Command(
        module="init",
        help="write matrix.toml and suite.toml for the modules in a folder and the devices of this machine",
        examples=(
            ("retarget init", "for the modules in the current folder and below"),
            ("retarget init kernels --dry-run", "print the files for the folder kernels, write nothing"),
        ),
    ),
    "list": _Command(
        module="list",
        help="list targets, configs, suites or tags, as text or JSON",
        examples=(
            ("retarget list", "all targets below the current folder"),
            ("retarget list -m 'vulkan and run' -k matmul", "the targets that pytest selects with the same options"),
            ("retarget list compilers suites/linalg", "the compiler configs that the targets of a folder need"),
            ("retarget list runtimes --format json", "for a program that plans builds"),
        ),
    ),
    "check": _Command(
        module="check",
        help="check all declarations, what they name and the data of cases, and run nothing",
        examples=(
            ("retarget check", "everything below the current folder"),
            ("retarget check suites --ignore suites/onnx", "leave a folder out"),
        ),
    ),
    "explain": _Command(
        module="explain",
        help="show where everything about a target comes from",
        examples=(
            ("retarget explain squares_llvm-cpu_local-sync", "one target"),
            ("retarget explain -m vulkan -k squares", "all targets that the expressions select"),
        ),
    ),
    "compare": _Command(
        module="compare",
        help="run a module with two configs and show how the outputs differ",
        examples=(
            ("retarget compare squares.mlir --configs llvm-cpu,vmvx", "two compiler configs"),
            ("retarget compare matmul --configs vmvx,vulkan/vulkan --rtol 1e-3", "a compiler and a runtime config"),
        ),
    ),
    "devices": _Command(
        module="devices",
        help="list the devices that each driver finds on this machine",
        examples=(("retarget devices", "all drivers"), ("retarget devices vulkan cuda", "two of them")),
    ),
    "show": _Command(
        module="show",
        help="print an artifact as text",
        examples=(
            ("retarget show squares_llvm-cpu", "of a target: from the cache, or compiled"),
            ("retarget show out/squares_llvm-cpu.vmfb", "a file that --retarget-export or iree-compile wrote"),
        ),
    ),
    "schema": _Command(
        module="schema",
        help="print the JSON Schema of the files, for editors",
        examples=(
            ("retarget schema > retarget.schema.json", "of matrix.toml, suite.toml and expectations.toml"),
            ("retarget schema --for cases > cases.schema.json", "of *.cases.toml"),
        ),
    ),
    "import-xfails": _Command(
        module="import_xfails",
        help="turn the expected failures in config files of iree-test-suites into [[expectation]] rules",
        examples=(("retarget import-xfails onnx_ops_cpu_llvm_sync.json", "print the rules"),),
        takes_extensions=False,
    ),
    "cache": _Command(
        module="cache",
        help="show, check or clear the store of artifacts",
        examples=(
            ("retarget cache info", "where it is, and how large"),
            ("retarget cache clear", "remove what is in it"),
        ),
        takes_extensions=False,
    ),
}

_EXIT_STATUS = """\
exit status:
  0  success
  1  an error in declarations, extensions, artifacts or on this machine; for compare, outputs that differ
  2  wrong usage: an unknown option, a path that does not exist, an expression that is none
"""


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
    parser = argparse.ArgumentParser(
        prog="retarget",
        description="Declarative test matrices for retargetable compilers. To run them: pytest.",
        epilog=f"retarget COMMAND --help shows the options of a command, with examples.\n\n{_EXIT_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"retarget {__version__}")
    subparsers = parser.add_subparsers(metavar="command", required=True)
    chosen = next((word for word in words if not word.startswith("-")), "")
    if chosen and chosen not in _COMMANDS:
        hint = did_you_mean(chosen, _COMMANDS) or f"; expected one of {', '.join(_COMMANDS)}"
        parser.error(f"found the command {chosen[:_SHOWN]!r}{hint}")
    for name, command in _COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=command.help,
            description=f"{command.help[:1].upper()}{command.help[1:]}.",
            epilog=f"{_examples(command)}\n{_EXIT_STATUS}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
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


def _examples(command: _Command) -> str:
    width = max(len(line) for line, _ in command.examples)
    return "\n".join(["examples:", *(f"  {line.ljust(width)}  {does}" for line, does in command.examples), ""])
