"""Runs a slice of the demo and of the tests on many machines, made out of this one, and prints a table of them.

    make machines                              all, in most of an hour on two cores
    make machines MACHINES='cpu-* memory-1gib' those whose names match
    make machines MACHINES=--list              what there is, and what is missing here
    make machines MACHINES=--sample            the few of .ci/run, with short slices; all of them must be here

Each has a copy of the checkout, an environment made by uv, a home folder and so a cache of its own, and runs
`make demo` and `make test`. A machine that cannot be made here is listed with what to install. Output and results of
each are in build/machines/NAME. The exit status is 1 where something failed, 2 for unknown names.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from machine_runs import Outcome, cpu_seconds, run_machine
from machine_setup import CHECKOUT, NotHereError, Workshop, look_for
from machine_table import MACHINES, Machine

__all__ = ["main", "row", "selected"]

LOGS = CHECKOUT / "build/machines"
_COLUMNS = ("machine", "what", "demo: passed/failed/skipped", "tests", "seconds", "of the CPU", "OpenCL that ran")
_HEAD = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}"


def selected(patterns: Sequence[str], *, sample: bool) -> list[Machine]:
    """Return the machines whose names match a pattern (all without one), of the sample alone if `sample`.

    Raises `SystemExit` for a pattern that matches none.
    """
    offered = [machine for machine in MACHINES if machine.sample or not sample]
    names = [machine.name for machine in offered]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            close = get_close_matches(pattern, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}"
            print(f"found no machine {pattern!r}; {hint}", file=sys.stderr)
            raise SystemExit(2)
    return [one for one in offered if not patterns or any(fnmatchcase(one.name, pattern) for pattern in patterns)]


def row(outcome: Outcome) -> str:
    """Return the line of the table for a machine."""
    machine = outcome.machine
    ran = ", ".join(outcome.opencl) or "none"
    failed = "" if not outcome.faults else " **fails**"
    counts = f"{outcome.demo.counts} | {outcome.tests.counts}"
    seconds = f"{outcome.seconds:.0f} | {outcome.cpu_seconds:.0f}"
    return f"| {machine.name}{failed} | {machine.what} | {counts} | {seconds} | {ran} |"


def main(arguments: Sequence[str]) -> int:
    """Run the machines that the arguments name; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help="names or globs (all)")
    parser.add_argument("--list", action="store_true", help="list the machines and run nothing")
    parser.add_argument("--sample", action="store_true", help="short slices of a few; each must be here")
    parser.add_argument("--extras", default="all", help="the extras that `make demo` installs")
    parser.add_argument("--keep", action="store_true", help="keep the machines' folders, and say where they are")
    options = parser.parse_args(arguments)
    chosen = selected(options.machines, sample=options.sample)
    if options.list:
        for machine in chosen:
            print(f"{machine.name:20}{'sample' if machine.sample else '':8}{machine.what}{_missing(machine)}")
        return 0
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # what runs ends, and what was made is removed
        signal.signal(number, _end)
    folder = Path(tempfile.mkdtemp(prefix="retarget-machines-"))
    start = time.monotonic()
    try:
        return _run_all(chosen, Workshop(folder, options.extras), sample=options.sample)
    finally:
        taken = f"{time.monotonic() - start:.0f} s in all, {cpu_seconds():.0f} of the CPU"
        print(f"\n{datetime.now(UTC):%Y-%m-%d}, {taken}; output in {LOGS}", flush=True)
        if options.keep:
            print(f"the machines are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)  # what was ended may still write


def _missing(machine: Machine) -> str:
    try:
        look_for(machine)
    except NotHereError as missing:
        return f"; not here: {missing}"
    return ""


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _run_all(chosen: Sequence[Machine], workshop: Workshop, *, sample: bool) -> int:
    print(_HEAD, flush=True)
    failed: list[Outcome] = []
    not_here = 0
    for machine in chosen:
        logs = LOGS / machine.name
        shutil.rmtree(logs, ignore_errors=True)
        try:
            place = workshop.make(machine)
        except NotHereError as missing:
            not_here += 1
            print(f"| {machine.name} | {machine.what} | not here: {missing} | | | | |", flush=True)
            continue
        part = machine.sample if sample and machine.sample else machine.slice
        outcome = run_machine(machine, part, place, logs)
        print(row(outcome), flush=True)
        if outcome.faults:
            failed.append(outcome)
    for outcome in failed:
        print(f"\n{outcome.machine.name} ({outcome.machine.what}) fails; output in {LOGS / outcome.machine.name}:")
        for fault in outcome.faults:
            print(f"  {fault}")
    if sample and not_here:
        print("\nA machine of the sample is not here.")
    return 1 if failed or (sample and not_here) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
