"""Sessions of pytest for a bring-up, in a process of their own. pytest's output goes to standard error, so that
standard output has the status alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from retarget.cli.support import run_session
from retarget.engine.cache.folder import cache_of_command
from retarget.support.errors import RetargetError

_KEPT = 5
"""Folders of results that are kept of one ladder, the newest."""

_QUIET = ("-q", "--no-header", "--tb=no", "--no-summary")
_HAS_RESULTS = (0, 1)
_NONE_SELECTED = 5
_STDERR = 2

_PYTEST = """\
import ctypes, runpy, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 2, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGINT
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
"""
"""`python3 -m pytest`, for which the end of the process that started it is a Ctrl-C."""


def new_folder(name: str) -> Path:
    """Return a new folder for results below the cache, and remove all but the last few of this ladder.

    Raises `RetargetError` where it cannot be made.
    """
    above = cache_of_command().folder / "bringup" / name
    when = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    try:
        above.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{when}-", dir=above))
    except OSError as error:
        msg = f"cannot write results to {above}: {error.strerror or error}"
        raise RetargetError(msg) from error
    for old in sorted(above.iterdir())[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def run_pytest(
    root: Path,
    results: Path,
    arguments: Sequence[str],
    *,
    targets: Iterable[str] = (),
    extensions: Sequence[str] = (),
    what: str,
) -> None:
    """Run a session in `root` that writes its results to a folder; of `targets` by their ids, where there are any.

    Raises `RetargetError` where pytest ran nothing, and `KeyboardInterrupt` after it was interrupted.
    """
    sys.stderr.write(f"{what}\n")
    sys.stderr.flush()
    options = [*_QUIET, "--rootdir=.", f"--retarget-results={results.resolve()}"]
    options += [f"--retarget-extension={one}" for one in extensions]
    with tempfile.TemporaryDirectory(prefix="retarget-bringup-") as temporary:
        if targets := tuple(targets):
            listed = Path(temporary) / "targets.txt"
            listed.write_text("".join(f"{target}\n" for target in targets), encoding="utf-8")
            options.append(f"@{listed}")
        command = [sys.executable, "-c", _PYTEST, *options, *arguments]
        status = run_session(command, root, stdin=subprocess.DEVNULL, stdout=_STDERR)
    if status == _NONE_SELECTED:
        msg = f"pytest selects no target in {root}; it was given {' '.join(arguments)}"
        raise RetargetError(msg)
    if status not in _HAS_RESULTS:
        ended = f"by signal {-status}" if status < 0 else f"with exit status {status}"
        msg = f"pytest ended {ended}, expected results; what it printed is above"
        raise RetargetError(msg)
