"""A cold session on ONNX's node tests against the least it could take: the CPU time of its compiles over the cores.

    python3 benchmarks/cold_floor.py [--sample 80]

The floor is what the compiler takes for the same tests in one process that is started already, one step each, divided
by the cores. Sessions begin with an empty cache and the tests generated. Printed, in wall time, for llvm-cpu:

  compiles   a session of compile targets alone / the floor       goal: at most 1.05
  with runs  the same with all run targets on local-sync / the floor

Both want a machine that does nothing else. `benchmarks/front_half.py` shows what the two halves of a compile cost.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
from pathlib import Path

from front_half import measured
from onnx_suite import MANIFEST, cold, write_project
from retarget.cli.support import add_expression_arguments, add_path_arguments, read_declared, request_of
from retarget.engine.engine import Engine
from retarget.model import CompileTarget
from retarget_onnx.manifest_file import read_manifest
from timed_project import cores


def floor(project: Path, cache: Path) -> float:
    """Return the CPU seconds of a project's compiles, one step each, in a process that has compiled before."""
    parser = argparse.ArgumentParser()
    add_path_arguments(parser)
    add_expression_arguments(parser)
    parser.set_defaults(retarget_extension=[])
    declared = read_declared(request_of(parser.parse_args([str(project)]), [str(project)]))
    with Engine(registry=declared.registry, cache=cache) as engine:
        targets = [
            [engine.generated(target)]
            for one in declared.suites
            for target in one.targets
            if isinstance(target, CompileTarget)
        ]
    return sum(float(found["seconds"][0]) for found in measured(declared.registry, targets))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N tests, evenly spread (default: all)")
    sample = parser.parse_args().sample
    names = [entry.name for entry in read_manifest(MANIFEST).entries]
    every = max(1.0, len(names) / sample) if sample else 1.0
    names = [names[int(at * every)] for at in range(int(len(names) / every))]
    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as name:
        folder = Path(name)
        cache = folder / "cache"
        session = functools.partial(cold, cache=cache, first=names[0])
        compiles = session(write_project(folder, names, []))
        runs = session(write_project(folder, names, ["local-sync"]))
        seconds = floor(folder / "project", cache)
    least = seconds / cores()
    print(f"{len(names)} tests: {seconds:.1f} s of compiling on {cores()} cores, floor {least:.1f} s")
    for what, found in (("compiles", compiles), ("with runs", runs)):
        print(f"{what:<10}{found.seconds:8.1f} s, {found.seconds / least:.3f} times the floor: {found.last_line}")


if __name__ == "__main__":
    main()
