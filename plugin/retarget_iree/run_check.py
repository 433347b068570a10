"""Runs check functions of a compiled module by hand: `python -m retarget_iree.run_check --device=… --module=….vmfb`.

    --device=DRIVER[://DEVICE]   the device; DEVICE is a path, an ordinal or part of a name. Repeat for several devices.
    --module=FILE                the module, as compiled by iree-compile
    --function=NAME              a function to run; repeat for several. All without arguments if left out.

Any other --name=value goes to the IREE runtime (`--task_topology_group_count=2`). Exit status: 0 if every function
passed, 1 if one did not, 2 if the command line is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.arrays.comparison import compare_check
from retarget.extension import Check, Device, DriverError, Program, UnavailableError
from retarget.model import Origin, RuntimeConfig

from retarget_iree.runtime.drivers import DRIVERS, IreeDriver

if TYPE_CHECKING:
    from retarget.model.outcomes import Mismatch

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print a line per function, and for each failure what differs. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m retarget_iree.run_check", description="Run the check functions of a module compiled by IREE."
    )
    names = ", ".join(driver.name for driver in DRIVERS)
    parser.add_argument("--device", action="append", required=True, metavar="URI", help=f"device; drivers: {names}")
    parser.add_argument("--module", required=True, type=Path, metavar="FILE", help="module compiled by iree-compile")
    parser.add_argument(
        "--function", action="append", default=[], metavar="NAME", help="function to run (all if left out)"
    )
    options, flags = parser.parse_known_args(argv)
    stray = [flag for flag in flags if not flag.startswith("--")]
    if stray:
        parser.error(f"unexpected argument {stray[0]!r}")
    driver = _driver(parser, options.device)
    try:
        artifact = options.module.read_bytes()
    except OSError as error:
        parser.error(f"cannot read the module {options.module}: {error.strerror}")
    config = RuntimeConfig(
        name="run_check",
        driver=driver.name,
        devices=tuple(uri for uri in options.device if uri != driver.name),
        flags=tuple(flags),
        origin=Origin(file=Path(__file__), key_path=""),
    )
    try:
        device = driver.open(config)
        try:
            return _run(device, artifact, options.function)
        finally:
            device.close()
    except (DriverError, UnavailableError) as error:
        _tell(f"error: {error}", error.hint)
        return 1


def _driver(parser: argparse.ArgumentParser, uris: Sequence[str]) -> IreeDriver:
    schemes = dict.fromkeys(uri.partition("://")[0] for uri in uris)
    found = [driver for driver in DRIVERS if driver.name in schemes]
    if len(schemes) != 1 or not found:
        known = ", ".join(driver.name for driver in DRIVERS)
        parser.error(f"--device={', --device='.join(uris)}: expected devices of one of these drivers: {known}")
    return found[0]


def _run(device: Device, artifact: bytes, wanted: Sequence[str]) -> int:
    program = device.load(artifact)
    names = list(wanted) or [function.name for function in program.functions if function.arguments == 0]
    if not names:
        _tell("error: the module has no function without arguments; there is nothing to run")
        return 1
    failed = [name for name in names if not _passes(program, name)]
    where = ", ".join(f"{info.uri} ({info.name})" for info in device.infos)
    _tell(f"{len(names) - len(failed)} passed, {len(failed)} failed on {where}")
    return 1 if failed else 0


def _passes(program: Program, name: str) -> bool:
    checks = 0
    mismatches: list[Mismatch] = []

    def on_check(check: Check) -> None:
        nonlocal checks
        checks += 1
        mismatch = compare_check(check)
        if mismatch is not None:
            mismatches.append(mismatch)

    start = time.perf_counter()
    diagnostic: DriverError | None = None
    try:
        program.call(name, (), on_check)
    except DriverError as error:
        diagnostic = error
    seconds = time.perf_counter() - start
    where = ""
    if mismatches:
        reason = mismatches[0].summary
    elif diagnostic is not None:
        reason, where = str(diagnostic).partition("\n")[0], " at run"
    else:
        reason = "" if checks else f"function {name!r} made no check"
    verdict = f"FAIL {name}{where}: {reason}" if reason else f"PASS {name}"
    _tell(f"{verdict} ({checks} check{'' if checks == 1 else 's'}, {seconds:.3f} s)")
    for mismatch in mismatches:
        _tell(_indent(mismatch.report or mismatch.summary))
    if diagnostic is not None:
        _tell(_indent(str(diagnostic)), _indent(diagnostic.hint) if diagnostic.hint else "")
    return not reason


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _tell(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines if line))


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # the runtime's library is not made to be unloaded, and says so at length
