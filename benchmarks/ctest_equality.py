"""Whether ctest gives each target the outcome that pytest gives it.

For each folder, pytest runs what is selected, `retarget emit ctest` writes its tests, and ctest runs these; both find
the same cache. Each target with another outcome is printed, and the exit status is 1 if there is one.

    benchmarks/ctest_equality.py FOLDER... [-m EXPR] [-j JOBS]

The test of the declarations, `retarget check`, is held against the errors of rules that pytest reports.

Where the compile target of a run target fails, ctest does not start it, whatever pytest makes of it; these are counted
apart (docs/moving-from-bazel.md).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from retarget.results import Sessions
from retarget_ctest.emit import CHECK

__all__ = ["NOT_RUN", "by_ctest", "by_pytest", "compare", "emitted", "main"]

CTEST = str(Path(sys.executable).with_name("ctest"))
NOT_RUN = "not run: Fixture dependency failed"
SAME = {
    "passed": "passed",
    "flaky": "passed",
    "intermittent": "passed",
    "xfailed": "passed",
    "failed": "failed",
    "xpassed": "failed",
    "error": "failed",
    "skipped": "skipped",
    "not run": "failed",
    "blocked": NOT_RUN,
}
"""What ctest makes of the outcomes of pytest."""


def emitted(project: Path, folder: Path, *arguments: str) -> str:
    """Have `retarget emit ctest` write its file to a folder, and return what it prints."""
    command = [sys.executable, "-m", "retarget.cli", "emit", "ctest", "-o", str(folder), *arguments]
    return subprocess.run(command, cwd=project, check=True, capture_output=True, text=True).stdout


def by_pytest(project: Path, folder: Path, *arguments: str) -> Mapping[str, str]:
    """Return what ctest has to make of each target, as the outcome by pytest says. `folder` is for results."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--retarget-results={folder}", *arguments]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True)
    if done.returncode not in {0, 1}:
        sys.exit(f"pytest ended with status {done.returncode}, expected 0 or 1:\n{done.stdout}{done.stderr}")
    (session,) = Sessions.read([folder])
    rules = "failed" if re.search("^=+ expectations =+$", done.stdout, re.MULTILINE) else "passed"
    return {CHECK: rules} | {record.nodeid: SAME[record.outcome] for record in session.latest.values()}


def by_ctest(folder: Path, *arguments: str) -> Mapping[str, str]:
    """Return the outcome by ctest of each test in a folder that `emitted` wrote to."""
    report = folder / "report.xml"
    command = [CTEST, "--test-dir", str(folder), "--output-junit", str(report), *arguments]
    subprocess.run(command, check=False, capture_output=True)
    return {str(case.get("name")): _outcome(case) for case in ET.parse(report).getroot().iter("testcase")}  # noqa: S314


def _outcome(case: ET.Element) -> str:
    if case.get("status") == "run":
        return "passed"
    if case.get("status") == "fail":
        return "failed"
    message = str(case.find("skipped").get("message"))  # type: ignore[union-attr]
    return "skipped" if "SKIP_RETURN_CODE=77" in message else f"not run: {message}"


def compare(expected: Mapping[str, str], found: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return a line for each difference, and the targets that ctest does not start as their compile target fails."""
    differences: list[str] = []
    not_started: list[str] = []
    failed = [name for name, outcome in found.items() if outcome == "failed" == expected.get(name)]
    for name in sorted(expected.keys() | found.keys()):
        wanted, outcome = expected.get(name, "no such target"), found.get(name, "no such test")
        if wanted == outcome:
            continue
        if outcome == NOT_RUN and any(name.startswith(f"{compiled}_") for compiled in failed):
            not_started.append(name)
        else:
            differences.append(f"{name}: by pytest {wanted}, by ctest {outcome}")
    return differences, not_started


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare folder by folder. Return 1 where an outcome differs, or nothing was compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+", help="what to look in, relative to the current folder")
    parser.add_argument("-m", default="", metavar="EXPR", help="only the targets that this selects, as in pytest")
    parser.add_argument("-j", type=int, default=2, metavar="JOBS", help="tests of ctest at a time (2)")
    options = parser.parse_args(arguments)
    compared, different = 0, 0
    for folder in options.folder:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as work:
            expected = by_pytest(Path.cwd(), Path(work, "results"), "-m", options.m, folder)
            emitted(Path.cwd(), Path(work, "ctest"), "-m", options.m, folder)
            found = by_ctest(Path(work, "ctest"), f"-j{options.j}")
        differences, not_started = compare(expected, found)
        counts = ", ".join(f"{count} {outcome}" for outcome, count in Counter(found.values()).items())
        print(f"{folder}: {len(expected) - len(differences) - len(not_started)} of {len(expected)} equal ({counts})")
        print("".join(f"  not started by ctest, its compile target fails: {name}\n" for name in not_started), end="")
        print("".join(f"  {line}\n" for line in differences), end="")
        print(f"  {time.monotonic() - started:.0f} s", flush=True)
        compared += len(expected)
        different += len(differences)
    print(f"{compared} tests compared, {different} with another outcome")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
