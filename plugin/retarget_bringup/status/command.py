"""`retarget bringup NAME`: run the targets of a ladder, or read results, and show how far they come;
`--watch` does so whenever a file changes."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace
from retarget.cli import whole_number, words_for_pytest
from retarget.model import RunTarget, Toolchain
from retarget.session import collect_targets
from retarget.support import RetargetError, display_path, install_hint, user_path

from retarget_bringup.ladder.check import add_arguments, apply_options, raised
from retarget_bringup.ladder.files import Settings, find_settings, read_settings
from retarget_bringup.status.assemble import Status, status_of, with_references
from retarget_bringup.status.gather import Found, read_found, run_found, run_others
from retarget_bringup.status.text import (
    TOP,
    Lines,
    heading,
    lines_of,
    log,
    move_lines,
    moves,
    moves_since_commit,
    next_lines,
    status_lines,
)

_ALL = 1000
"""Commits of a ladder that are looked at."""

_CODE = frozenset({".dll", ".dylib", ".py", ".pyd", ".so"})
"""What a change of may be one of a driver."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "status",
        prog="retarget bringup",
        help="run the targets of a ladder, and show how far they come, what blocks the most, and what moved",
        description="Run the targets of bringup/NAME.toml and the conformance checks of their drivers. Show how far "
        "each target comes, what blocks the most, what moved since the committed ladder, and what to do next.",
    )
    parser.add_argument("name", metavar="NAME", help="the ladder: bringup/NAME.toml")
    parser.add_argument("--results", nargs="+", metavar="DIR", help="read these results, and run nothing")
    parser.add_argument(
        "--runs",
        type=whole_number,
        default=1,
        metavar="N",
        help="run what matches N times in all, for the rung stable (1)",
    )
    parser.add_argument(
        "--pytest-args", default="", metavar="TEXT", help="further arguments of pytest: --pytest-args='-k matmul -n 4'"
    )
    parser.add_argument("--all", action="store_true", help=f"all blockers and moves, not the first {TOP}")
    parser.add_argument("--log", action="store_true", help="also what each commit of the ladder moved")
    parser.add_argument("--reason", default="", metavar="TEXT", help="with --lower: why it may be lower")
    shape = parser.add_mutually_exclusive_group()
    add_arguments(shape)
    shape.add_argument("--next", action="store_true", help="print the one thing to do next, and why")
    shape.add_argument("--json", action="store_true", help="print JSON, all of it")
    shape.add_argument(
        "--watch",
        action="store_true",
        help="run again when a module, an extension or the toolchain changes, until Ctrl-C",
    )
    parser.set_defaults(act=_status)


def _status(arguments: argparse.Namespace) -> int:
    settings = read_settings(find_settings(arguments.name, Path.cwd()))
    more = words_for_pytest(arguments.pytest_args)
    if arguments.results and (arguments.runs > 1 or more or arguments.watch):
        msg = "--results: found it with an option that runs targets, expected one or the other: it only reads results"
        raise argparse.ArgumentError(None, msg)
    if bool(arguments.lower) != bool(arguments.reason.strip()) or not arguments.reason.isprintable():
        given = f"--lower {arguments.lower!r} and --reason {arguments.reason!r}"
        msg = f"found {given}, expected both, the reason in one line"
        raise argparse.ArgumentError(None, msg)
    if arguments.watch:
        return _watch(settings, arguments, more)
    found = _gathered(settings, arguments, more)
    if arguments.check or arguments.raises or arguments.lower:
        lower = {"lower": arguments.lower, "reason": " ".join(arguments.reason.split())}
        return apply_options(settings, found.ladder, found.states, raises=arguments.raises, **lower)
    status, _ = _of(found, arguments)
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(status), indent=1).decode())
    else:
        print("\n".join(next_lines(status.next) if arguments.next else status_lines(status, everything=arguments.all)))
    return 0


def _gathered(
    settings: Settings, arguments: argparse.Namespace, more: Sequence[str], *, checks_drivers: bool = True
) -> Found:
    """Run, or read results."""
    extensions = arguments.retarget_extension
    if arguments.results:
        return read_found(settings, [user_path(path) for path in arguments.results], extensions)
    return run_found(
        settings, runs=arguments.runs, pytest_args=more, extensions=extensions, checks_drivers=checks_drivers
    )


def _of(found: Found, arguments: argparse.Namespace) -> tuple[Status, Lines]:
    """Return the status, and the ladder as it is by it."""
    settings, extensions = found.settings, arguments.retarget_extension
    now = {line.target: line for line in lines_of(found.states)}
    limit = None if arguments.all or arguments.json else TOP
    status = status_of(
        settings.name,
        found.states,
        root=settings.root,
        stable_runs=settings.stable,
        moved=moves_since_commit(settings.ladder_file, now.values()),
        is_raised=not raised(found.ladder, found.states).changes and not found.ladder.unsettled,
        log=log(settings.ladder_file, limit or _ALL, {one.id: one.target.top for one in found.states})
        if arguments.log or arguments.json
        else (),
    )
    if settings.reference and status.blockers and not (arguments.next or arguments.watch):
        known = with_references(
            status.blockers[:limit],
            settings.reference,
            results=found.results,
            declared=found.declared,
            run=lambda targets: {} if arguments.results else run_others(found, targets, extensions),
        )
        status = replace(status, blockers=(*known, *status.blockers[len(known) :]))
    return status, now


def _watch(settings: Settings, arguments: argparse.Namespace, more: Sequence[str]) -> int:
    """Show the status, then the effect of each change, until Ctrl-C."""
    declared = collect_targets(settings.root, settings.paths, arguments.retarget_extension, mark=settings.select)
    compilers = {one.compiled.compiler.toolchain for one in declared.targets}
    runtimes = {one.target.runtime.toolchain for one in declared.targets if isinstance(one.target, RunTarget)}
    extensions = arguments.retarget_extension
    again = [*more, "--retarget-changed"]
    changes = changed_files(
        watched(settings.root, settings.paths, settings.file.parent, compilers | runtimes, extensions)
    )
    before = _of(_gathered(settings, arguments, more), arguments)
    print("\n".join(status_lines(before[0], everything=arguments.all)), flush=True)
    try:
        while True:
            print("watching modules, extensions and toolchains; Ctrl-C ends", file=sys.stderr, flush=True)
            files = next(changes)
            try:
                is_code = any(file.suffix in _CODE for file in files)
                found = _gathered(read_settings(settings.file), arguments, again, checks_drivers=is_code)
                after = _of(found, arguments)
            except RetargetError as error:  # such as a declaration that is being written
                print(f"{error}", file=sys.stderr, flush=True)
                continue
            print("\n".join(difference(files, before, after)), flush=True)
            before = after
    except (KeyboardInterrupt, StopIteration):
        return 0


_DEBOUNCE_MS = 1000
"""How long it must be quiet: a linker writes for a while."""

_SHOWN = 10
_LEFT_BY_TOOLS = ("__pycache__", "node_modules")
_ABOVE = ("matrix.toml", "expectations.toml")


def watched(
    root: Path, paths: Sequence[str], own: Path, toolchains: Iterable[Toolchain | None], extensions: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Return the files and folders on which the results depend: the modules and their declarations in `paths` below
    `root`, the settings in `own`, the folders of toolchains, the packages of extensions, and what is installed in the
    environment."""
    folders = [root / path.partition("::")[0] for path in paths]
    folders += [own, *(root / name for name in _ABOVE)]
    folders += [one.path for one in toolchains if one is not None and one.path is not None]
    folders += [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    modules = [point.value for point in importlib.metadata.entry_points(group="retarget")]
    for package in dict.fromkeys(name.partition(":")[0].partition(".")[0] for name in (*modules, *extensions)):
        spec = importlib.util.find_spec(package)
        if spec is not None:
            folders += map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))
    there = dict.fromkeys(folder.resolve() for folder in folders if folder.exists())
    return tuple(one for one in there if not any(above in there for above in one.parents))


def is_ours(path: str, folders: Sequence[Path]) -> bool:
    """Return whether a changed file counts: not what Python, git or editors keep beside others."""
    file = Path(path)
    folder = next((one for one in folders if file.is_relative_to(one)), file.parent)
    parts = file.relative_to(folder).parts
    hidden = any(part.startswith(".") or part in _LEFT_BY_TOOLS for part in parts)
    return not hidden and not path.endswith(("~", ".ladder", ".pyc"))


def changed_files(folders: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Watch from now on; return what yields the files that changed, each time that it has become quiet, until Ctrl-C.

    Changes between two calls are kept. Raises `RetargetError` where the library is missing.
    """
    try:
        import watchfiles
    except ImportError as error:
        msg = f"--watch needs the package watchfiles; {install_hint('bringup')}"
        raise RetargetError(msg) from error
    found = watchfiles.watch(
        *folders,
        watch_filter=lambda _, path: is_ours(path, folders),
        debounce=_DEBOUNCE_MS,
        step=_DEBOUNCE_MS // 5,
        rust_timeout=_DEBOUNCE_MS,
        yield_on_timeout=True,
    )
    first = next(found)  # it begins to watch when it is asked first
    several = (tuple({Path(path) for _, path in changes}) for changes in chain([first], found) if changes)
    return (tuple(sorted(files, key=lambda file: (not file.exists(), file))) for files in several)


def difference(files: Sequence[Path], before: tuple[Status, Lines], after: tuple[Status, Lines]) -> Iterator[str]:
    """Yield what differs between two runs: targets up and down, signatures that are new or gone."""
    if files:
        rest = f" and {len(files) - 1} more" if len(files) > 1 else ""
        yield f"changed: {display_path(files[0])}{rest}"
    (old, old_lines), (new, new_lines) = before, after
    moved = moves(old_lines, new_lines)
    lines = [
        line
        for found, word in ((moved.down, "down"), (moved.up, "up"), (moved.new, "new"))
        for line in move_lines(found, word, _SHOWN)
    ]
    known = {(one.stage, one.signature) for one in old.blockers}
    left = {(one.stage, one.signature) for one in new.blockers}
    for one in new.blockers:
        if (one.stage, one.signature) not in known:
            lines += [f"  new signature, of {one.frees}: {one.stage}: {one.signature}", f"        {one.command}"]
    lines += [f"  gone signature: {stage}: {signature}" for stage, signature in sorted(known - left)]
    yield from lines
    yield f"{heading(new)}{'' if lines else ', nothing moved'}"
