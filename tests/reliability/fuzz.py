"""Gives mutated real files to everything that reads files, and writes down what is not an error with its place.

    python tests/reliability/fuzz.py --inputs 100000 --seed 1 [--kind NAME] [--keep FOLDER]

An input is taken, or refused by a `RetargetError` whose text names the file. Anything else is a fault: another
exception, a path outside the folder touched, a process started, more memory or time than an input may take.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fuzzed_readers import Kind, kinds
from retarget.session.cache.key import digest_of
from retarget.support import RetargetError
from watching import TooLong, Watch, bound_memory

_LONGEST_TEXT = 100_000
_PLACE = re.compile(r"^\S+\.(?:toml|txt|mlir)(?::\d+)?: ")
"""Of another file that the error is in, since the one that was changed speaks of it."""


@dataclass
class Tally:
    """What became of the inputs of one kind: taken, refused with an error, or lost in another one.

    `slowest` is in seconds of the processor, `faults` has the first input that showed each.
    """

    taken: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    faults: dict[str, bytes] = field(default_factory=dict)
    faulty: int = 0
    lost: int = 0

    def add(self, other: Tally) -> None:
        """Count what the other has counted; its faults stay there."""
        for name in ("taken", "refused", "seconds", "faulty", "lost"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="", help="only this kind")
    parser.add_argument(
        "--keep", type=lambda text: Path(text).absolute(), help="a folder for the inputs that show a fault"
    )
    arguments = parser.parse_args()
    os.environ["RETARGET_MAX_DATA_BYTES"] = str(16 * 1024**2)
    os.environ["RETARGET_LEASE_DIR"] = "/nowhere"
    with tempfile.TemporaryDirectory(prefix="retarget-fuzz-") as name:
        folder = Path(name).resolve()
        os.chdir(folder)
        found = [kind for kind in kinds(folder) if arguments.kind in ("", kind.name)]
        for kind in found:
            for file in kind.files:
                with suppress(RetargetError):  # for all imports to be done
                    kind.read(file)
        watch = Watch(folder)
        bound_memory()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        share = arguments.inputs / sum(kind.weight for kind in found)
        print(f"{'kind':22} {'inputs':>7} {'taken':>7} {'refused':>8} {'faults':>7} {'µs each':>8} {'slowest ms':>11}")
        total = Tally()
        for kind in found:
            tally = _fuzz(kind, round(share * kind.weight), arguments.seed, watch)
            print(_row(kind.name, tally), flush=True)
            for place, data in tally.faults.items():
                print(f"  {place}\n  input: {data[:300]!r}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"{kind.name.replace(' ', '-')}-{digest_of(data)[:8]}").write_bytes(data)
            total.add(tally)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(_row("all", total))
    print(f"memory: at most {grown / 1024:.0f} MiB more than before the first input")
    return total.faulty > 0


def _fuzz(kind: Kind, count: int, seed: int, watch: Watch) -> Tally:
    tally = Tally()
    contents = [file.read_bytes() for file in kind.files]
    chance = random.Random(f"{seed} {kind.name}")  # noqa: S311  the same inputs again
    for _ in range(count):
        at = chance.randrange(len(contents))
        file, data = kind.files[at], kind.mutate(contents[at], contents, chance)
        file.write_bytes(data)
        start = time.process_time()
        fault = ""
        with watch.input() as outside:
            try:
                kind.read(file)
                tally.taken += 1
            except RetargetError as error:
                tally.refused += 1
                fault = _misplaced(kind, file, str(error))
            except TooLong as error:
                tally.lost += 1
                fault = f"took longer than it may\n{_where(error)}"
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                tally.lost += 1
                fault = f"{type(error).__name__}: {str(error)[:200]}\n{_where(error)}"
        for touched in outside():
            fault = fault or f"touched a path outside: {touched}"
        spent = time.process_time() - start
        tally.seconds += spent
        tally.slowest = max(tally.slowest, spent)
        if fault:
            tally.faulty += 1
            tally.faults.setdefault(fault, data)
            if len(tally.faults) > 12:
                break
    for file, data in zip(kind.files, contents, strict=True):
        file.write_bytes(data)
    return tally


def _misplaced(kind: Kind, file: Path, text: str) -> str:
    if kind.names_file and file.name not in text and not _PLACE.search(text):
        return f"an error that does not name {file.name}: {text[:200]!r}"
    if len(text) > _LONGEST_TEXT:
        return f"an error of {len(text)} characters: {text[:80]!r}"
    if odd := {one for one in text if not one.isprintable() and one not in "\n\t"} & set(map(chr, range(32))):
        return f"an error with control characters {odd}: {text[:200]!r}"
    return ""


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/retarget" in frame.filename or "/reliability" in frame.filename]
    return "\n".join(f"  {frame.filename}:{frame.lineno} {frame.name}: {frame.line}" for frame in (own or frames)[-4:])


def _row(name: str, tally: Tally) -> str:
    inputs = tally.taken + tally.refused + tally.lost
    each, slowest = tally.seconds / max(inputs, 1) * 1e6, tally.slowest * 1000
    counts = f"{inputs:7} {tally.taken:7} {tally.refused:8} {tally.faulty:7}"
    return f"{name:22} {counts} {each:8.0f} {slowest:11.1f}"


if __name__ == "__main__":
    sys.exit(main())
