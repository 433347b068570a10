"""XLA as a compiler and a driver: StableHLO on XLA's CPU client, for a second opinion beside IREE or another compiler.

`jaxlib` has both; it is imported inside the methods only. XLA compiles one function, `main`, at a time: an artifact has
each public function's serialised executable. `torch-mlir` imports ONNX models, as it does for IREE.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import metadata, util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec import MsgspecError, Struct, msgpack
from retarget import extension as api


def build() -> str:
    """Name what decides: the packages, by the files that their wheels list, this module, and XLA's own variable."""
    found = {name: one for name in ("jaxlib", "torch-mlir", "onnx") for one in metadata.distributions(name=name)}
    if "jaxlib" not in found:
        raise api.UnavailableError("jaxlib is not installed", hint="pip install jaxlib")
    records = [one.read_text("RECORD") for one in found.values()]
    content = f"{records} {api.code_digest('retarget_xla')} {os.environ.get('XLA_FLAGS')}"
    versions = ", ".join(f"{name} {one.version}" for name, one in found.items())
    return f"{versions} (build {sha256(content.encode()).hexdigest()[:12]})"


def xla() -> Any:
    build()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # errors are raised, and need no line in a log
    from jaxlib import xla_client

    return xla_client


client = cache(lambda: xla().make_cpu_client(asynchronous=False))


class Function(Struct):
    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    checks: list[tuple[str, float, float]]  # kinds and tolerances of what it returns after its `results`
    code: bytes = b""


TO_STABLEHLO = "builtin.module(torch-onnx-to-torch-backend-pipeline,torch-backend-to-stablehlo-backend-pipeline)"
TYPE = r"tensor<[^<>]*(?:<\w+>)?>"
HIDDEN = re.compile(rf"%([\w$.-]+)\s*=\s*util\.unfoldable_constant\s+(dense<[^>]*>)\s*:\s*({TYPE})")
CHECK = re.compile(
    rf"\bcheck\.expect_(eq|almost_eq|all_true)(?:_const)?\((%[^:]*?)(?:,\s*(dense<[^>]*>\s*:\s*{TYPE}))?"
    rf"(?:,\s*atol ([^\s,)]+)(?:,\s*rtol ([^\s)]+))?)?\)\s*:\s*({TYPE})"
)


def in_stablehlo(text: str) -> str:
    """Return text with IREE's ways to hide constants, and to check values, in operations that XLA can parse."""

    def check(found: re.Match[str]) -> str:
        kind, values, literal, atol, rtol, of = found.groups()
        constant = f"%expected.{found.start()} = stablehlo.constant {literal} " if literal else ""
        values += f", %expected.{found.start()}" if literal else ""
        types = ", ".join([of] * values.count("%"))
        return f'{constant}"check.expect_{kind}"({values}) {{to = "{atol or 1e-4} {rtol or 0}"}} : ({types}) -> ()'

    text = text.replace("util.optimization_barrier", "stablehlo.optimization_barrier")
    text = HIDDEN.sub(r"%is.\1 = stablehlo.constant \2 : \3 %\1 = stablehlo.optimization_barrier %is.\1 : \3", text)
    return CHECK.sub(check, text)


def return_checks(function: Any) -> list[tuple[str, float, float]]:
    """Make a function return also what its checks compare, as XLA has no checks. Return their kinds and tolerances."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    *body, last = function.entry_block.operations
    checks, results = [], [*last.operands]
    for operation in body:
        _, is_check, kind = operation.operation.name.partition("check.expect_")
        if is_check:
            checks.append((kind, *map(float, operation.attributes["to"].value.split())))
            results += operation.operands
            operation.operation.erase()
    if checks:
        with ir.InsertionPoint(last):
            func.ReturnOp(results)
        last.operation.erase()
        of = ir.FunctionType.get(function.type.inputs, [value.type for value in results])
        function.attributes["function_type"] = ir.TypeAttr.get(of)
    return checks


def as_main(module: Any, name: str) -> str:
    """Return the text of the module with the function `name` as `main`."""
    from jaxlib.mlir import ir

    copy = module.operation.clone()
    for old, new in (("main", "main.other"), (name, "main")) if name != "main" else ():
        if old in ir.SymbolTable(copy):
            ir.SymbolTable.replace_all_symbol_uses(old, new, copy.operation)
            ir.SymbolTable.set_symbol_name(ir.SymbolTable(copy)[old], new)
    return str(copy)


def from_onnx(source: bytes) -> bytes:
    """Return an ONNX model in StableHLO. Errors are of many types."""
    import onnx
    from torch_mlir import ir, passmanager
    from torch_mlir.dialects import torch
    from torch_mlir.extras.onnx_importer import ModelInfo, NodeImporter

    with ir.Context() as context:
        torch.register_dialect(context)
        model = ModelInfo(onnx.shape_inference.infer_shapes(onnx.load_from_string(source), data_prop=True))
        module = model.create_module(context=context).operation
        NodeImporter.define_function(model.main_graph, module).import_all()
        passmanager.PassManager.parse(TO_STABLEHLO).run(module)
        return str(module).encode()


def compile_module(source: bytes, name: str, flags: Sequence[str]) -> bytes:
    """Compile each public function. Raises `CompilerError` with the diagnostics."""
    if wrong := [flag for flag in flags if not flag.startswith("--xla_")]:
        raise api.CompilerError(f"found the flag {wrong[0]}, expected an option of XLA: --xla_NAME=VALUE", verdict=True)
    options = xla().CompileOptions()  # sets what jaxlib reads when it is imported
    pairs = [flag[2:].partition("=")[::2] for flag in flags]
    options.env_option_overrides = [(of, {"": True, "true": True, "false": False}.get(to, to)) for of, to in pairs]
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, stablehlo

    registry, found = ir.DialectRegistry(), []
    _jax_mlir_ext.register_dialects(registry)
    with ir.Context() as context, ir.Location.unknown():
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        chlo.register_dialect(context)
        context.allow_unregistered_dialects = True
        try:
            source = from_onnx(source) if name.endswith(".onnx") else source
            if source.startswith(b"ML\xefR"):
                module = stablehlo.deserialize_portable_artifact(context, source)
            else:
                module = ir.Module.parse(in_stablehlo(source.decode(errors="replace")))
            for function in (one for one in module.body.operations if one.operation.name == "func.func"):
                if "sym_visibility" not in function.attributes or function.visibility.value == "public":
                    inputs, results = (tuple(map(str, of)) for of in (function.type.inputs, function.type.results))
                    found.append(Function(function.name.value, inputs, results, return_checks(function)))
            for function in found:
                compiled = client().compile_and_load(as_main(module, function.name), client().local_devices(), options)
                function.code = client().serialize_executable(compiled)
        except ImportError as error:
            raise api.UnavailableError(str(error), hint="pip install torch-mlir onnx") from error
        except Exception as error:  # of many types
            text = re.sub(r"^(?:[A-Z_]+: |Unable to parse .*:\n|Failure while .*:\n)", "", str(error) or repr(error))
            text = re.sub(r'(?m)^ *(\w+: )?"?-"?:(\d+:\d+: )', rf"{name}:\2\1", text).strip()
            first = (re.findall(r"(?m)^.*\berror: .*", text) or text.splitlines())[0]
            first = re.sub(r': "[^"]*"(?=: )|: [%"].*?(?:<\{\w+ =( "[^"]*").*|$)', r"\1", first)
            is_verdict = not isinstance(error, OSError | MemoryError) and "RESOURCE_EXHAUSTED" not in str(error)
            raise api.CompilerError(first, text, verdict=is_verdict) from error
    return msgpack.encode(found)


class XlaCompiler(api.Compiler):
    """Compiles StableHLO, and ONNX models, for this CPU. Its flags are XLA's options."""

    name = "xla"
    artifact_suffix = ".xla"

    def fingerprint(self, config: api.CompilerConfig) -> str:
        return build()

    def describe_build(self, toolchain: api.Toolchain | None) -> str:
        return build()

    def resolve(self, config: api.CompilerConfig, flags: tuple[str, ...]) -> api.Resolved:
        tried = compile_module(b"func.func @main() { return }", "flags", flags)  # raises the error of unknown flags
        target = re.search(rb"(?s)\n.([\w.-]+)\x12.([\w.-]+)\x1a..?((?:[+-][\w.-]+,)+)", tried)  # triple, CPU, features
        facts = (("target", b" ".join(target.groups()).decode() if target else str(platform.uname())),)
        outputs = tuple(flag for flag in flags if flag.startswith("--xla_dump_"))
        return api.Resolved(build_id=build(), build=build(), flags=flags, facts=facts, not_inputs=outputs)

    def compile(self, request: api.CompileRequest) -> api.Compiled:
        return api.Compiled(artifact=compile_module(request.source, request.source_name, request.resolved.flags))

    def reproduce(self, target: api.CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        return (sys.executable, "-m", "retarget_xla", str(target.module.path), str(output), *flags)

    def suggest_targets(self, devices: Mapping[str, Sequence[api.DeviceInfo]]) -> Sequence[api.SuggestedTarget]:
        comment = "XLA on this machine's CPU, for StableHLO and ONNX: a second opinion."
        target = api.SuggestedTarget(name="xla", comment=comment, compiler_config="xla-cpu", drivers=("xla",))
        return (target,) if "xla" in devices else ()

    def takes(self, source: Path) -> bool:
        is_model = source.suffix == ".onnx" and util.find_spec("torch_mlir") is not None
        return is_model or re.search(rb"\b(?:stable|v)hlo\b", source.read_bytes()) is not None


def functions_in(artifact: bytes) -> list[Function]:
    try:
        return msgpack.decode(artifact, type=list[Function])
    except MsgspecError as error:
        raise api.DriverError(f"found no artifact of XLA: {error}", hint="compile it again", harmless=True) from error


class XlaDriver(api.Driver):
    name = "xla"
    artifact_suffixes = (".xla",)

    def describe_build(self, toolchain: api.Toolchain | None) -> str:
        return build()

    def probe(self) -> Sequence[api.DeviceInfo]:
        of: dict[str, Any] = {"driver_name": "XLA", "driver_version": metadata.version("jaxlib"), "runtime": build()}
        cpu: dict[str, Any] = {"uri": "xla://0", "name": "XLA on the CPU", "physical_id": "cpu", "type": "cpu"}
        return (api.DeviceInfo(driver=self.name, ordinal=0, exclusive=False, **of, **cpu),)

    def open(self, config: api.RuntimeConfig) -> XlaDevice:
        if unknown := {*config.devices} - {"0", "xla://0"}:
            raise api.UnavailableError(f"found no device {' '.join(unknown)} of XLA, expected xla://0, the CPU")
        device = XlaDevice()
        device.infos = self.probe()
        return device

    def functions(self, artifact: bytes) -> Sequence[api.FunctionInfo]:
        return [
            api.FunctionInfo(name=of.name, arguments=len(of.inputs), argument_types=of.inputs, result_types=of.results)
            for of in functions_in(artifact)
        ]


class XlaDevice(api.Device):
    def load(self, artifact: bytes) -> XlaProgram:
        return XlaProgram(artifact)


class XlaProgram(api.Program):
    def __init__(self, artifact: bytes) -> None:
        self.functions = XlaDriver().functions(artifact)
        self._loaded = {}
        try:
            for function in functions_in(artifact):
                loaded = client().deserialize_executable(function.code, client().local_devices(), None)
                proto = loaded.hlo_modules()[0].as_serialized_hlo_module_proto()
                parameters = xla().XlaComputation(proto).program_shape().parameter_shapes()
                expected = [f"{of.numpy_dtype()}{[*of.dimensions()]}" for of in parameters]
                self._loaded[function.name] = function, loaded, expected
        except xla().XlaRuntimeError as error:
            raise api.DriverError(str(error), hint="compile the module again", harmless=True) from error

    def call(self, function: str, inputs: Sequence[api.Array], on_check: api.CheckSink) -> Sequence[api.Array]:
        import numpy as np

        described, executable, expected = self._loaded[function]
        found = [f"{value.dtype}{[*value.shape]}" for value in inputs]
        if found != expected:  # XLA itself compares sizes in bytes only
            raise api.DriverError(f"found the arguments {', '.join(found)}, expected {', '.join(expected)}")
        try:
            returned = executable.execute([self._on_device(value) for value in inputs])
            values = [np.array(value._single_device_array_to_np_array_did_copy()[0]) for value in returned]  # noqa: SLF001
        except xla().XlaRuntimeError as error:
            raise api.DriverError(str(error)) from error
        own, compared = values[: len(described.results)], iter(values[len(described.results) :])
        for kind, atol, rtol in described.checks:
            actual, wanted = next(compared), None if kind == "all_true" else next(compared)
            on_check(api.Check(kind=kind, actual=actual, expected=wanted, atol=atol, rtol=rtol))
        return own

    def _on_device(self, value: api.Array) -> Any:
        of = SimpleNamespace(shape=value.shape, dtype=value.dtype, weak_type=False)  # JAX has a class for it
        devices, copied = client().local_devices(), xla().HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
        placed = (xla().GSPMDSharding(devices, xla().HloSharding.replicate()), [value], devices)
        return xla().batched_device_put(of, *placed, host_buffer_semantics=copied, enable_x64=True)


@api.hookimpl
def retarget_compilers() -> Iterable[api.Compiler]:
    return (XlaCompiler(),)


@api.hookimpl
def retarget_drivers() -> Iterable[api.Driver]:
    return (XlaDriver(),)


if __name__ == "__main__":  # what `reproduce` names
    _, source, output, *flags = sys.argv
    try:
        Path(output).write_bytes(compile_module(Path(source).read_bytes(), Path(source).name, flags))
    except api.CompilerError as error:
        sys.exit(error.diagnostics or str(error))
