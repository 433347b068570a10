"""What an edit costs: `pytest --retarget-changed` after it, beside the sessions that it replaces.

    python3 benchmarks/edit_loop.py [--suites state control-flow] [--pairs 3]

Works on a copy of the suites and of the package `retarget_opencl`, for the OpenCL device of this machine. In each pair
the same edit is followed by three sessions on the same targets: with `--retarget-changed`; all of them (without it);
and as it was before, when each edit of the package had everything compiled again (an empty cache; after other edits
that is the second one). Printed are the ratios, by wall time and by CPU time of all processes, the median of the pairs:

  nothing       no edit: nothing is compiled and no device is opened
  one module    a comment in one module
  run side      a comment in the driver: nothing is compiled
  translation   a comment in the translation: only its own step is done, no artifact is another
  one rule      how an addition is written: the same, and what adds runs again
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
EDITED = "kernels/retarget_opencl"
ADDITION = re.compile(r'(text_rule\("spirv\.FAdd", "\{0\} \+)[^{]*')


class Copy:
    """A folder with the package and the suites, to be edited."""

    def __init__(self, folder: Path, suites: Sequence[str]) -> None:
        self.folder = folder
        self.package = folder / "code" / "retarget_opencl"
        shutil.copytree(ROOT / EDITED, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        for name in suites:
            shutil.copytree(ROOT / "suites" / name, folder / "suites" / name)
        # A profile in a file: a session with `host` starts a worker to ask the device, whatever was edited.
        text = (ROOT / "suites" / "matrix.toml").read_text(encoding="utf-8")
        text = text.replace('"host:opencl://"', '"opencl-pocl"')
        (folder / "suites" / "matrix.toml").write_text(text, encoding="utf-8")
        (folder / "pytest.ini").write_text("[pytest]\n")
        self._number = 0
        self.summary = ""

    def comment(self, path: Path, mark: str) -> None:
        """Append a comment that no version had before."""
        self._number += 1
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{mark} edit {self._number}\n")

    def edit_addition(self) -> None:
        """Write additions as no version did before."""
        self._number += 1
        path = self.package / "clc" / "ops" / "arithmetic.py"
        text, count = ADDITION.subn(rf"\g<1> /* {self._number} */ ", path.read_text(encoding="utf-8"))
        assert count == 1
        path.write_text(text, encoding="utf-8")

    def session(self, *arguments: str, cache: str = "cache") -> tuple[float, float]:
        """Run the OpenCL targets; return seconds of wall time, and of CPU time over all processes."""
        before, start = _cpu(), time.perf_counter()
        argv = [sys.executable, "-m", "pytest", "-q", "-m", "opencl and not conformance", "suites", *arguments]
        path = os.pathsep.join([str(self.package.parent), *sys.path])
        env = os.environ | {"PYTHONPATH": path, "RETARGET_CACHE_DIR": str(self.folder / cache)}
        done = subprocess.run(argv, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        self.summary = done.stdout.strip().splitlines()[-1]
        return time.perf_counter() - start, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def edits(copy: Copy) -> dict[str, tuple[Callable[[], None], bool]]:
    """Return how each edit is made, and whether everything was compiled again after it before."""
    module = min((copy.folder / "suites").rglob("*.mlir"))
    return {
        "nothing": (lambda: None, False),
        "one module": (lambda: copy.comment(module, "//"), False),
        "run side": (lambda: copy.comment(copy.package / "run" / "commands.py", "#"), True),
        "translation": (lambda: copy.comment(copy.package / "clc" / "kernel.py", "#"), True),
        "one rule": (copy.edit_addition, True),
    }


def measure(copy: Copy, edit: Callable[[], None], *, empties: bool) -> tuple[list[tuple[float, float]], str]:
    """Return the times of the three sessions after an edit, and what the first one says at its end."""
    edit()
    shutil.copytree(copy.folder / "cache", copy.folder / "all")  # each session has the same to compile
    changed = copy.session("--retarget-changed")
    said = copy.summary
    everything = copy.session(cache="all")
    shutil.rmtree(copy.folder / "all")
    before = everything
    if empties:
        before = copy.session(cache="empty")
        shutil.rmtree(copy.folder / "empty")
    return [changed, everything, before], said


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each edit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", nargs="+", default=["state", "control-flow"], metavar="NAME")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--edits", nargs="+", metavar="NAME", help="only these")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), options.suites)
        copy.session()
        print(f"{copy.summary.partition(' in ')[0]}; sessions after an edit, wall (CPU) relative to")
        print(f"{'edit':14}{'all, warm':>20}{'before':>20}   in seconds   --retarget-changed")
        for name, (edit, empties) in edits(copy).items():
            if options.edits and name not in options.edits:
                continue
            rounds = [measure(copy, edit, empties=empties) for _ in range(options.pairs)]
            ratios = []
            for other in (1, 2):
                wall, cpu = (statistics.median(times[0][of] / times[other][of] for times, _ in rounds) for of in (0, 1))
                ratios.append(f"{wall:.2f} ({cpu:.2f})")
            seconds = [statistics.median(times[0][of] for times, _ in rounds) for of in (0, 1)]
            took = f"{seconds[0]:.1f} ({seconds[1]:.1f})"
            said = rounds[-1][1].partition(" in ")[0]
            print(f"{name:14}{ratios[0]:>20}{ratios[1]:>20}   {took:12} {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
