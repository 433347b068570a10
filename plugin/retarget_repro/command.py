"""`retarget repro`: a failure as a file that reproduces it elsewhere."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.cli import print_note, whole_number
from retarget.model import RunTarget
from retarget.session import Engine
from retarget.support import RetargetError, ScratchFolder, display_path, shown

from retarget_repro.attempt import Chosen, add_target_arguments, attempt, chosen_target, find_failure
from retarget_repro.bundle.archive import unpack
from retarget_repro.bundle.format import Bundle
from retarget_repro.bundle.write import NotReproducedError, foreign_code, write_bundle
from retarget_repro.reduce import Reduced, reduce_failure

NOT_REPRODUCED = 3
"""The exit status for a failure that does not occur from its bundle; `pytest --retarget-repro` reads it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget repro`."""
    add_target_arguments(parser, optional=True)
    parser.add_argument("-o", "--output", type=Path, metavar="PATH", help="the bundle (NAME.tar.zst), or its folder")
    parser.add_argument("--open", type=Path, metavar="FILE", help="unpack a bundle to the folder -o; executes nothing")
    parser.add_argument(
        "--runs",
        type=whole_number,
        metavar="N",
        help="how often it must be tried (3 for crashes and timeouts, else 1 or 2)",
    )
    parser.add_argument(
        "--reduce", action="store_true", help="reduce it first: to one case, and to less of the module, smaller shapes"
    )
    parser.add_argument(
        "--reduce-seconds", type=whole_number, default=300, metavar="S", help="end the reduction after this long (300)"
    )
    parser.add_argument(
        "--without-env",
        action="append",
        default=[],
        metavar="NAME",
        help="leave the value of this variable of `env` out of the bundle; may be repeated",
    )
    parser.add_argument(
        "--keep", action="store_true", help="write the bundle also if the failure does not occur (exit status 3)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write a bundle, or open one. Return 0, or `NOT_REPRODUCED`, with `--keep` also where it was written.

    Raises `argparse.ArgumentError` for wrong usage and `RetargetError`.
    """
    if bool(arguments.target) == (arguments.open is not None):
        raise argparse.ArgumentError(None, "expected the target to write a bundle of, or --open with a bundle")
    if arguments.open is not None:
        return _open(arguments)
    chosen = chosen_target(arguments)
    _expect_variables(chosen, arguments.without_env)
    _expect_installed(chosen, () if arguments.keep else arguments.retarget_extension)
    output = arguments.output or Path(f"{chosen.target.name.replace('/', '-')}.tar.zst")
    above = display_path(output.parent)
    for is_wrong, why in (
        (not output.name.endswith(".tar.zst"), f"found -o {output}, expected a file that ends in .tar.zst"),
        (not output.parent.is_dir(), f"-o {output}: found no folder {above}"),
        (output.is_dir(), f"-o {output}: found a folder, expected a file"),
        (not os.access(output.parent, os.W_OK), f"-o {output}: the folder {above} is read-only"),
    ):
        if is_wrong:
            raise argparse.ArgumentError(None, why)
    with ScratchFolder("reduce") as scratch:
        cases = tuple(arguments.case)
        reduced = _reduced(arguments, chosen, scratch.path) if arguments.reduce else None
        if reduced is not None:
            chosen, cases = replace(chosen, target=reduced.target), reduced.cases or cases
        with _engine(arguments, chosen, cases) as engine:
            failed = find_failure(engine, chosen)
            print_note(f"{chosen.id} fails at {failed.failure.stage}: {failed.failure.summary}")
            try:
                bundle = write_bundle(
                    failed,
                    output,
                    engine=engine,
                    runs=arguments.runs,
                    keep=arguments.keep,
                    without_env=arguments.without_env,
                    note=print_note,
                )
            except NotReproducedError as error:
                print_note(str(error))
                return NOT_REPRODUCED
    sys.stdout.write(f"{display_path(output)}: {output.stat().st_size} bytes, {len(bundle.files) + 1} files\n")
    sys.stdout.write("".join(f"{line}\n" for line in (reduced.text() if reduced is not None else ())))
    if bundle.variables:
        names = ", ".join(bundle.variables)
        sys.stdout.write(f"bundle.json holds the values of env: {names}; --without-env NAME leaves one out\n")
    sys.stdout.write(f"{_statement(bundle)}\n")
    return 0 if bundle.reproduced.same else NOT_REPRODUCED


def _expect_variables(chosen: Chosen, names: Sequence[str]) -> None:
    """Raise `argparse.ArgumentError` for a name that is no variable of the target's configs."""
    runtime = chosen.target.runtime if isinstance(chosen.target, RunTarget) else None
    known = {name: None for name, _ in (*chosen.compiled.compiler.env, *(runtime.env if runtime is not None else ()))}
    for name in names:
        if name not in known:
            there = f"expected one of: {', '.join(known)}" if known else "its configs have no variables"
            msg = f"--without-env: found {name!r}, which is not in env of the configs of {chosen.id}; {there}"
            raise argparse.ArgumentError(None, msg)


def _expect_installed(chosen: Chosen, extensions: Sequence[str]) -> None:
    """Raise `RetargetError` for a compiler or driver of an extension that is named here alone."""
    drivers = chosen.target.runtime.drivers if isinstance(chosen.target, RunTarget) else ()
    used = [("compiler", chosen.compiled.compiler.compiler), *(("driver", name) for name in drivers)]
    for kind, name in used:
        if (extension := chosen.registry.origins.get((kind, name))) in extensions:
            msg = (
                f"{chosen.id} cannot be reproduced elsewhere: its {kind} {name!r} is of the extension {extension!r}, "
                "which --retarget-extension loads, and a bundle loads extensions that are installed. Next: install a "
                f"package with the entry point `{extension}` in the group `retarget`, or write the bundle with --keep"
            )
            raise RetargetError(msg)


def _engine(arguments: argparse.Namespace, chosen: Chosen, cases: Sequence[str]) -> Engine:
    extensions = arguments.retarget_extension
    return Engine(registry=chosen.registry, extensions=extensions, cases=cases, note=print_note)


def _reduced(arguments: argparse.Namespace, chosen: Chosen, folder: Path) -> Reduced:
    with _engine(arguments, chosen, arguments.case) as engine:
        found = attempt(engine, chosen)
    print_note(f"reducing {chosen.id}: {found}")
    return reduce_failure(
        chosen,
        found,
        folder,
        extensions=arguments.retarget_extension,
        cases=arguments.case,
        seconds=arguments.reduce_seconds,
        note=print_note,
    )


def _open(arguments: argparse.Namespace) -> int:
    folder = arguments.output or Path(arguments.open.name.removesuffix(".zst").removesuffix(".tar"))
    bundle = unpack(arguments.open, folder)
    observed = bundle.observed
    whose = "repro.py and lib/ are those of this retarget"
    if changed := foreign_code(folder):
        whose = f"read before you run it what is not of this retarget: {', '.join(changed)}"
    said = [f"{display_path(folder)}: {bundle.target}", f"  failed at {observed.at}: {observed.summary}"]
    said += [f"  {_statement(bundle)}", f"nothing was executed; {whose}", f"  python3 {display_path(folder)}/repro.py"]
    sys.stdout.write("".join(f"{shown(line, 1000)}\n" for line in said))  # a stranger's text
    return 0


def _statement(bundle: Bundle) -> str:
    """Say how reliably the failure was reproduced."""
    found = bundle.reproduced
    if not found.same:
        return f"not reproduced in {found.runs} runs: {'; '.join(found.others)}"
    if found.same < found.runs:
        return f"flaky: reproduced in {found.same} of {found.runs} runs; else {'; '.join(found.others)}"
    times = "once" if found.runs == 1 else f"in {found.same} of {found.runs} runs"
    return f"reproduced {times} from the bundle alone: {bundle.observed}"
