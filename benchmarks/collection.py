"""Collecting a matrix against pytest collecting as many parametrised tests (`--collect-only -q`): time and memory.

Both sides run in processes of their own, alternately, with the same options and the plugin loaded on both. The peer is
one function with one parameter, which is the least that pytest can do. Medians of wall time and of peak memory (the
resident set, in MiB) are printed with their ratios. So is the time that the project's TOML reader takes for the
expectations of suites/onnx against the standard library's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import tomli

EXPECTATIONS = Path(__file__).parents[1] / "suites" / "onnx" / "expectations.toml"
COMPILERS = 5
RUNTIMES = 19
PER_MODULE = COMPILERS * (1 + RUNTIMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    seconds: float
    mebibytes: float


def write_matrix(folder: Path, targets: int) -> None:
    """Declare `targets` targets over as few modules as that takes."""
    lines = ["root = true"]
    for number in range(COMPILERS):
        lines += ["[[compiler_config]]", f'name = "compiler-{number}"', 'compiler = "iree"', 'tags = ["fast", "small"]']
    for number in range(RUNTIMES):
        lines += ["[[runtime_config]]", f'name = "runtime-{number}"', 'driver = "local-task"']
        lines += ['host_os = "linux"', 'host_arch = "x86_64"', 'tags = ["cpu"]']
    compilers = ", ".join(f'"compiler-{number}"' for number in range(COMPILERS))
    runtimes = ", ".join(f'"runtime-{number}"' for number in range(RUNTIMES))
    lines += ["[[target_config]]", 'name = "all"', f"compiler = [{compilers}]", f"runtimes = [{runtimes}]"]
    (folder / "matrix.toml").write_text("\n".join(lines) + "\n")
    suite = '[[module_test_suite]]\nname = "wide"\nsrcs = ["*.mlir"]\nkind = "check"\ntargets = ["all"]\n'
    (folder / "suite.toml").write_text(suite)
    for number in range(targets // PER_MODULE):
        (folder / f"module-{number}.mlir").write_text("")


def write_tests(folder: Path, tests: int) -> None:
    """Write one parametrised test."""
    text = (
        f'import pytest\n\n\n@pytest.mark.parametrize("number", range({tests}))\ndef test_number(number):\n    pass\n'
    )
    (folder / "test_parametrised.py").write_text(text)


def collect(folder: Path, expected: int) -> Measured:
    """Collect a folder in a process of its own. Exits if it does not find `expected` items."""
    output = folder.with_suffix(".out")
    argv = [sys.executable, "-m", "pytest", "-q", "--collect-only", "--strict-markers", "-p", "no:cacheprovider"]
    argv += ["-p", "pytest_retarget.plugin", f"--rootdir={folder}", str(folder)]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    start = time.perf_counter()
    with output.open("wb") as stdout:
        actions = [(os.POSIX_SPAWN_DUP2, stdout.fileno(), 1), (os.POSIX_SPAWN_DUP2, stdout.fileno(), 2)]
        process = os.posix_spawn(sys.executable, argv, environment, file_actions=actions)
        _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    found = sum("::" in line for line in output.read_text().splitlines())
    if status or found != expected:
        sys.exit(f"benchmark: collected {found} items of {expected} (status {status}); see {output}")
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return Measured(seconds=seconds, mebibytes=usage.ru_maxrss / unit)


def read_toml(rounds: int) -> None:
    """Read a large file with tomli, which the project uses, and with tomllib, alternately; print the best of each."""
    text = EXPECTATIONS.read_text(encoding="utf-8")
    best = {"tomli": float("inf"), "tomllib": float("inf")}
    for _ in range(rounds):
        for name, loads in (("tomli", tomli.loads), ("tomllib", tomllib.loads)):
            start = time.process_time()
            loads(text)
            best[name] = min(best[name], time.process_time() - start)
    mine, theirs = best["tomli"] * 1000, best["tomllib"] * 1000
    what = f"{len(text) // 1024} KiB of TOML"
    print(f"{what:12} tomli {mine:8.2f} ms, tomllib {theirs:8.2f} ms, ratio {mine / theirs:.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    targets = options.targets - options.targets % PER_MODULE
    matrix: list[Measured] = []
    tests: list[Measured] = []
    with tempfile.TemporaryDirectory() as name:
        folders = Path(name) / "matrix", Path(name) / "tests"
        for folder, write in zip(folders, (write_matrix, write_tests), strict=True):
            folder.mkdir()
            write(folder, targets)
        for _ in range(options.rounds):
            matrix.append(collect(folders[0], targets))
            tests.append(collect(folders[1], targets))
    print(f"{targets} items, medians of {options.rounds}")
    report("seconds", "s", [one.seconds for one in matrix], [one.seconds for one in tests])
    report("peak memory", "MiB", [one.mebibytes for one in matrix], [one.mebibytes for one in tests])
    read_toml(max(5, options.rounds))


def report(what: str, unit: str, matrix: list[float], tests: list[float]) -> None:
    """Print both medians and their ratio."""
    mine, theirs = statistics.median(matrix), statistics.median(tests)
    print(f"{what:12} retarget {mine:8.2f} {unit}, pytest parametrised {theirs:8.2f} {unit}, ratio {mine / theirs:.2f}")


if __name__ == "__main__":
    main()
