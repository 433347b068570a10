"""How near to linear compiles grow with the cores of a cluster.

    python3 benchmarks/cluster_compiles.py [--targets 150] [--rounds 3]

The same cold compiles, in turns: a session alone with one compile at a time, on one core; a session with two simulated
hosts, `retarget worker` processes with one core each and stores of their own. Printed is the time of the first over
twice that of the second: 1 is linear, the goal is 0.9; of whole sessions, and of what compiles beyond the first ten add
to them, without the start of a session. The scheduler and the session take their share of the same two cores. Wants
Linux, two cores and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from timed_project import FLAGS, suite_text, timed_pytest, write_matrix

RETARGET = str(Path(sys.executable).with_name("retarget"))
PORT = 8799
FEW = 10
ADDRESS = f"tcp://127.0.0.1:{PORT}"
MODULE = """\
func.func @product(%a: tensor<{n}x64xf32>, %b: tensor<64x{n}xf32>) -> tensor<{n}x{n}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{n}x{n}xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %p = linalg.matmul ins(%a, %b : tensor<{n}x64xf32>, tensor<64x{n}xf32>) outs(%init : tensor<{n}x{n}xf32>)
      -> tensor<{n}x{n}xf32>
  %e = math.exp %p : tensor<{n}x{n}xf32>
  return %e : tensor<{n}x{n}xf32>
}}
"""


def write_project(folder: Path, sizes: range) -> Path:
    """Declare modules of these sizes, compiled for llvm-cpu and not run."""
    folder.mkdir()
    write_matrix(folder, FLAGS, [])
    (folder / "suite.toml").write_text(suite_text("wide", "*.mlir", "check"))
    for size in sizes:
        (folder / f"module{size}.mlir").write_text(MODULE.format(n=size))
    return folder


@contextmanager
def on_core(number: int) -> Iterator[None]:
    """Processes that are started meanwhile stay on one of this process's cores."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[number % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextmanager
def hosts(folder: Path) -> Iterator[None]:
    """Two workers with a core each, and a scheduler."""
    processes = [subprocess.Popen([RETARGET, "cluster", "start", "--port", str(PORT)], stdout=subprocess.DEVNULL)]
    try:
        time.sleep(3)
        for number in range(2):
            store = folder / f"host{number}"
            shutil.rmtree(store, ignore_errors=True)
            argv = [RETARGET, "worker", ADDRESS, "--cores=1", "--no-probe", f"--name=host{number}"]
            environment = os.environ | {"RETARGET_CACHE_DIR": str(store)}
            with on_core(number):
                processes.append(subprocess.Popen(argv, env=environment, stderr=subprocess.DEVNULL))
        _wait_for_workers()
        yield
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(60)


def _wait_for_workers() -> None:
    for _ in range(60):
        status = subprocess.run([RETARGET, "cluster", "status", ADDRESS], capture_output=True, text=True, check=False)
        if "host0" in status.stdout and "host1" in status.stdout:
            return
        time.sleep(1)
    sys.exit(f"benchmark: the workers did not come:\n{status.stdout}{status.stderr}")


def cold(project: Path, cache: Path, *arguments: str) -> float:
    """Return the seconds of a session with an empty cache."""
    shutil.rmtree(cache, ignore_errors=True)
    return timed_pytest(project, cache, *arguments).seconds


def few_and_all(projects: tuple[Path, Path], cache: Path, *arguments: str) -> tuple[float, float]:
    """Return the seconds of cold sessions with the small project and with the large one."""
    few, more = (cold(project, cache, *arguments) for project in projects)
    return few, more


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    spent: dict[str, list[tuple[float, float]]] = {"one core": [], "two hosts": []}
    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as name:
        folder = Path(name)
        cache = folder / "cache"
        few = write_project(folder / "few", range(16, 16 + FEW))
        projects = few, write_project(folder / "all", range(16 + FEW, 16 + FEW + options.targets))
        for _ in range(options.rounds):
            with on_core(0):
                spent["one core"].append(few_and_all(projects, cache, "--retarget-jobs=1"))
            with hosts(folder):
                spent["two hosts"].append(few_and_all(projects, cache, f"--retarget-cluster={ADDRESS}"))
    whole = {side: statistics.median(more for _, more in found) for side, found in spent.items()}
    added = {side: statistics.median(more - few for few, more in found) for side, found in spent.items()}
    print(f"{options.targets} compiles, medians of {options.rounds}")
    for side in spent:
        ratios = [found["one core"] / (2 * found[side]) for found in (whole, added)]
        shown = "" if side == "one core" else f"{ratios[0]:8.3f} of linear, {ratios[1]:.3f} without the start"
        print(f"{side:<10}{whole[side]:8.2f} s{added[side]:8.2f} s without the start{shown}")


if __name__ == "__main__":
    main()
