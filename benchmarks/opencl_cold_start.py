"""How long a model of many kernels takes to start: the first time, again, and after one of its kernels has changed.

Each start is a process of its own, with a cache that has what the starts before have left, the driver's own (PoCL's)
included. *Load* reads the artifact, takes or builds its kernels and uploads its weights; *call* is the first call.

python3 benchmarks/opencl_cold_start.py [--device opencl://pocl/0]... [--kernels 100]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from retarget.extension import CompileRequest, Resolved
from retarget.model import Origin, RuntimeConfig
from retarget.worker import KeptFiles
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.device.devices import find_device, list_devices, profile_of
from retarget_opencl.device.profile import DeviceProfile, compile_profile
from retarget_opencl.run.driver import OpenClDriver

SIZE = 8
TENSOR = f"tensor<{SIZE}x{SIZE}xf32>"


def model(kernels: int, changed: bool) -> str:
    """Return a module whose dispatches are products with an addition of another number each."""
    lines = [f"func.func @main(%x0: {TENSOR}, %w: {TENSOR}) -> {TENSOR} {{", "  %zero = arith.constant 0.0 : f32"]
    lines.append(f"  %empty = tensor.empty() : {TENSOR}")
    lines.append(f"  %init = linalg.fill ins(%zero : f32) outs(%empty : {TENSOR}) -> {TENSOR}")
    for layer in range(kernels):
        value = 1000.5 if changed and layer == kernels // 2 else layer + 0.25
        lines.append(f"  %p{layer} = linalg.matmul ins(%x{layer}, %w : {TENSOR}, {TENSOR})")
        lines.append(f"    outs(%init : {TENSOR}) -> {TENSOR}")
        lines.append(f"  %c{layer} = arith.constant dense<{value}> : {TENSOR}")
        lines.append(f"  %x{layer + 1} = arith.addf %p{layer}, %c{layer} : {TENSOR}")
    return "\n".join([*lines, f"  return %x{kernels} : {TENSOR}", "}"])


def compiled(text: str, profile: DeviceProfile) -> bytes:
    """Return the artifact of a module for a profile."""
    resolved = Resolved(build_id="", flags=(), facts=(("opencl-profile", profile.fact()),))
    path = Path("m.mlir")
    request = CompileRequest(source=text.encode(), source_name=path.name, source_path=path, resolved=resolved)
    return OpenClCompiler().compile(request).artifact


def _drop(check: object) -> None:
    del check


def start(device: str, artifact: Path) -> dict[str, float]:
    """Load and call in this process; return milliseconds, and how many files the cache has."""
    opened = OpenClDriver().open(
        RuntimeConfig(name="start", driver="opencl", devices=(device,), origin=Origin(file=Path(), key_path=""))
    )
    opened.transfers()  # imports NumPy and the like
    before = clock()
    program = opened.load(artifact.read_bytes())
    loaded = clock()
    ones = np.ones((SIZE, SIZE), np.float32)
    program.call("main", (ones, np.zeros_like(ones)), _drop)
    called = clock()
    program.call("main", (ones, np.zeros_like(ones)), _drop)
    again = clock()
    files = sum(1 for path in KeptFiles().folder.rglob("*") if path.is_file())
    opened.close()
    steps = {"load": (before, loaded), "call": (loaded, called), "next call": (called, again)}
    times = {
        f"{name}{of}": 1e3 * (end[place] - begin[place])
        for name, (begin, end) in steps.items()
        for place, of in enumerate(("", " cpu"))
    }
    return {**times, "files": files}


def clock() -> tuple[float, float]:
    """Return wall time, and CPU time of all threads, which other work on the machine does not change; in seconds."""
    return time.perf_counter(), time.process_time()


def measure(device: str, kernels: int) -> None:
    """Print the three starts of one device."""
    found = find_device(device, list_devices())
    profile = compile_profile(profile_of(found))
    print(f"{found.device.name.strip()}, {found.platform}, {kernels} kernels; milliseconds", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        artifacts = []
        for changed in (False, True):
            text = model(kernels, changed)
            artifacts.append(Path(folder) / f"changed{changed}.oclx")
            artifacts[-1].write_bytes(compiled(text, profile))
        env = {**os.environ, "RETARGET_CACHE_DIR": f"{folder}/cache", "POCL_CACHE_DIR": f"{folder}/pocl"}
        for name, artifact in (
            ("first start", artifacts[0]),
            ("second start", artifacts[0]),
            ("third start", artifacts[0]),
            ("one kernel changed", artifacts[1]),
            ("started again", artifacts[1]),
        ):
            command = [sys.executable, __file__, "--device", device, "--start", str(artifact)]
            done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
            found_times = json.loads(done.stdout)
            shown = ", ".join(f"{key} {value:.1f}" for key, value in found_times.items() if key != "files")
            print(f"  {name:<19} {shown}, {found_times['files']} files in the cache", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what each start takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--start", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    devices = options.device or ["opencl://pocl/0", "opencl://intel/0"]
    if options.start is not None:
        print(json.dumps(start(devices[0], options.start)))
        return 0
    for device in devices:
        measure(device, options.kernels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
