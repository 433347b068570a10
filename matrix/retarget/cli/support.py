"""Helpers of several subcommands: which targets they are about, sessions of pytest, numbers, tables."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.files import user_path
from retarget.support.text import counted, shown

if TYPE_CHECKING:
    from retarget.model import Target
    from retarget.targets.collected import CollectedSuite, Selection, SelectionRequest

_SHOWN = 100


def add_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    act: Callable[[argparse.Namespace], int],
    does: str,
    **settings: Any,
) -> argparse.ArgumentParser:
    """Declare an action of a subcommand, and what does it."""
    parser = actions.add_parser(name, help=does, **settings)
    parser.set_defaults(act=act)
    return parser


def add_path_arguments(parser: argparse.ArgumentParser, *, positional: bool = True, expressions: bool = False) -> None:
    """Declare where a subcommand looks for suites, and by which `expressions` it selects targets."""
    if expressions:
        add_expression_arguments(parser)
    if positional:
        parser.add_argument(
            "path",
            nargs="*",
            default=["."],
            help="what to look in, as pytest takes it: folders, suite files, modules (.)",
        )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="PATH", help="leave this file or folder out; may be repeated"
    )


def add_toolchain_argument(parser: argparse.ArgumentParser) -> None:
    """Declare how a subcommand that compiles or runs takes toolchains from elsewhere."""
    parser.add_argument(
        "--retarget-toolchain",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="take the toolchain NAME from PATH, not from where it is declared; may be repeated",
    )


def add_expression_arguments(parser: argparse._ActionsContainer) -> None:
    """Declare how a subcommand selects targets."""
    parser.add_argument(
        "-m",
        dest="mark",
        default="",
        metavar="EXPR",
        help="select by tags, as in pytest: \"vulkan and not driver(name='local-sync')\"",
    )
    parser.add_argument(
        "-k",
        dest="keyword",
        default="",
        metavar="EXPR",
        help="select by parts of names, as in pytest: 'matmul and f16'",
    )


def request_of(arguments: argparse.Namespace, paths: Sequence[str], *, or_else: str = "") -> SelectionRequest:
    """Return what is selected among `paths`. `or_else` names the alternatives to a path.

    Raises `argparse.ArgumentError` for a path that does not exist, and for a toolchain that is not NAME=PATH.
    """
    from retarget.targets.collected import SelectionRequest

    check_paths(paths, or_else=or_else)
    check_paths(arguments.ignore, after="--ignore: ")
    toolchains = tuple(getattr(arguments, "retarget_toolchain", ()))
    if toolchains:
        from retarget.declare.named_configs import redirections

        try:
            redirections(toolchains, Path.cwd())
        except RetargetError as error:
            raise argparse.ArgumentError(None, str(error)) from error
    return SelectionRequest(
        paths=tuple(paths),
        mark=getattr(arguments, "mark", ""),
        keyword=getattr(arguments, "keyword", ""),
        ignore=tuple(arguments.ignore),
        extensions=tuple(arguments.retarget_extension),
        toolchains=toolchains,
    )


def read_declared(arguments: argparse.Namespace, paths: Sequence[str], *, or_else: str = "") -> Selection:
    """Collect the suites among `paths`. Where nothing is selected, say on stderr which words of `-m` no target has.

    Raises `DiagnosticsError` and `RetargetError`, `argparse.ArgumentError` for what pytest refuses.
    """
    from retarget.targets.collected import pytest_plugin

    with _wrong_usage():
        selection = pytest_plugin().select_targets(request_of(arguments, paths, or_else=or_else))
    sys.stderr.writelines(f"note: {note}\n" for note in selection.notes)
    return selection


def one_target(
    arguments: argparse.Namespace, text: str, *, found: str = ""
) -> tuple[Selection, CollectedSuite, Target]:
    """Return the one target that is meant by its name, or its node id. `found` says what else was looked for.

    Raises as `read_declared` does, and `argparse.ArgumentError`.
    """
    file, _, rest = text.partition("::")
    suite, _, name = rest.rpartition("::") if rest else ("", "", text)
    paths = [file] if rest else arguments.path
    selection = read_declared(arguments, paths)
    suites = [one for one in selection.suites if suite in {"", one.suite.name}]
    every = [(one, target) for one in suites for target in one.selected]
    named = [(one, target) for one, target in every if target.name == name]
    if len(named) == 1:
        return selection, *named[0]
    where = f"{name!r} in {', '.join(paths)}"
    ids = [f"{display_path(one.suite.origin.file)}::{one.suite.name}::{name}" for one, _ in named]
    msg = f"found {counted(len(ids), 'target')} {where}, expected one of: {', '.join(ids)}"
    if not named:
        hint = did_you_mean(name, [target.name for _, target in every]) or "; `retarget list` shows all"
        msg = f"found {found}no target {where}{hint}"
    raise argparse.ArgumentError(None, msg)


def run_targets(arguments: argparse.Namespace, paths: Sequence[str], **known: Any) -> int:
    """Run what is selected among `paths` in a session of pytest, and return the exit status of `retarget run`. `known`
    are further fields of a `SelectionRequest`. Raises as `read_declared` does."""
    from retarget.targets.collected import pytest_plugin

    with _wrong_usage():
        return pytest_plugin().run_targets(replace(request_of(arguments, paths), **known))


@contextmanager
def _wrong_usage() -> Iterator[None]:
    """Raise `argparse.ArgumentError` for what pytest refuses."""
    from retarget.targets.collected import SelectionUsageError

    try:
        yield
    except SelectionUsageError as error:
        raise argparse.ArgumentError(None, str(error)) from error


def print_note(text: str) -> None:
    """Say a line on stderr at once."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def check_paths(paths: Sequence[str], *, after: str = "", or_else: str = "") -> None:
    """Raise `argparse.ArgumentError` for a path that does not exist. pytest reads the part after `::`.

    `after` is the option that the paths came after.
    """
    for written in paths:
        path = Path(written.partition("::")[0])
        try:
            is_there = path.exists() or path.is_symlink()
            if path.is_dir():
                os.scandir(f"{path}/.").close()  # it can be entered and listed
        except OSError as error:
            shown = f"{path}" if len(str(path)) <= _SHOWN else f"{str(path)[:_SHOWN]}…"
            msg = f"{after}cannot read {shown!r}: {error.strerror or error}"
            raise argparse.ArgumentError(None, msg) from error
        if not is_there:
            msg = f"{after}found no file or folder {display_path(path)}{or_else}"
            raise argparse.ArgumentError(None, msg)


def words_for_pytest(text: str) -> list[str]:
    """Return the words of an option `--pytest-args`. Raises `argparse.ArgumentError` for an open quote."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentError(None, f"--pytest-args: found {text!r}: {error}") from error


def run_session(
    command: Sequence[str],
    folder: Path,
    *,
    env: Mapping[str, str] | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
) -> int:
    """Run a session of pytest and return its status. Raises `KeyboardInterrupt` when it has ended by a signal to us.

    It is not killed, so that its results say what has not run. A terminal sends Ctrl-C to it, too; SIGTERM, which comes
    to us alone, becomes Ctrl-C.
    """
    session = subprocess.Popen(command, cwd=folder, env=env, stdin=stdin, stdout=stdout)
    is_ended = False

    def end(*_: object) -> None:
        nonlocal is_ended
        is_ended = True
        session.send_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, end)
    try:
        while session.returncode is None:
            try:
                session.wait()
            except KeyboardInterrupt:
                is_ended = True
    finally:
        signal.signal(signal.SIGTERM, before)
    if is_ended:
        raise KeyboardInterrupt
    return session.returncode


def seconds_above_0(text: str) -> float:
    """Return the number of an option. Raises `argparse.ArgumentTypeError` for what is no time to wait."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not (number > 0 and math.isfinite(number)):
        msg = f"found {text!r}, expected a number of seconds above 0, such as 90 or 0.5"
        raise argparse.ArgumentTypeError(msg)
    return number


def output_folder(text: str) -> Path:
    """Return the folder of an option that something is written to. Raises `argparse.ArgumentTypeError` as `input_path`
    does, and for what is no folder."""
    path = input_path(text, expected="one to write to")
    if os.path.lexists(path) and not path.is_dir():
        msg = f"found {display_path(path)}, which is no folder; expected one to write to"
        raise argparse.ArgumentTypeError(msg)
    return path


def input_path(text: str, *, expected: str = "a file or folder") -> Path:
    """Return the path of an argument. Raises `argparse.ArgumentTypeError` for an empty one, such as of a shell's
    variable that is not set: `Path("")` is the current folder."""
    if not text:
        msg = f"found an empty path, expected {expected} ('.' for the current folder)"
        raise argparse.ArgumentTypeError(msg)
    return user_path(text)


def whole_number(text: str) -> int:
    """Return the number of an option. Raises `argparse.ArgumentTypeError` for what is none from 1 to 100,000."""
    if text.isascii() and text.isdigit() and 0 < int(text) <= 100_000:
        return int(text)
    msg = f"found {text!r}, expected a number from 1 to 100000"
    raise argparse.ArgumentTypeError(msg)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns with a header, the last column as wide as it is. Cells hold one line of plain text."""
    rows = [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header) - 1)]
    lines = []
    for row in ([name.upper() for name in header], *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines)
