"""The same modules on the same GPU through OpenCL and through IREE's own drivers.

    python3 benchmarks/opencl_speed.py                                # what is here: opencl, vulkan, cuda, llvm-cpu
    python3 benchmarks/opencl_speed.py --backends opencl,opencl-contract                 # what contraction is worth
    python3 benchmarks/opencl_speed.py --backends opencl,vulkan,cuda --only matmul,softmax --json results.json

Per module and backend two times, each the best of several runs. *Wall*: one call on arguments that are on the device
already, until the device is done. *Device*: for OpenCL the sum of its kernels' profiling events; for IREE's drivers the
module is compiled once more with every dispatch repeated (`--iree-hal-benchmark-dispatch-repeat-count`), and the
difference of the wall times is divided by the number of repetitions more. There are enough of these to make the
difference at least 10 ms, or 400: a call's wall time varies by tenths of a millisecond. Beside them the share of
the device's limit that the device time comes to, and OpenCL's device time over each other's.

Results are compared with OpenCL's before anything is timed: a fast wrong kernel is no result.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import ml_dtypes
import network_workloads
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
REPEATS = 11
MORE_REPEATS = 401
SOUND = 10e-3  # seconds by which a repeated run must be longer for the difference to be trusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A module whose function `main` is timed. `flops` and `bytes` are what one call must at least do and move."""

    name: str
    text: str
    inputs: tuple[Array, ...]
    flops: float
    bytes: float
    tolerance: float = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Times in seconds. `error` says why there are none."""

    backend: str
    workload: str
    wall: float = float("nan")
    device: float = float("nan")
    error: str = ""


# Part of the name; FLOP/s in single precision, and in half precision with tensor cores (bf16 has the same, bytes have
# twice as much); bytes/s. From data sheets.
LIMITS = (
    ("H200", 67e12, 989e12, 4.8e12),
    ("H100", 67e12, 989e12, 3.35e12),
    ("A100", 19.5e12, 312e12, 2.0e12),
    ("L40", 90.5e12, 181e12, 0.864e12),
)


def _random(shape: Sequence[int], dtype: npt.DTypeLike = np.float32) -> Array:
    return (np.random.default_rng(len(shape)).integers(-8, 9, tuple(shape)) / 8).astype(dtype)


_SUMS = {"f32": "f32", "f16": "f16", "bf16": "f32", "i8": "i32"}
"""The elements of matrices, and in what their products are summed up."""


def matmul(size: int, element: str = "f32") -> Workload:
    """A square matrix product."""
    kind, out, total = f"tensor<{size}x{size}x{element}>", f"tensor<{size}x{size}x{_SUMS[element]}>", _SUMS[element]
    text = f"""func.func @main(%a: {kind}, %b: {kind}) -> {out} {{
  %z = arith.constant {"0" if element == "i8" else "0.0"} : {total}
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%z : {total}) outs(%e : {out}) -> {out}
  %r = linalg.matmul ins(%a, %b : {kind}, {kind}) outs(%f : {out}) -> {out}
  return %r : {out}
}}"""
    dtype: npt.DTypeLike = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}[element]
    values = [(_random((size, size)) * (8 if element == "i8" else 1)).astype(dtype) for _ in range(2)]
    return Workload(
        name=f"matmul {element} {size}",
        text=text,
        inputs=(values[0], values[1]),
        flops=2.0 * size**3,
        bytes=2.0 * values[0].nbytes + size**2 * (2.0 if element == "f16" else 4.0),
        tolerance={"f16": 0.3, "i8": 0.0}.get(element, 1e-3),
    )


def convolution() -> Workload:
    """A 3x3 convolution, 8x56x56x128 to as many channels."""
    image, kernel, out = "tensor<8x58x58x128xf32>", "tensor<3x3x128x128xf32>", "tensor<8x56x56x128xf32>"
    text = f"""func.func @main(%a: {image}, %k: {kernel}) -> {out} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %k : {image}, {kernel}) outs(%f : {out}) -> {out}
  return %r : {out}
}}"""
    inputs = (_random((8, 58, 58, 128)), _random((3, 3, 128, 128)))
    flops = 2.0 * 8 * 56 * 56 * 128 * 9 * 128
    moved = 4.0 * (inputs[0].size + inputs[1].size + 8 * 56 * 56 * 128)
    return Workload(name="conv2d 3x3 8x56x56x128", text=text, inputs=inputs, flops=flops, bytes=moved, tolerance=1e-2)


def softmax(rows: int = 8192, columns: int = 4096) -> Workload:
    """Softmax over rows."""
    kind = f"tensor<{rows}x{columns}xf32>"
    text = f"""func.func @main(%a: {kind}) -> {kind} {{
  %e = tensor.empty() : {kind}
  %r = linalg.softmax dimension(1) ins(%a : {kind}) outs(%e : {kind}) -> {kind}
  return %r : {kind}
}}"""
    count = float(rows * columns)
    name = f"softmax {rows}x{columns}"
    return Workload(name=name, text=text, inputs=(_random((rows, columns)),), flops=5 * count, bytes=8 * count)


def reduction(size: int = 8192) -> Workload:
    """Sums of rows."""
    kind, out = f"tensor<{size}x{size}xf32>", f"tensor<{size}xf32>"
    maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>"
    text = f"""func.func @main(%a: {kind}) -> {out} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}}
    ins(%a : {kind}) outs(%f : {out}) {{
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }} -> {out}
  return %r : {out}
}}"""
    count = float(size * size)
    return Workload(
        name=f"row sums {size}²",
        text=text,
        inputs=(_random((size, size)),),
        flops=count,
        bytes=4 * count,
        tolerance=1e-2,
    )


def elementwise(size: int = 8192) -> Workload:
    """A chain of elementwise ops on two tensors, which is one kernel."""
    kind = f"tensor<{size}x{size}xf32>"
    text = f"""func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %0 = arith.addf %a, %b : {kind}
  %1 = arith.mulf %0, %a : {kind}
  %2 = arith.subf %1, %b : {kind}
  %3 = arith.maximumf %2, %a : {kind}
  return %3 : {kind}
}}"""
    count = float(size * size)
    inputs = (_random((size, size)), _random((size, size)))
    return Workload(name=f"elementwise {size}²", text=text, inputs=inputs, flops=4 * count, bytes=12 * count)


def small_model(layers: int = 10) -> Workload:
    """Ten small layers, for the host's cost of a dispatch."""
    kind = "tensor<64x64xf32>"
    lines, value = [], "%a"
    for layer in range(layers):
        lines.append(f"  %f{layer} = linalg.fill ins(%z : f32) outs(%e : {kind}) -> {kind}")
        operands = f"ins({value}, %w : {kind}, {kind}) outs(%f{layer} : {kind})"
        lines.append(f"  %m{layer} = linalg.matmul {operands} -> {kind}")
        lines.append(f"  %v{layer} = arith.maximumf %m{layer}, %zero : {kind}")
        value = f"%v{layer}"
    body = "\n".join(lines)
    text = f"""func.func @main(%a: {kind}, %w: {kind}) -> {kind} {{
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : {kind}
  %e = tensor.empty() : {kind}
{body}
  return {value} : {kind}
}}"""
    weights = _random((64, 64)).astype(np.float32) / np.float32(8)
    flops = 2.0 * 64**3 * layers
    return Workload(
        name=f"{layers}-dispatch model",
        text=text,
        inputs=(_random((64, 64)), weights),
        flops=flops,
        bytes=4.0 * 64 * 64 * 3,
    )


def attention() -> Workload:
    """Attention of 8 batches and 16 heads over 1024 tokens of 64 elements, in half precision."""
    shape = (8, 16, 1024, 64)
    flops = 4.0 * 8 * 16 * 1024 * 1024 * 64
    text = network_workloads.attention(*shape)
    inputs = (_random(shape, np.float16),) * 3
    name = "attention 8x16x1024x64 f16"
    return Workload(name=name, text=text, inputs=inputs, flops=flops, bytes=8.0 * inputs[0].size, tolerance=3e-3)


def layer_norm(rows: int = 8192, columns: int = 4096) -> Workload:
    """Normalisation over rows, with a scale and a shift per column."""
    inputs = (_random((rows, columns)), _random((columns,)), _random((columns,)))
    count = float(rows * columns)
    text = network_workloads.layer_norm(rows, columns)
    return Workload(name=f"layer norm {rows}x{columns}", text=text, inputs=inputs, flops=8 * count, bytes=8 * count)


def _networks(folder: Path | None) -> list[Workload]:
    """Return whole networks, none where neither a folder has them nor the package onnx is there."""
    try:
        found = network_workloads.networks(folder)
    except ImportError as error:
        print(f"networks: left out: {error}; --networks takes a folder that network_workloads.py wrote")
        return []
    return [
        Workload(name=one.name, text=one.text, inputs=one.inputs(), flops=0.0, bytes=0.0, tolerance=1e-2)
        for one in found
    ]


def workloads(small: bool, folder: Path | None = None) -> list[Workload]:
    """All of them; the small ones are for a CPU. `folder` has the networks."""
    sizes = (256, 512) if small else (256, 512, 1024, 2048, 4096)
    found = [matmul(size, element) for element in ("f32", "f16", "bf16", "i8") for size in sizes]
    if small:
        return [*found, softmax(512, 1024), reduction(1024), elementwise(1024), small_model()]
    found += [convolution(), attention(), softmax(), layer_norm(), reduction(), elementwise(), small_model()]
    return [*found, *_networks(folder)]


# ---------------------------------------------------------------- backends


class Backend(Protocol):
    """Something that can be timed."""

    name: str

    def prepare(self, workload: Workload) -> Array:
        """Compile and load; return the result of the first call."""

    def measure(self, seconds: float) -> tuple[float, float]:
        """Return wall and device seconds of one call."""


def best(run: Callable[[], object], seconds: float) -> float:
    """Return the shortest time of the calls that fit into `seconds`, at least three."""
    run()
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 3:
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


class OpenClBackend:
    """OpenCL through this project."""

    def __init__(self, name: str, device: str, flags: Sequence[str]) -> None:
        from retarget.model import CompilerConfig, Origin, RuntimeConfig
        from retarget_opencl.compile.compiler import OpenClCompiler
        from retarget_opencl.run.driver import OpenClDriver

        here = Origin(file=Path(), key_path="")
        self.name = name
        self._compiler = OpenClCompiler()
        complete = (f"--opencl-profile={device}", *flags)
        config = CompilerConfig(name=name, compiler="iree-opencl", flags=complete, origin=here)
        self._resolved = self._compiler.resolve(config, config.flags)
        self._device = OpenClDriver().open(RuntimeConfig(name=name, driver="opencl", devices=(device,), origin=here))
        self.description = f"{self._device.infos[0].name}, driver {self._device.infos[0].driver_version}"
        self._call: Callable[[], None]
        self._device_seconds: Callable[[], Sequence[float]]

    def prepare(self, workload: Workload) -> Array:
        from retarget.extension import CompileRequest

        request = CompileRequest(
            source=workload.text.encode(),
            source_name="main.mlir",
            source_path=Path("main.mlir"),
            resolved=self._resolved,
        )
        artifact = self._compiler.compile(request).artifact
        program = self._device.load(artifact)
        self._call = program.bind_call("main", workload.inputs)
        self._device_seconds = partial(program.device_seconds, "main", workload.inputs, 10, Path())
        return np.asarray(program.call("main", workload.inputs, print)[0])

    def measure(self, seconds: float) -> tuple[float, float]:
        return best(self._call, seconds), min(self._device_seconds())


class IreeBackend:
    """One of IREE's own drivers, opened as the extension `iree` opens it."""

    def __init__(self, name: str, driver: str, flags: Sequence[str]) -> None:
        from retarget.model import Origin, RuntimeConfig
        from retarget_iree.runtime.drivers import DRIVERS

        self.name, self._flags = name, list(flags)
        chosen = next(item for item in DRIVERS if item.name == driver)
        here = Origin(file=Path(), key_path="")
        self._device = chosen.open(RuntimeConfig(name=name, driver=driver, origin=here))
        info = self._device.infos[0]
        self.description = f"{info.name}, driver {info.driver_version}"
        self._compiled: dict[tuple[str, int], bytes] = {}
        self._calls: list[Callable[[], Any]] = []
        self._workload: Workload | None = None

    def compile_ahead(self, workloads: Sequence[Workload]) -> None:
        """Compile modules with all processors, before anything is timed; what fails does so again when it is loaded."""
        jobs = [(item.text, repeats) for item in workloads for repeats in (1, REPEATS, MORE_REPEATS)]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for job, done in [(job, threads.submit(self._compile, *job)) for job in jobs]:
                with suppress(Exception):
                    self._compiled[job] = done.result()

    def _compile(self, text: str, repeats: int) -> bytes:
        from iree import compiler

        if (text, repeats) in self._compiled:
            return self._compiled[text, repeats]
        extra = [*self._flags, f"--iree-hal-benchmark-dispatch-repeat-count={repeats}"]
        return bytes(compiler.compile_str(text, extra_args=extra))

    def _load(self, workload: Workload, repeats: int) -> tuple[Callable[[], Any], Array]:
        import iree.runtime as rt

        program: Any = self._device.load(self._compile(workload.text, repeats))
        result = np.asarray(program.call("main", workload.inputs, print)[0])
        # The program's own call copies arguments and results; what is timed here does not.
        context, entry = program._context, program._entries["main"]  # noqa: SLF001
        arguments = program._pack("main", program._signatures["main"], workload.inputs)  # noqa: SLF001

        def call() -> Any:
            results = rt.VmVariantList(1)
            context.invoke(entry, arguments, results)
            return results

        return call, result

    def prepare(self, workload: Workload) -> Array:
        once, result = self._load(workload, 1)
        often, _ = self._load(workload, REPEATS)
        self._calls, self._workload = [once, often], workload
        return result

    def measure(self, seconds: float) -> tuple[float, float]:
        wall, repeated = best(self._calls[0], seconds), best(self._calls[1], seconds)
        more = REPEATS - 1
        if repeated - wall < SOUND and self._workload is not None:
            often, _ = self._load(self._workload, MORE_REPEATS)
            repeated, more = best(often, seconds), MORE_REPEATS - 1
        return wall, max(repeated - wall, 0.0) / more


def make_backend(name: str, device: str) -> OpenClBackend | IreeBackend:
    """Return a backend. Raises whatever its driver raises where it is not here."""
    known: dict[str, Callable[[], OpenClBackend | IreeBackend]] = {
        "opencl": lambda: OpenClBackend("opencl", device, ()),
        "opencl-no-subgroups": lambda: OpenClBackend("opencl-no-subgroups", device, ("--opencl-subgroups=none",)),
        "opencl-contract": lambda: OpenClBackend("opencl-contract", device, ("--opencl-contract=on",)),
        "opencl-no-matrices": lambda: OpenClBackend("opencl-no-matrices", device, ("--opencl-matrices=none",)),
        "opencl-im2col": lambda: OpenClBackend("opencl-im2col", device, ("--iree-global-opt-use-im2col-for-convs",)),
        "opencl-unknown-arch": lambda: OpenClBackend("opencl-unknown-arch", device, ("--opencl-arch=generic",)),
        "vulkan": lambda: IreeBackend(
            "vulkan", "vulkan", ("--iree-hal-target-device=vulkan", "--iree-vulkan-target=ampere")
        ),
        "cuda": lambda: IreeBackend("cuda", "cuda", ("--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80")),
        "llvm-cpu": lambda: IreeBackend(
            "llvm-cpu",
            "local-task",
            (
                "--iree-hal-target-device=local",
                "--iree-hal-local-target-device-backends=llvm-cpu",
                "--iree-llvmcpu-target-cpu=host",
            ),
        ),
    }
    return known[name]()


# ---------------------------------------------------------------- the table


def limit_share(workload: Workload, device: float, description: str) -> str:
    """Return the share of the device's limit, and which limit it is; empty where the device is not in the table."""
    for name, single, half, moved in LIMITS:
        if name in description:
            rate = half if "f16" in workload.name else 2 * half if " i8 " in workload.name else single
            compute, memory = workload.flops / rate, workload.bytes / moved
            floor = max(compute, memory)
            if not floor:
                return ""
            return f"{100 * floor / device:.0f} % of {'FLOP/s' if compute > memory else 'bytes/s'}" if device else ""
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit status 1 if a result was wrong or no backend is here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backends", default="opencl,vulkan,cuda")
    parser.add_argument("--device", default="opencl://0", help="OpenCL device")
    parser.add_argument("--only", default="", help="parts of workload names, with commas")
    parser.add_argument("--small", action="store_true", help="sizes for a CPU")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long to repeat each call")
    parser.add_argument("--networks", type=Path, help="folder that network_workloads.py wrote, where onnx is not here")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    backends: list[OpenClBackend | IreeBackend] = []
    for name in options.backends.split(","):
        try:
            backends.append(make_backend(name, options.device))
            print(f"{name}: {backends[-1].description}")
        except Exception as error:
            print(f"{name}: left out: {error}")
    if not backends:
        print(f"nothing to time: none of the backends {options.backends} can be used here", file=sys.stderr)
        return 1
    wanted = [part for part in options.only.split(",") if part]
    chosen = [
        item
        for item in workloads(options.small, options.networks)
        if not wanted or any(part in item.name for part in wanted)
    ]
    description = next((backend.description for backend in backends if isinstance(backend, OpenClBackend)), "")
    for backend in backends:
        if isinstance(backend, IreeBackend):
            backend.compile_ahead(chosen)
    timings: list[Timing] = []
    wrong = False
    print(
        "\n| module | " + " | ".join(f"{b.name} device ms | wall ms" for b in backends) + " | limit | opencl / other |"
    )
    print("|---" * (2 * len(backends) + 3) + "|")
    for workload in chosen:
        row, reference = [], None
        for backend in backends:
            try:
                result = backend.prepare(workload)
                reference = result if reference is None else reference
                off = float(np.max(np.abs(result.astype(np.float64) - reference.astype(np.float64))))
                bound = workload.tolerance * max(1.0, float(np.max(np.abs(reference))))
                if not off <= bound:
                    wrong = True
                    row.append(Timing(backend=backend.name, workload=workload.name, error=f"wrong by {off:g}"))
                    continue
                wall, device = backend.measure(options.seconds)
                row.append(Timing(backend=backend.name, workload=workload.name, wall=wall, device=device))
            except Exception as error:
                first = str(error).splitlines()[0][:60] if str(error) else type(error).__name__
                row.append(Timing(backend=backend.name, workload=workload.name, error=first))
        timings += row
        cells = [f"{t.device * 1e3:.3f} | {t.wall * 1e3:.3f}" if not t.error else f"{t.error} | " for t in row]
        ratios = [f"{row[0].device / t.device:.2f} {t.backend}" for t in row[1:] if t.device and not t.error]
        share = limit_share(workload, row[0].device, description) if row and not row[0].error else ""
        print(f"| {workload.name} | {' | '.join(cells)} | {share} | {', '.join(ratios)} |", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(timing) for timing in timings], indent=1))
    return int(wrong)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Vulkan, CUDA and OpenCL drivers in one process tear each other down in their exit handlers; the results are out.
    os._exit(status)
