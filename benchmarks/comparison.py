"""Comparing a result with what is expected, against `numpy.testing.assert_allclose`; and what a small case costs.

Each comparison runs in a process of its own: arrays that hold by tolerance, of which all elements differ a little, and
arrays that do not hold anywhere. Wall time and what the process takes at its peak beyond the two arrays (resident set,
in MiB) are printed. For a small case: reading its file and its values, and comparing, with all imports done.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SMALL = """\
[[case]]
inputs = [{ random = "normal" }, [[1, 2], [3, 4]]]
expected = [[[1.5, 2.5], [-1, 0]]]
"""
RUNS = 50


def peak() -> float:
    """The most that this process has taken, in MiB. `ru_maxrss` is in KiB on Linux and in bytes on macOS."""
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return taken / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measure(side: str, holds: bool, elements: int) -> None:
    """Compare once, and print seconds and MiB."""
    from retarget.arrays.comparison import compare_arrays
    from retarget.model.calls import Tolerance

    expected = np.random.default_rng(0).random(elements, dtype=np.float32)
    actual = expected.copy()
    actual *= np.float32(1 + 1e-6 if holds else 1.1)
    compare_arrays(actual[:100], expected[:100], Tolerance())  # what is imported late
    before, start = peak(), time.perf_counter()
    if side == "retarget":
        assert (compare_arrays(actual, expected, Tolerance(atol=1e-5, rtol=1e-5)) is None) == holds
    else:
        try:
            np.testing.assert_allclose(actual, expected, atol=1e-5, rtol=1e-5)
        except AssertionError:
            assert not holds
        else:
            assert holds
    sys.stdout.write(f"{time.perf_counter() - start} {peak() - before}\n")


def small_case() -> tuple[float, float]:
    """Return the medians of milliseconds for loading, and for reading values and comparing."""
    from retarget.arrays.comparison import compare_arrays
    from retarget.extension import CaseRequest, FunctionInfo
    from retarget.model.calls import Tolerance
    from retarget_cases.loader import CasesLoader

    types = ("tensor<2x2xf32>",) * 2
    function = FunctionInfo(name="f", arguments=2, argument_types=types, result_types=types[:1])
    loading, judging = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(RUNS + 1):
            path = folder / f"m{number}.cases.toml"
            path.write_text(SMALL)
            request = CaseRequest(
                module=f"m{number}",
                source=folder / f"m{number}.mlir",
                data=(path,),
                folder=folder,
                compiler="cc",
                functions=(function,),
            )
            start = time.perf_counter()
            (case,) = CasesLoader().load(request)
            assert case.read is not None
            loaded = time.perf_counter()
            data = case.read()
            assert data.expected is not None
            expected = data.expected[0]
            assert expected is not None
            assert compare_arrays(data.inputs[1], expected, Tolerance(atol=1e-5, rtol=1e-5)) is not None
            loading.append(1000 * (loaded - start))
            judging.append(1000 * (time.perf_counter() - loaded))
    return statistics.median(loading[1:]), statistics.median(judging[1:])  # the first imports


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=256, help="size of each array (256)")
    parser.add_argument("--measure", nargs=2, metavar=("SIDE", "HOLDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    elements = (options.mebibytes << 20) // 4
    if options.measure:
        measure(options.measure[0], options.measure[1] == "yes", elements)
        return
    sys.stdout.write(f"two arrays of f32, {options.mebibytes} MiB each\n")
    for holds in ("yes", "no"):
        for side in ("numpy", "retarget"):
            argv = [sys.executable, __file__, f"--mebibytes={options.mebibytes}", "--measure", side, holds]
            done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
            seconds, mebibytes = map(float, done.stdout.split())
            what = "all hold" if holds == "yes" else "none holds"
            sys.stdout.write(f"{what:10}  {side:8}  {seconds:6.2f} s  {mebibytes:6.0f} MiB beyond them\n")
    loading, judging = small_case()
    sys.stdout.write(f"a small case: {loading:.2f} ms to load, {judging:.2f} ms to read its values and compare\n")


if __name__ == "__main__":
    main()
