"""Host microseconds per dispatch: a loop of small dispatches, the calling thread's CPU time only.

python benchmarks/opencl_host_cost.py [--device opencl://0] [--steps 2000]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from retarget.model import Origin, RuntimeConfig
from retarget_opencl.compiler import OpenClCompiler
from retarget_opencl.driver import OpenClDriver

MODULE = """
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Print CPU and wall time per dispatch."""
    from pathlib import Path

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="opencl://0")
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args(arguments)
    config = RuntimeConfig(
        name="bench", driver="opencl", devices=(options.device,), origin=Origin(file=Path(), key_path="")
    )
    device = OpenClDriver().open(config)
    artifact = OpenClCompiler().compile_bytes(MODULE.encode(), "chain.mlir", (), device.profile).artifact
    ones = np.ones(64, np.float32)
    call, wait = device.load(artifact).bind("chain", [ones, ones, np.int32(options.steps)])
    call()
    wait()
    cpu, wall = [], []
    for _ in range(10):
        start, start_wall = time.thread_time(), time.perf_counter()
        call()
        cpu.append(time.thread_time() - start)
        wait()
        wall.append(time.perf_counter() - start_wall)
    print(f"{device.infos[0].name}, {options.steps} dispatches of one buffer each, best of {len(cpu)}")
    print(f"host CPU per dispatch: {min(cpu) / options.steps * 1e6:.2f} µs (allocation, loop and flush included)")
    print(f"wall per dispatch:     {min(wall) / options.steps * 1e6:.2f} µs (until the device is done)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
