"""The start of a session in which few of many targets are selected, and the session itself, warm.

The project: 10 suites, 4 compiler configs, 4 runtime configs, 300 expectation rules; as many modules as the targets
take (5,000 for 100,000 targets). Ten targets are selected: by `-m`, by `-k`, and by their node ids. Beside them are
measured a plain pytest session with one test, and the same ten targets in a project that has no others. All sessions
collect only, then run (IREE compiles and runs; the first run fills the cache), in turns; medians of wall and CPU time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUITES = 10
COMPILERS = {
    "llvm-cpu": ("--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"),
    "llvm-cpu-generic": ("--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"),
    "llvm-cpu-o0": ("--iree-hal-local-target-device-backends=llvm-cpu", "--iree-opt-level=O0"),
    "vmvx": ("--iree-hal-local-target-device-backends=vmvx",),
}
RUNTIMES = ("local-task", "local-sync", "local-task-2", "local-sync-2")
PER_MODULE = len(COMPILERS) * (1 + len(RUNTIMES))
RULES = 300
CHOSEN = [f"module-{number}" for number in range(5)]
"""Modules of the first suite with the tag `chosen`: two targets of each are selected."""

MODULE = """func.func @check() {{
  %a = util.unfoldable_constant dense<{number}.0> : tensor<4xf32>
  %b = arith.addf %a, %a : tensor<4xf32>
  check.expect_almost_eq_const(%b, dense<{twice}.0> : tensor<4xf32>) : tensor<4xf32>
  return
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Wall and CPU seconds of one session and the processes that it started."""

    wall: float
    cpu: float


def write_project(folder: Path, targets: int) -> None:
    """Declare about `targets` targets; at least the chosen modules."""
    lines = ["root = true"]
    for name, flags in COMPILERS.items():
        written = ", ".join(f'"{flag}"' for flag in ("--iree-hal-target-device=local", *flags))
        lines += ["[[compiler_config]]", f'name = "{name}"', 'compiler = "iree"', f"flags = [{written}]"]
    for name in RUNTIMES:
        lines += ["[[runtime_config]]", f'name = "{name}"', f'driver = "{name.removesuffix("-2")}"']
    compilers, runtimes = (", ".join(f'"{name}"' for name in names) for names in (COMPILERS, RUNTIMES))
    lines += ["[[target_config]]", 'name = "all"', f"compiler = [{compilers}]", f"runtimes = [{runtimes}]"]
    (folder / "matrix.toml").write_text("\n".join(lines) + "\n")
    each = max(len(CHOSEN), targets // PER_MODULE // SUITES)
    for number in range(SUITES if targets > PER_MODULE * SUITES else 1):
        write_suite(folder / f"suite-{number}", number, each)
    if targets > PER_MODULE * SUITES:
        matches = (f"module-{at // 10 + 10}?" if at % 10 == 0 else f"module-{at + 10}" for at in range(RULES))
        rules = (
            f'[[expectation]]\nmatch = ["{match}"]\nwhen = "vmvx"\nstage = ["run"]\nsignature = "{match}"\n'
            f'reason = "a rule for {match}"\n'
            for match in matches
        )
        (folder / "expectations.toml").write_text("\n".join(rules))


def write_suite(folder: Path, number: int, modules: int) -> None:
    """Write a suite and its modules."""
    folder.mkdir()
    text = f'[[module_test_suite]]\nname = "suite-{number}"\nsrcs = ["*.mlir"]\nkind = "check"\ntargets = ["all"]\n'
    if number == 0:
        match = ", ".join(f'"{name}"' for name in CHOSEN)
        text += f'\n[[module_test_suite.module]]\nmatch = [{match}]\ntags = ["chosen"]\n'
    (folder / "suite.toml").write_text(text)
    for module in range(modules):
        (folder / f"module-{module}.mlir").write_text(MODULE.format(number=module, twice=2 * module))


def session(folder: Path, cache: Path, arguments: Sequence[str], expected: int, more: Mapping[str, str]) -> Times:
    """Run pytest in a process of its own. Exits if it does not end well, or with other than `expected` tests."""
    output = cache.with_suffix(".out")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}"]
    environment = os.environ | {"RETARGET_CACHE_DIR": str(cache), **more}
    start = time.perf_counter()
    with output.open("wb") as stdout:
        process = subprocess.Popen([*argv, *arguments], cwd=folder, env=environment, stdout=stdout, stderr=stdout)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    text = output.read_text()
    words = text.strip().splitlines()[-1].replace("/", " ").split()
    if status or str(expected) not in words:
        sys.exit(f"benchmark: expected {expected} tests (status {status}) of pytest {' '.join(arguments)}:\n{text}")
    return Times(wall=seconds, cpu=usage.ru_utime + usage.ru_stime)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--collect-only", action="store_true", help="do not run the ten targets")
    parser.add_argument("--autoload", action="store_true", help="with all pytest plugins that are installed")
    options = parser.parse_args()
    ids = [f"suite-0/suite.toml::suite-0::{name}_llvm-cpu" for name in CHOSEN]
    ids += [f"{one}_local-task" for one in ids]
    keyword = " or ".join(f"{name}_llvm-cpu" for name in CHOSEN)
    ways = {
        "-m": ["-m", "chosen and compiler(name='llvm-cpu') and (compile or local-task) and not local-task-2"],
        "-k": ["-k", f"({keyword}) and not (generic or o0 or task-2 or sync) and suite-0"],
        "node ids": ids,
    }
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folders = {"plain": root / "plain", "few": root / "few", "many": root / "many"}
        for folder in folders.values():
            folder.mkdir()
        (folders["plain"] / "test_one.py").write_text("def test_one():\n    pass\n")
        write_project(folders["few"], 0)
        write_project(folders["many"], options.targets)
        sessions: dict[str, Any] = {"plain pytest, one test": (folders["plain"], [], 1)}
        sessions["10 targets of few, ids"] = folders["few"], ids, 10
        sessions |= {f"10 of {options.targets}, {way}": (folders["many"], words, 10) for way, words in ways.items()}
        plugins = (
            {}
            if options.autoload
            else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_retarget.plugin"}
        )
        for title, more in {"collected": ["--collect-only"], "run, warm": []}.items():
            if not more and options.collect_only:
                break
            times: dict[str, list[Times]] = {}
            for at in range(options.rounds + 1):
                for what, (folder, words, expected) in sessions.items():
                    one = session(folder, root / "cache", [*more, *words], expected, plugins)
                    times.setdefault(what, []).append(one) if at else print(
                        f"first: {what:32} {one.wall:6.2f} s", flush=True
                    )
            print(f"{title}, medians of {options.rounds}: wall s, CPU s, wall above plain pytest")
            plain = statistics.median(one.wall for one in times["plain pytest, one test"])
            for what, found in times.items():
                wall, cpu = (
                    statistics.median(values) for values in zip(*((o.wall, o.cpu) for o in found), strict=True)
                )
                print(f"  {what:32} {wall:6.2f} {cpu:6.2f} {wall - plain:6.2f}", flush=True)


if __name__ == "__main__":
    main()
