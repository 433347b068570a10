"""The figures that a user notices, on a small sample, against those that were reached: `benchmarks/figures.toml`.

    python benchmarks/figures.py            # exit status 1 where one is more than a quarter above what was reached
    python benchmarks/figures.py --write    # what is found now is what was reached

Each is a ratio of CPU times of both sides' processes, which run in turns: the least of one side / the least of the
other. What else the machine does only adds to either, so a figure that is too high is measured on: after so many rounds
it is the code's.

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
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

REACHED = Path(__file__).with_suffix(".toml")
ALLOWED = 1.25
"""What was reached, times this, is not yet worse; a loss of 1.3 times is."""
ROUNDS = 3
MOST_ROUNDS = 10
SIDES = {"warm": ("all targets", "all collected"), "one": ("one target", "pytest, one test")}
"""What `warm_session` calls the two sides of a figure."""

Pairs = Iterator[tuple[float, float]]
"""CPU seconds of the two sides of a figure, of one round after the other."""


def cold() -> Pairs:
    """Measure with eight modules."""
    from cold import both, onnx  # not where only `problems` is wanted

    with onnx(configs=1, sample=8) as declared:
        yield from ((session.cpu, process.cpu) for process, session in both(*declared))


def of_warm_sessions(name: str) -> Pairs:
    """Measure a figure of `SIDES`."""
    from warm_session import measured

    with tempfile.TemporaryDirectory(prefix="retarget-benchmark-") as folder:
        for spent in measured(Path(folder), targets=40, sides=SIDES[name]):
            yield spent[SIDES[name][0]].cpu, spent[SIDES[name][1]].cpu


def least(pairs: Pairs, reached: float | None) -> float:
    """Return the ratio of the least of both sides, after `MOST_ROUNDS` where it is above what is allowed."""
    first, second = next(pairs)
    for number in range(2, MOST_ROUNDS + 1):
        if number > ROUNDS and reached is not None and first / second <= ALLOWED * reached:
            break
        one, other = next(pairs)
        first, second = min(first, one), min(second, other)
    return first / second


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
    measure: dict[str, Callable[[], Any]] = {"cold": cold, **{name: partial(of_warm_sessions, name) for name in SIDES}}
    found = {name: least(pairs(), None if options.write else reached.get(name)) for name, pairs in measure.items()}
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
