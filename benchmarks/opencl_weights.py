"""What loading an OpenCL artifact with large weights costs: memory and time, beside reading and copying the same file.

    python3 benchmarks/opencl_weights.py [--megabytes=500] [--device=opencl://0]

A module with that many megabytes of weights is compiled; a process of its own then does what a device worker does: it
compares the artifact's digest, maps it and loads it. It does so twice; the second time the kernels are built. Memory is
the highest resident size less that with the device opened: the weights, which a device in the host's memory, such as
PoCL, has there, and what the kernels take.
Times are wall times; the file is in the page cache, and the same run reads it in pieces, and copies it to new memory.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import numpy as np

_ROWS = 1024
_LAYERS = 8
_PIECE = 16 << 20


def _module(megabytes: int) -> bytes:
    """Return a module that adds up the columns of matrices, as bytecode."""
    from iree.compiler import ir

    columns = max(megabytes * 1_000_000 // (_LAYERS * _ROWS * 4), 1)
    matrix, row = f"tensor<{_ROWS}x{columns}xf32>", f"tensor<{columns}xf32>"
    lines = [f"func.func @main(%x0: {row}) -> {row} {{"]
    for layer in range(_LAYERS):
        maps = "[affine_map<(a, b) -> (b, a)>, affine_map<(a, b) -> (a)>]"
        lines.append(
            f"%w{layer} = arith.constant dense<{layer}.0> : {matrix}\n"
            f'%x{layer + 1} = linalg.generic {{indexing_maps = {maps}, iterator_types = ["parallel", "reduction"]}} '
            f"ins(%w{layer} : {matrix}) outs(%x{layer} : {row}) {{\n^bb0(%a: f32, %b: f32):\n"
            f"%s = arith.addf %a, %b : f32\nlinalg.yield %s : f32 }} -> {row}"
        )
    lines.append(f"return %x{_LAYERS} : {row} }}")
    random = np.random.default_rng(0)
    with ir.Context():
        module = ir.Module.parse("\n".join(lines))
        constants = [op for op in module.body.operations[0].body.blocks[0].operations if op.name == "arith.constant"]
        for layer, constant in enumerate(constants):
            weights = random.integers(-8, 8, (_ROWS, columns)).astype(np.float32)
            kind = constant.attributes["value"].type
            constant.attributes["value"] = ir.DenseResourceElementsAttr.get_from_buffer(weights, f"w{layer}", kind)
        content = io.BytesIO()
        module.operation.write_bytecode(content)
    return content.getvalue()


def _resident(what: str) -> int:
    """Return `VmRSS` or `VmHWM` of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) * 1024


def _load(artifact: Path, digest: str, device: str) -> dict[str, Any]:
    from retarget.model import Origin, RuntimeConfig
    from retarget.worker.artifact import map_artifact
    from retarget_opencl.run.driver import OpenClDriver

    driver = OpenClDriver()
    config = RuntimeConfig(name="weights", driver="opencl", devices=(device,), origin=Origin(file=Path(), key_path=""))
    opened = driver.open(config)
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the highest resident size starts anew
    start = time.perf_counter()
    data: Any = map_artifact(artifact, digest)
    compared = time.perf_counter()
    driver.needs(data)
    program = opened.load(data)
    opened.queue.finish()
    cold = time.perf_counter() - compared
    del program
    opened._pool.clear()  # noqa: SLF001 - the weights; the kernels stay built
    gc.collect()
    loading = time.perf_counter()
    program = opened.load(cast("bytes", map_artifact(artifact, "")))
    opened.queue.finish()
    loaded = time.perf_counter()
    program = opened.load(data)
    opened.queue.finish()
    again = time.perf_counter()
    peak = _resident("VmHWM")
    columns = int(program.functions[0].result_types[0].removeprefix("tensor<").partition("x")[0])
    (result,) = program.call("main", [np.zeros(columns, np.float32)], print)
    return {
        "before": before, "peak": peak, "digest": compared - start, "cold": cold, "load": loaded - loading,
        "again": again - loaded, "sum": float(result.sum()), "name": opened.infos[0].name,
    }  # fmt: skip


def _plain(artifact: Path) -> tuple[float, float]:
    """Return the seconds of reading a file in pieces, and of copying it to new memory."""
    size, piece = artifact.stat().st_size, bytearray(_PIECE)
    start = time.perf_counter()
    with artifact.open("rb", buffering=0) as file:
        while file.readinto(piece):
            pass
    read = time.perf_counter()
    memory = np.empty(size, np.uint8)
    with artifact.open("rb", buffering=0) as file:
        at = 0
        while count := file.readinto(memory.data[at : at + _PIECE]):
            at += count
    return read - start, time.perf_counter() - read


def main() -> None:
    """Print what compiling and loading cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--device", default="opencl://0")
    parser.add_argument("--load", nargs=2, metavar=("ARTIFACT", "DIGEST"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        print(json.dumps(_load(Path(options.load[0]), options.load[1], options.device)))
        return
    with tempfile.TemporaryDirectory() as folder:
        source, artifact = Path(folder) / "weights.mlirbc", Path(folder) / "weights.oclx"
        source.write_bytes(_module(options.megabytes))
        compiling = ["-m", "retarget_opencl", "compile", str(source), "-o", str(artifact)]
        start = time.perf_counter()
        subprocess.run([sys.executable, *compiling, f"--opencl-profile={options.device}"], check=True)
        size, seconds = artifact.stat().st_size, time.perf_counter() - start
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f"module {source.stat().st_size / 1e6:.0f} MB, artifact {size / 1e6:.0f} MB")
        print(f"compiled in {seconds:.1f} s, resident at most {resident / 1e6:.0f} MB")
        with artifact.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        loading = [sys.executable, __file__, f"--device={options.device}", "--load", str(artifact), digest]
        found = json.loads(subprocess.run(loading, check=True, capture_output=True, text=True).stdout)
        read, copy = _plain(artifact)
    grown = found["peak"] - found["before"]
    print(f"{found['name']}: resident before loading {found['before'] / 1e6:.0f} MB, at most {grown / 1e6:.0f} MB more")
    print(f"memory of loading / file: {grown / size:.2f}")
    print(f"load {found['load']:.2f} s; the same file: read {read:.2f} s, copied to new memory {copy:.2f} s")
    print(f"load / copy: {found['load'] / copy:.2f}")
    print(
        f"first load, which builds the kernels, {found['cold']:.2f} s; a load with the weights on the device "
        f"{found['again']:.3f} s; comparing the file's digest {found['digest']:.2f} s"
    )
    print(f"result {found['sum']:.0f}")


if __name__ == "__main__":
    main()
