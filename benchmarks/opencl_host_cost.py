"""Host microseconds per dispatch: the calling thread's CPU time for small dispatches that follow each other.

*Chain*: dispatches in a row. *Loop*: one dispatch per turn of a loop of the host program; a turn also allocates twice,
copies a buffer and hands the queue to the device.

python3 benchmarks/opencl_host_cost.py [--device opencl://0] [--steps 2000]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from opencl_cold_start import compiled
from opencl_speed import small_model
from retarget.model import Origin, RuntimeConfig
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.driver import OpenClDriver

LOOP = """
func.func @chain(%a: tensor<64xf32>, %b: tensor<64xf32>, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<64xf32> : i32 {
    %y = arith.addf %x, %b : tensor<64xf32>
    scf.yield %y : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
"""

LAYERS = 100


def measured(call: Callable[[], object], wait: Callable[[], None]) -> tuple[float, float]:
    """Return the shortest CPU time until a call returns, and wall time until the device is done, in seconds."""
    call()
    wait()
    cpu, wall = [], []
    for _ in range(20):
        start, start_wall = time.thread_time(), time.perf_counter()
        call()
        cpu.append(time.thread_time() - start)
        wait()
        wall.append(time.perf_counter() - start_wall)
    return min(cpu), min(wall)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print CPU and wall time per dispatch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="opencl://0")
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args(arguments)
    config = RuntimeConfig(
        name="bench", driver="opencl", devices=(options.device,), origin=Origin(file=Path(), key_path="")
    )
    device = OpenClDriver().open(config)
    print(f"{device.infos[0].name}, driver {device.infos[0].driver_version}; µs per dispatch, the best of 20 runs")
    ones = np.ones(64, np.float32)
    chain = small_model(LAYERS)
    cases: tuple[tuple[str, str, str, Sequence[Any], int], ...] = (
        ("chain", chain.text, "main", list(chain.inputs), LAYERS),
        ("loop", LOOP, "chain", [ones, ones, np.int32(options.steps)], options.steps),
    )
    for name, text, function, inputs, count in cases:
        artifact = compiled(text, compile_profile(device.profile))
        program = device.load(artifact)
        export = program._exports[function]  # noqa: SLF001
        run, taken = program._machine.codes[export.function].run, program._arguments(export, inputs)  # noqa: SLF001
        call, wait = partial(run, taken), program._commands.finish  # noqa: SLF001
        before = program.dispatches
        call()
        assert program.dispatches - before == count, f"{program.dispatches - before} dispatches, expected {count}"
        cpu, wall = measured(call, wait)
        print(f"{name:<6} host CPU {cpu / count * 1e6:6.2f}   wall {wall / count * 1e6:6.2f}")
    device.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
