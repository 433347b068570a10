"""Runs targets on this machine and on a cluster, and compares the two junit files target by target.

    benchmarks/cluster_equality.py --cluster tcp://127.0.0.1:8786 suites/linalg -k matmul

What is not an option of this script goes to both pytest sessions; without any of it all shipped suites are run. With
`--cold` the cluster's session starts with an empty cache, so that its workers compile everything; else it takes what
the first session has compiled. All must be equal but wall times, and whether an artifact was reused.

Exit status: 0 if all targets are equal, 1 if not.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, parse

__all__ = ["differences"]

_TIMES = re.compile(r"retarget\.(\w+_seconds|reused|case_seconds\..*|compiled_on|ran_on)", re.DOTALL)
"""The properties that may differ."""

_PASSING = re.compile(r"\b\d+(\.\d+)?(e-\d+)? ?(s|ms|µs|us)\b|\bpid \d+|0x[0-9a-f]{6,}|/tmp/[\w./-]+")
"""What differs in texts from run to run: durations, processes, addresses, scratch folders."""

Facts = tuple[str, ...]


def differences(one: Path, other: Path) -> Iterator[str]:
    """Yield a line for each target, by its node id, that two junit files do not say the same of."""
    first, second = _targets(one), _targets(other)
    if list(first) != list(second) and first.keys() == second.keys():
        yield "the order of the targets differs"
    for nodeid in dict.fromkeys((*first, *second)):
        if nodeid not in first or nodeid not in second:
            yield f"{nodeid}: only in {one if nodeid in first else other}"
        elif first[nodeid] != second[nodeid]:
            left, right = set(first[nodeid]), set(second[nodeid])
            yield f"{nodeid}:\n    here: {sorted(left - right)}\n    there: {sorted(right - left)}"


def _targets(path: Path) -> dict[str, Facts]:
    found = {}
    for case in parse(path).getroot().iter("testcase"):  # noqa: S314  (pytest wrote it just now)
        properties = [(one.get("name", ""), one.get("value", "")) for one in case.iter("property")]
        nodeid = dict(properties).get("retarget.nodeid") or f"{case.get('classname')}::{case.get('name')}"
        facts = [f"{name}={_lasting(text)}" for name, text in properties if not _TIMES.fullmatch(name)]
        found[nodeid] = (*facts, *_results(case))
    return found


def _results(case: Element) -> Iterator[str]:
    for result in case:
        if result.tag not in {"properties", "system-out", "system-err"}:
            yield f"{result.tag} {_lasting(result.get('message', ''))} {_lasting(result.text or '')}"


def _lasting(text: str) -> str:
    return _PASSING.sub("…", text)


def main() -> int:
    """Run both, print what differs and how long each took, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", required=True, metavar="ADDRESS", help="that of `retarget cluster start`")
    parser.add_argument("--cold", action="store_true", help="have the cluster compile everything")
    options, words = parser.parse_known_args()
    words = words or ["suites", "-m", "not conformance"]
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder, "here.xml"), Path(folder, "there.xml")
        _run(here, words)
        _run(there, [*words, "--retarget-cluster", options.cluster, *["--retarget-no-cache"] * options.cold])
        found = list(differences(here, there))
        count = len(_targets(here))
    print("\n".join(found))
    print(f"{count} targets, {len(found)} differ")
    return 1 if found or not count else 0


def _run(junit: Path, words: Sequence[str]) -> None:
    start = time.monotonic()
    argv = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", f"--junitxml={junit}", *words]
    process = subprocess.run(argv, capture_output=True, text=True, check=False)
    lines = [line for line in process.stdout.splitlines() if line.startswith(("retarget:", "compiled", "ERROR"))]
    last_line = process.stdout.rstrip().rpartition("\n")[2]
    print(*lines, f"{' '.join(words)}: {last_line} ({time.monotonic() - start:.1f} s in all)", sep="\n", flush=True)
    if not junit.exists():
        sys.exit(process.stdout + process.stderr)


if __name__ == "__main__":
    sys.exit(main())
