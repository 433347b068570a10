"""The figures that a user notices, on a small sample, against those that were reached: `benchmarks/figures.toml`.

    python benchmarks/figures.py            # exit status 1 where one is more than a quarter above what was reached
    python benchmarks/figures.py --write    # what is found now is what was reached

Each is a ratio of CPU times of both sides' processes, of the fastest of some sessions in turns: what else the machine
does changes neither side alone.

  cold  ONNX's node tests for one compiler config: a session / IREE's library in one process (benchmarks/cold.py)
  warm  run targets that are compiled already: a session / the same with `--collect-only`
  one   one warm run target, a session / plain pytest with one empty test
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

REACHED = Path(__file__).with_suffix(".toml")
ALLOWED = 1.25
"""What was reached, times this, is not yet worse: noise is less, and a loss of 1.3 times is more."""


SIDES = ("pytest, one test", "one target", "all collected", "all targets")


def found_now() -> dict[str, float]:
    """Measure all figures."""
    import cold  # not where only `problems` is wanted
    import warm_session

    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as name:
        warm = warm_session.measured(Path(name), rounds=5, targets=40, sides=SIDES)
    spent = {side: min(one.cpu for one in sessions) for side, sessions in warm.items()}
    return {
        "cold": cold.onnx(configs=1, sample=8, rounds=3)[0],
        "warm": spent["all targets"] / spent["all collected"],
        "one": spent["one target"] / spent["pytest, one test"],
    }


def problems(found: Mapping[str, float], reached: Mapping[str, float]) -> list[str]:
    """Return a line for each figure that is worse than it was, or has never been reached."""
    lines = []
    for name, ratio in found.items():
        if name not in reached:
            lines.append(f"{name}: found {ratio:.2f}, expected a figure [{name}] in {REACHED.name}; --write adds it")
        elif ratio > ALLOWED * reached[name]:
            lines.append(
                f"{name}: found {ratio:.2f}, expected at most {ALLOWED * reached[name]:.2f}: {reached[name]:.2f} was "
                f"reached, see {REACHED.name}; find what has become slower, or --write the new figure and say why"
            )
    return lines


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {REACHED.name}")
    options = parser.parse_args()
    written = tomllib.loads(REACHED.read_text()) if REACHED.exists() else {}
    reached = {name: float(figure["ratio"]) for name, figure in written.items()}
    found = found_now()
    for name, ratio in found.items():
        before = f"{reached[name]:.2f} on {written[name]['reached']}" if name in reached else "nothing yet"
        print(f"{name:<6} {ratio:.2f} (reached: {before})")
    if options.write:
        day = datetime.datetime.now(tz=datetime.UTC).date()
        text = "\n".join(f"[{name}]\nratio = {ratio:.2f}\nreached = {day}\n" for name, ratio in found.items())
        REACHED.write_text(
            f"# Written by `python benchmarks/figures.py --write`, which says what the figures are.\n\n{text}"
        )
        return 0
    lines = problems(found, reached)
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
