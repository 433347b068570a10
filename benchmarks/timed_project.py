"""What the benchmarks of whole runs share: a project for llvm-cpu, and pytest against the clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FLAGS", "Timed", "cores", "quoted", "suite_text", "timed_pytest", "write_matrix"]

FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)

MATRIX = """
root = true

[[compiler_config]]
name = "llvm-cpu"
compiler = "iree"
flags = [{flags}]

{configs}
[[target_config]]
name = "cpu"
compiler = "llvm-cpu"
runtimes = [{runtimes}]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Wall seconds of a pytest run and its last line."""

    seconds: float
    last_line: str


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def quoted(words: Sequence[str]) -> str:
    """Return the items of a TOML array of strings."""
    return ", ".join(f'"{word}"' for word in words)


def write_matrix(project: Path, flags: Sequence[str], runtimes: Sequence[str]) -> None:
    """Declare a target config `cpu`: llvm-cpu with these flags, on these of local-sync and local-task."""
    configs = "".join(f'[[runtime_config]]\nname = "{name}"\ndriver = "{name}"\n' for name in runtimes)
    (project / "matrix.toml").write_text(MATRIX.format(flags=quoted(flags), runtimes=quoted(runtimes), configs=configs))


def suite_text(name: str, srcs: str, kind: str, *more: str) -> str:
    """Return a suite of these sources on the target config `cpu`; `more` are further lines."""
    lines = ["[[module_test_suite]]", f'name = "{name}"', f'srcs = ["{srcs}"]', f'kind = "{kind}"', 'targets = ["cpu"]']
    return "\n".join([*lines, *more, ""])


def timed_pytest(project: Path, cache: Path, *arguments: str, statuses: Collection[int] = (0,)) -> Timed:
    """Run pytest in a project. Ends the benchmark if pytest ends with another status than these."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(project), str(project)]
    environment = os.environ | {"RETARGET_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    done = subprocess.run(
        [*command, *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode not in statuses:
        sys.exit(f"benchmark: pytest ended with status {done.returncode} in {project}:\n{done.stdout}{done.stderr}")
    return Timed(seconds=seconds, last_line=done.stdout.strip().splitlines()[-1].strip("= "))
