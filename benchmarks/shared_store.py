"""What a shared store saves: a cold session of a suite, and the same on a second machine that has the store.

    python3 benchmarks/shared_store.py [--suite suites/control-flow] [--select vmvx]

The store is a folder; `RETARGET_REMOTE_STORE`, where it is set, names another, which must not have the suite yet.
Machines are cache folders. Printed are the seconds of a session without a store, of one with an empty store, of one on
a second machine with the filled store, and of one that has all in its cache, each with its ratio to the first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="suites/control-flow", help="which suite")
    parser.add_argument("--select", default="vmvx", help="which of its targets, as -k takes it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "share").mkdir()
        store = os.environ.get("RETARGET_REMOTE_STORE") or str(folder / "share")
        first = 0.0
        for name, cache, url in (
            ("no store", "none", ""),
            ("empty store", "first", store),
            ("second machine", "second", store),
            ("warm cache", "second", store),
        ):
            seconds, lines = session(arguments, folder / cache, url)
            first = first or seconds
            print(f"{name:15} {seconds:6.1f} s  {seconds / first:5.2f}  {'; '.join(lines)}")


def session(arguments: argparse.Namespace, cache: Path, url: str) -> tuple[float, list[str]]:
    """Run the suite; return the wall seconds, and the lines on compiles and on the store."""
    words = [sys.executable, "-m", "pytest", arguments.suite, "-k", arguments.select, "-p", "no:cacheprovider"]
    environment = os.environ | {"RETARGET_CACHE_DIR": str(cache), "RETARGET_REMOTE_STORE": url}
    start = time.monotonic()
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    lines = [line for line in done.stdout.splitlines() if line.startswith("compiled ") or "shared store" in line]
    return seconds, [line.partition(" (cache")[0] for line in lines]


if __name__ == "__main__":
    main()
