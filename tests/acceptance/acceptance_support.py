"""Small projects in which pytest runs in a process of its own, as a user runs it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import declaration_texts
import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, target

DOUBLES_FILE = Path(__file__).with_name("doubles.py")

DOUBLES = ("--retarget-extension", "doubles")
"""The options that bring the test doubles in."""

VMVX = compiler("vmvx", flags=VMVX_FLAGS)
LLVM_CPU_FLAGS = [flag.replace("vmvx", "llvm-cpu") for flag in VMVX_FLAGS]
LLVM_CPU = compiler("llvm-cpu", flags=[*LLVM_CPU_FLAGS, "--iree-llvmcpu-target-cpu=host"])
SYNC_AND_TASK = declarations(runtime("sync"), runtime("task", "local-task"))


def matrix(*tables: str) -> str:
    """The text of a `matrix.toml` that holds these tables and takes none from above."""
    return declarations("root = true\n", *tables)


CPU = matrix(VMVX, SYNC_AND_TASK, target("cpu", ["vmvx"], ["sync", "task"]))

ELSEWHERE = matrix(VMVX, runtime("phone", host_os="ios"), target("cpu", "vmvx", ["phone"]))

DOUBLE = matrix(compiler("dc", "double"), runtime("dr", "double-device"), target("doubles", "dc", ["dr"]))


def alone_and_xdist(workers: int = 2, *, in_ci: bool = True) -> pytest.MarkDecorator:
    """Run a test with the `arguments` of one process, and with those of workers of xdist: slow, or not `in_ci`."""
    under_xdist = pytest.param((f"-n{workers}",), marks=pytest.mark.slow if in_ci else pytest.mark.exhaustive)
    return pytest.mark.parametrize("arguments", [(), under_xdist], ids=["alone", "xdist"])


def hooks(*, compiler: str, driver: str, cases: str = "doubles.DoubleCases") -> str:
    """The text of an extension's hooks, for the names of classes in it."""
    provided = {"compilers": compiler, "drivers": driver, "case_loaders": cases}
    return "\n".join(f"@hookimpl\ndef retarget_{what}():\n    return [{name}()]\n" for what, name in provided.items())


def suite(
    name: str = "linalg", *, kind: str = "check", srcs: str | Sequence[str] = "*.mlir", targets: str = "cpu"
) -> str:
    """The text of a `suite.toml` with one suite."""
    return declaration_texts.suite(name, srcs, kind, [targets])


class Project:
    """A folder with declarations and modules, and pytest to run in it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self._started: list[subprocess.Popen[str]] = []
        self.path = pytester.path

    def write(self, files: Mapping[str, str]) -> None:
        """Write files, by their paths below the project's folder."""
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def cpu(self, **modules: str) -> None:
        """Write IREE modules, compiled for VMVX and run on local-sync and local-task, as suite `linalg` in `suites`."""
        self.write({"matrix.toml": CPU, "suites/suite.toml": suite()})
        self.write({f"suites/{name}.mlir": text for name, text in modules.items()})

    def doubles(self, **modules: str) -> None:
        """Write modules for the test doubles as suite `twice` in `suites`."""
        self.write({"matrix.toml": DOUBLE, "suites/suite.toml": suite("twice", kind="double", targets="doubles")})
        self.write({f"suites/{name}.mlir": text for name, text in modules.items()})
        shutil.copy(DOUBLES_FILE, self.path)

    def run(self, *arguments: str | Path, apart: bool = False) -> pytest.RunResult:
        """Run pytest to its end.

        In this process, which has imported what a session needs and takes a third of the time; in one of its own with
        `apart`, or where it starts workers of xdist.
        """
        words = [str(argument) for argument in arguments]
        if apart or any(word.startswith("-n") for word in words):
            return self._pytester.runpytest_subprocess(*words, timeout=300)
        return self._pytester.runpytest_inprocess(*words, syspathinsert=True)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start pytest and return at once."""
        argv = [sys.executable, "-m", "pytest", *arguments]
        process = subprocess.Popen(
            argv, cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        self._started.append(process)
        return process

    def end(self) -> None:
        """Kill what was started and has not ended."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=600)

    def wait_for(self, name: str, seconds: float = 600.0) -> Path:
        """Wait until a file below the project's folder is there."""
        path, end = self.path / name, time.monotonic() + seconds
        while not path.exists():
            assert time.monotonic() < end, f"{path} did not appear within {seconds} s"
            time.sleep(0.05)
        return path


def expecting(project: Project, *rules: str) -> None:
    """Write the rules of a project's suites."""
    project.write({"suites/expectations.toml": "\n".join(rules)})
