"""Runs the `repro.py` of an unpacked bundle in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct
from retarget.support.errors import RetargetError

from retarget_repro.bundle.format import Reproduced, read_bundle

_GOOD, _BAD, _CANNOT_TELL = 0, 1, 125
_HIDDEN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")


class Attempt(Struct, frozen=True, kw_only=True):
    """The output of one run of a `repro.py`. `status` is its exit status: 0, 1 or 125. `text` is all that it
    printed."""

    status: int
    text: str

    @property
    def line(self) -> str:
        """The verdict in one line: `bad: compare: values differ`."""
        lines = [line for line in self.text.splitlines() if line.startswith(("good: ", "bad: ", "cannot tell: "))]
        return lines[-1] if lines else f"exit status {self.status}: {self.text.strip().rpartition(chr(10))[2]}"


def attempt(folder: Path, arguments: Sequence[str] = (), *, hidden: Collection[str] = ()) -> Attempt:
    """Run the `repro.py` of an unpacked bundle once, with its code, without `hidden` variables and those of Python.

    Where the toolchain is `retarget`, its packages are found as this process finds them. Raises `RetargetError`.
    """
    isolated = read_bundle(folder).toolchain == "iree"
    hidden = {*hidden, *(_HIDDEN if isolated else ())}
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    argv = [sys.executable, *(["-I"] if isolated else []), "-B", str(folder / "repro.py"), *arguments]
    try:
        done = subprocess.run(
            argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as error:
        msg = f"repro.py does not start: {error.strerror or error}"
        raise RetargetError(msg) from error
    status = done.returncode if done.returncode in {_GOOD, _BAD} else _CANNOT_TELL
    if status == _BAD and not any(line.startswith("bad: ") for line in done.stdout.splitlines()):
        status = _CANNOT_TELL  # Python's own status for an exception
    return Attempt(status=status, text=done.stdout + done.stderr)


def default_runs(stage: str) -> int:
    """Return how often to reproduce a failure: what a signal or the clock ended may be chance."""
    return {"crash": 3, "timeout": 3, "compile": 1}.get(stage, 2)


def reproduce(folder: Path, *, runs: int, toolchain: Path | None = None, hidden: Collection[str] = ()) -> Reproduced:
    """Reproduce the failure of an unpacked bundle several times, without `hidden` variables of the environment.

    `others` has what runs said that did not show it.

    Raises `RetargetError`.
    """
    arguments = [] if toolchain is None else [f"--toolchain={toolchain.absolute()}"]
    made = [attempt(folder, arguments, hidden=hidden) for _ in range(runs)]
    others = dict.fromkeys(one.line for one in made if one.status != _BAD)
    return Reproduced(runs=runs, same=sum(one.status == _BAD for one in made), others=tuple(others))
