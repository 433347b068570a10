"""What a session costs whose targets are all warm, against pytest with as many empty tests.

    python3 benchmarks/warm_session.py [--rounds 9] [--targets 200]

Sessions in pairs, each side in processes of its own and in turns; printed are medians of wall and CPU time:

  start     one run target / pytest alone with one test            goal: at most 0.35 s more
  with it   one run target / one test, the plugin on both sides    what compiles and runs cost, without the plugin
  target    seconds that a further run target adds                 goal: at most 1.5 ms
  ctest     a process of `retarget run` for one target, as ctest starts it    goal: at most 0.4 s CPU

Everything is compiled before the clock starts: the modules are one function with another constant each, for vmvx on
local-sync. CPU time is that of all processes of a session.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from timed_project import suite_text, write_matrix

COMPILE_TARGET = "suite.toml::warm::module0_llvm-cpu"
FLAGS = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx")
MODULE = """\
func.func @doubled() {{
  %a = util.unfoldable_constant dense<{number}> : tensor<4xi32>
  %b = arith.addi %a, %a : tensor<4xi32>
  check.expect_eq_const(%b, dense<{double}> : tensor<4xi32>) : tensor<4xi32>
  return
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Seconds of a session."""

    wall: float
    cpu: float

    def __sub__(self, other: Spent) -> Spent:
        return Spent(wall=self.wall - other.wall, cpu=self.cpu - other.cpu)


def write_project(folder: Path, modules: int) -> Path:
    folder.mkdir()
    write_matrix(folder, FLAGS, ["local-sync"])
    (folder / "suite.toml").write_text(suite_text("warm", "*.mlir", "check"))
    for number in range(modules):
        (folder / f"module{number}.mlir").write_text(MODULE.format(number=number, double=2 * number))
    return folder


def write_tests(folder: Path, tests: int) -> Path:
    folder.mkdir()
    text = f'import pytest\n\n\n@pytest.mark.parametrize("number", range({tests}))\ndef test_it(number):\n    pass\n'
    (folder / "test_it.py").write_text(text)
    return folder


def session(folder: Path, cache: Path, *arguments: str) -> Spent:
    """Run pytest in a folder without any other plugin. Ends the benchmark if pytest fails."""
    argv = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", str(folder), *arguments]
    return process(argv, folder, cache)


def process(arguments: Sequence[str], folder: Path, cache: Path) -> Spent:
    """Run Python in a folder. Ends the benchmark if it fails."""
    environment = os.environ | {"RETARGET_CACHE_DIR": str(cache), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else it is the compiling of Python that is measured
    before, start = _cpu(), time.perf_counter()
    argv = [sys.executable, *arguments]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"benchmark: {arguments[1]} failed (exit status {done.returncode}):\n{done.stdout}{done.stderr}")
    return Spent(wall=wall, cpu=_cpu() - before)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def median(sessions: Sequence[Spent]) -> Spent:
    return Spent(
        wall=statistics.median(one.wall for one in sessions), cpu=statistics.median(one.cpu for one in sessions)
    )


def measured(top: Path, *, targets: int, sides: Collection[str] = ()) -> Iterator[dict[str, Spent]]:
    """Measure sessions in turns, in projects below a folder, as often as wanted: those of these names, or all."""
    plugin = ("-p", "pytest_retarget.plugin")
    runs = (*plugin, "-k", "local-sync")
    cache = top / "cache"
    one, many = write_project(top / "one", 1), write_project(top / "many", targets)
    test, tests = write_tests(top / "test", 1), write_tests(top / "tests", targets)
    for folder in (one, many):  # compiled now
        session(folder, cache, *runs)
    found = {
        "pytest, one test": lambda: session(test, cache),
        "plugin, one test": lambda: session(test, cache, *plugin),
        "pytest, all tests": lambda: session(tests, cache),
        "one target": lambda: session(one, cache, *runs),
        "all collected": lambda: session(many, cache, *runs, "--collect-only"),
        "all targets": lambda: session(many, cache, *runs),
        "ctest, run": lambda: process(["-m", "retarget.cli", "run", f"{COMPILE_TARGET}_local-sync"], one, cache),
        "ctest, compile": lambda: process(["-m", "retarget.cli", "run", COMPILE_TARGET], one, cache),
    }
    while True:
        yield {side: found[side]() for side in sides or found}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--targets", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as name:
        spent = [*islice(measured(Path(name), targets=options.targets), options.rounds)]
    found = {side: median([sessions[side] for sessions in spent]) for side in spent[0]}
    print(f"{'medians of ' + str(options.rounds):<20}{'wall':>10}{'CPU':>10}")
    for side, seconds in found.items():
        print(f"{side:<20}{seconds.wall:>8.2f} s{seconds.cpu:>8.2f} s")
    bare, target = found["pytest, one test"], found["one target"]
    more = target - bare
    print(f"start    {target.wall / bare.wall:.2f} times pytest alone, {more.wall:.2f} s more ({more.cpu:.2f} s CPU)")
    more = target - found["plugin, one test"]
    print(f"with it  {more.wall:.2f} s more than pytest with the plugin ({more.cpu:.2f} s CPU)")
    each = 1000 / (options.targets - 1)
    more, less = found["all targets"] - target, found["pytest, all tests"] - bare
    print(
        f"target   {more.wall * each:.2f} ms ({more.cpu * each:.2f} ms CPU), "
        f"{more.wall / less.wall if less.wall > 0 else float('inf'):.1f} times an empty test"
    )


if __name__ == "__main__":
    main()
