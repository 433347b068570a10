"""`retarget ci plan` against collecting the same targets (`pytest --collect-only -q`): wall time and its ratio.

Both sides run in processes of their own, alternately. Planning collects, places every target on one of ten runners by
requirements and drivers, takes durations from a history of all targets, and cuts them into legs. It is to take at most
twice the time of collecting.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from collection import COMPILERS, PER_MODULE, RUNTIMES, collect, write_matrix
from retarget.results import Plan, SessionResults, TargetRecord, new_session
from retarget.results.history import add_run
from retarget.results.record import CompileRecord, RunRecord

RUNNERS = 10


def write_ci(folder: Path) -> None:
    """Declare one runner that builds, and others that run."""
    labels = ", ".join(f'"machine-{number}"' for number in range(RUNNERS))
    lines = [f"labels = [{labels}]"]
    for number in range(RUNNERS):
        lines += ["[[runner]]", f'name = "runner-{number}"', f'labels = ["machine-{number}"]', "capacity = 16"]
        lines += ["builds = true"] if number == RUNNERS - 1 else []
        lines += ['drivers = ["local-task"]'] if number == RUNNERS - 2 else ['drivers = ["vulkan"]']
    lines += [
        "[[event]]",
        'name = "nightly"',
        'on = ["manual"]',
        'select = "fast and not compiler-4"',
        'budget = "1 h"',
    ]
    (folder / "ci.toml").write_text("\n".join(lines) + "\n")


def write_history(folder: Path, modules: int) -> None:
    """Write a history of one run that has every target."""
    records = []
    for module in range(modules):
        for compiler in range(COMPILERS):
            name = f"suite.toml::wide::module-{module}_compiler-{compiler}"
            built = CompileRecord(key="", seconds=1.0 + module % 7)
            records.append(TargetRecord(nodeid=name, compiler=f"compiler-{compiler}", compile=built))
            for runtime in range(RUNTIMES):
                ran = RunRecord(load_seconds=0.01, run_seconds=0.1 * (1 + module % 5), compare_seconds=0.01)
                one = TargetRecord(nodeid=f"{name}_runtime-{runtime}", runtime=f"runtime-{runtime}", run=ran)
                records.append(one)
    start = new_session(selected=len(records), digest="")
    add_run([SessionResults(start=start, records=tuple(records))], str(folder))


def plan(folder: Path, history: Path, targets: int) -> float:
    """Plan in a process of its own and return its wall time. Exits if the plan has not what the event selects."""
    output = folder.with_name("plan.json")
    command = [sys.executable, "-m", "retarget.cli", "ci", "plan", "--event", "nightly"]
    command += ["--history", str(history), "-o", str(output)]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    start = time.perf_counter()
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    found = sum(len(leg.ids) for leg in Plan.read(output).legs) if ran.returncode == 0 else 0
    expected = targets * (COMPILERS - 1) // COMPILERS
    if found != expected:
        sys.exit(f"benchmark: planned {found} targets of {expected} (status {ran.returncode}): {ran.stderr}")
    return seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    targets = options.targets - options.targets % PER_MODULE
    planned: list[float] = []
    collected: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder, history = Path(name) / "matrix", Path(name) / "history"
        folder.mkdir()
        write_matrix(folder, targets)
        write_ci(folder)
        write_history(history, targets // PER_MODULE)
        for _ in range(options.rounds):
            planned.append(plan(folder, history, targets))
            collected.append(collect(folder, targets).seconds)
    mine, theirs = statistics.median(planned), statistics.median(collected)
    print(f"{targets} targets, medians of {options.rounds}")
    print(f"plan {mine:.2f} s, collect {theirs:.2f} s, ratio {mine / theirs:.2f} (at most 2)")


if __name__ == "__main__":
    main()
