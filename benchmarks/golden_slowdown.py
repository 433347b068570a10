"""Whether a slow-down of one kernel is found, and how often equal builds seem to differ.

A module of three kernels is compiled for an OpenCL device. Each *session* loads it anew and times it as
`pytest --retarget-benchmark` does. Slowed sessions execute the work-groups of the largest kernel and then some of them
once more: as many as make the device time of a call grow by a tenth. That is measured first, as a launch of few
work-groups takes longer than their share. Each session is compared with those of equal builds before it, as the golden
rule `within = "5 %"` does: with one, and with the last five. A false alarm is an equal build that is found to be slower
or faster.

python3 benchmarks/golden_slowdown.py [--device opencl://0] [--equal 201] [--slowed 40] [--seconds 0.5]
    [--shape M K N] [--json FILE]

On a CPU, `POCL_MAX_PTHREAD_COUNT=1` leaves cores to what else runs; samples are noisier without.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from retarget.extension import CompileRequest
from retarget.model import CompilerConfig, Origin, RuntimeConfig
from retarget.model.outcomes import CallTimes
from retarget.results.comparison import LEVEL, Finding, compare_series
from retarget.worker.child.timing import call_times
from retarget.worker.messages import Timing
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.run.commands import Commands
from retarget_opencl.run.driver import OpenClDriver

HERE = Origin(file=Path(), key_path="")
WITHIN, GROWTH = 0.05, 0.1
LEAST, MOST = 0.02, 0.17
"""Shares of a kernel's work-groups among which one is looked for that slows by `GROWTH`."""

Groups = tuple[tuple[int, int], tuple[int, int]]
"""The numbers of work-groups in the widest dimension and in the second, each after its index."""

MODULE = """
func.func @main(%a: tensor<{m}x{k}xf32>, %b: tensor<{k}x{n}xf32>) -> tensor<{m}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %m = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>)
    outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = tensor.empty() : tensor<{m}xf32>
  %g = linalg.fill ins(%zero : f32) outs(%r : tensor<{m}xf32>) -> tensor<{m}xf32>
  %s = linalg.reduce ins(%m : tensor<{m}x{n}xf32>) outs(%g : tensor<{m}xf32>) dimensions = [1]
    (%x: f32, %y: f32) {{ %z = arith.addf %x, %y : f32 linalg.yield %z : f32 }}
  return %s : tensor<{m}xf32>
}}
"""


@contextmanager
def slowed(name: str, groups: Groups) -> Iterator[None]:
    """Have programs that are loaded meanwhile execute so many of a kernel's work-groups once more at each launch."""
    launcher = Commands.launcher

    def replaced(self: Commands, kernel: Any, members: Any, count_groups: Callable[[Any], Any]) -> Any:
        launch = launcher(self, kernel, members, count_groups)
        if kernel.name != name:
            return launch

        def some(workload: Sequence[int]) -> Sequence[Sequence[int]]:
            counts = list(count_groups(workload)[0])
            for index, count in groups:
                counts[index] = min(count, counts[index])
            return [counts]

        more = launcher(self, kernel, members, some)

        def both(*arguments: Any) -> None:
            launch(*arguments)
            more(*arguments)

        return both

    Commands.launcher = replaced  # type: ignore[method-assign]
    try:
        yield
    finally:
        Commands.launcher = launcher  # type: ignore[method-assign]


def groups_of(load: Callable[[], Any], inputs: Sequence[Any], name: str) -> Sequence[int]:
    """Return how many work-groups a call's launch of a kernel has in each dimension."""
    launcher = Commands.launcher
    found: list[Sequence[int]] = []

    def replaced(self: Commands, kernel: Any, members: Any, count_groups: Callable[[Any], Any]) -> Any:
        def counted(workload: Sequence[int]) -> Sequence[Sequence[int]]:
            counts: Sequence[Sequence[int]] = count_groups(workload)
            if kernel.name == name:
                found.append(tuple(counts[0]))
            return counts

        return launcher(self, kernel, members, counted)

    Commands.launcher = replaced  # type: ignore[method-assign]
    try:
        load().call("main", inputs, print)
    finally:
        Commands.launcher = launcher  # type: ignore[method-assign]
    return found[0]


def candidates(counts: Sequence[int]) -> list[Groups]:
    """Return parts of a kernel's work-groups with shares from `LEAST` to `MOST`, the least first."""
    widest, second = sorted(range(len(counts)), key=lambda index: -counts[index])[:2]
    columns = sorted({max(round(counts[second] * share / 8), 1) for share in range(1, 9)})
    total = counts[widest] * counts[second]
    found = [
        ((widest, rows), (second, column))
        for column in columns
        for rows in range(1, counts[widest] + 1)
        if LEAST <= rows * column / total <= MOST
    ]
    found.sort(key=lambda groups: groups[0][1] * groups[1][1])
    step = max(len(found) // 40, 1)
    return found[::step]


def calibrated(load: Callable[[], Any], inputs: Sequence[Any], name: str) -> tuple[Groups, float, float]:
    """Return the part of a kernel's work-groups whose repetition makes the device time grow by the share nearest to
    `GROWTH`, its share of the work-groups, and the growth: the median of three measurements beside the whole."""
    counts = groups_of(load, inputs, name)
    program = load()

    def growth(groups: Groups) -> float:
        with slowed(name, groups):
            slow = load()
        before = sum(kernel_times(program, inputs).values())
        return sum(kernel_times(slow, inputs).values()) / before - 1

    parts = candidates(counts)
    if not parts:
        sys.exit(f"{name}: found {math.prod(counts)} work-groups, expected enough to repeat a tenth: enlarge --shape")
    by_distance = sorted(parts, key=lambda groups: abs(growth(groups) - GROWTH))
    found = {groups: statistics.median(growth(groups) for _ in range(3)) for groups in by_distance[:5]}
    best = min(found, key=lambda groups: abs(found[groups] - GROWTH))
    return best, best[0][1] * best[1][1] / math.prod(counts), found[best]


def compiled(device: str, shape: Sequence[int]) -> bytes:
    compiler = OpenClCompiler()
    flags = (f"--opencl-profile={device}",)
    resolved = compiler.resolve(CompilerConfig(name="c", compiler="iree-opencl", flags=flags, origin=HERE), flags)
    source = MODULE.format(m=shape[0], k=shape[1], n=shape[2]).encode()
    request = CompileRequest(source=source, source_name="m.mlir", source_path=Path("m.mlir"), resolved=resolved)
    return compiler.compile(request).artifact


def kernel_times(program: Any, inputs: Sequence[Any]) -> dict[str, float]:
    """Return what each kernel takes of the device's time in a call, in nanoseconds: the medians of 25 calls."""
    call = program.bind_call("main", inputs)
    times: dict[str, list[float]] = {}
    call()
    with program._commands.profiled() as events:  # noqa: SLF001
        for _ in range(25):
            events.clear()
            call()
            sums: Counter[str] = Counter()
            for name, event in events:
                sums[name] += event.profile.end - event.profile.start
            for name, duration in sums.items():
                times.setdefault(name, []).append(duration)
    return {name: statistics.median(found) for name, found in times.items()}


def report(what: str, findings: Sequence[Finding], alarms: Sequence[Finding]) -> dict[str, Any]:
    counts = Counter(findings)
    found = sum(counts[one] for one in alarms)
    judged = len(findings) - counts[Finding.NOISY] - counts[Finding.FEW]
    print(f"  {what:<46} {found:>3} of {len(findings)} ({judged} judged, {counts[Finding.NOISY]} too noisy)")
    return {"what": what, "found": found, "of": len(findings), "judged": judged, "noisy": counts[Finding.NOISY]}


def report_all(equal: Sequence[CallTimes], slow: Sequence[tuple[int, CallTimes]]) -> list[dict[str, Any]]:
    """Print and return what comes of all comparisons; `slow` are sessions with the number of equal ones before."""
    figures: list[dict[str, Any]] = []
    for metric in ("samples", "device"):
        series = [getattr(one, metric) for one in equal]
        slow_series = [(place, getattr(one, metric)) for place, one in slow]
        name = {"samples": "latency", "device": "device-time"}[metric]
        before = statistics.median(map(statistics.median, series))
        after = statistics.median(statistics.median(one) for _, one in slow_series)
        print(f"{name}: {before * 1e6:.1f} us, slowed {after * 1e6:.1f} us ({after / before - 1:+.1%})")
        for last in (1, 5):
            compare = functools.partial(compare_series, within=WITHIN)
            same = [compare(series[max(at - last, 0) : at], series[at]).finding for at in range(1, len(series))]
            worse = [compare(series[max(at - last, 0) : at], one).finding for at, one in slow_series]
            text = f"with the last {last}" if last > 1 else "with the one before"
            alarms = report(f"false alarms, {text}", same, (Finding.LARGER, Finding.SMALLER))
            hits = report(f"slow-downs found, {text}", worse, (Finding.LARGER,))
            figures += [{"metric": name, "last": last, **one} for one in (alarms, hits)]
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="opencl://0")
    parser.add_argument("--equal", type=int, default=201, help="sessions of equal builds; one comparison less")
    parser.add_argument("--slowed", type=int, default=40, help="sessions with a slowed kernel")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each session")
    parser.add_argument(
        "--shape", type=int, nargs=3, default=(640, 16, 64), metavar=("M", "K", "N"), help="of the product (640 16 64)"
    )
    parser.add_argument("--json", type=Path, help="write figures and samples to this file")
    options = parser.parse_args(arguments)
    artifact = compiled(options.device, options.shape)
    device = OpenClDriver().open(RuntimeConfig(name="r", driver="opencl", devices=(options.device,), origin=HERE))
    random = np.random.default_rng(1)
    rows, inner, columns = options.shape
    inputs = [random.standard_normal(shape, np.float32) for shape in ((rows, inner), (inner, columns))]
    program = device.load(artifact)
    times = kernel_times(program, inputs)
    shares = {name: duration / sum(times.values()) for name, duration in times.items()}
    largest = max(shares, key=shares.__getitem__)
    groups, repeated, growth = calibrated(lambda: device.load(artifact), inputs, largest)
    share = f"{shares[largest]:.0%} of the device time of a call"
    print(f"slowed: {largest}, {share}, by {repeated:.1%} of its work-groups")
    print(f"the device time of a call grew by {growth:.2%} when this part was chosen", flush=True)
    expected = program.call("main", inputs, print)[0]
    timing = Timing(spread=1e-6, seconds=options.seconds)

    def session() -> CallTimes:
        loaded = device.load(artifact)
        result = loaded.call("main", inputs, print)[0]
        np.testing.assert_array_equal(result, expected)  # also the slowed one computes the same
        return call_times(loaded, "main", inputs, timing, 0.0)

    every = max(options.equal // max(options.slowed, 1), 1)
    equal: list[CallTimes] = []
    slow: list[tuple[int, CallTimes]] = []
    for number in range(options.equal):
        equal.append(session())
        if number >= every and number % every == 0 and len(slow) < options.slowed:
            with slowed(largest, groups):
                slow.append((number + 1, session()))
    info = device.infos[0]
    print(f"{info.name}, driver {info.driver_version}: {len(equal)} sessions of equal builds, {len(slow)} slowed")
    figures = report_all(equal, slow)
    print(f"bound {WITHIN:.0%}, rank test at the level {LEVEL:g}")
    if options.json:
        samples = [{"latency": one.samples, "device": one.device} for one in (*equal, *(one for _, one in slow))]
        content = {"device": info.name, "kernels": shares, "slowed": largest, "figures": figures}
        options.json.write_text(json.dumps(content | {"places": [at for at, _ in slow], "samples": samples}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
