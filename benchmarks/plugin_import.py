"""What the plugin costs a project that has no matrix files: `pytest --collect-only` with it against without it.

Both sides run in a folder with one empty test, alternately, in processes of their own; medians are printed with their
ratio and difference.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seconds(folder: Path, *arguments: str) -> float:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-p",
        "no:cacheprovider",
        *arguments,
        str(folder),
    ]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"benchmark: pytest failed (exit status {done.returncode}):\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    rounds = parser.parse_args().rounds
    bare: list[float] = []
    plugged: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        for _ in range(rounds):
            bare.append(seconds(folder))
            plugged.append(seconds(folder, "-p", "pytest_retarget.plugin"))
    without, with_plugin = statistics.median(bare), statistics.median(plugged)
    print(f"pytest alone          {without * 1000:8.1f} ms (median of {rounds})")
    print(f"pytest with retarget  {with_plugin * 1000:8.1f} ms")
    print(f"ratio {with_plugin / without:.3f}, difference {(with_plugin - without) * 1000:.1f} ms")


if __name__ == "__main__":
    main()
