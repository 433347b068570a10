"""Apache TVM as a compiler and a driver: ONNX models become shared objects, which TVM's virtual machine runs here.

`tvm`, `onnx` and NumPy are imported inside the methods only: this module is imported in every process, pytest's too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shlex
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from retarget.extension import (
    CheckSink,
    Compiled,
    Compiler,
    CompilerConfig,
    CompileRequest,
    CompilerError,
    CompileTarget,
    Device,
    DeviceInfo,
    Driver,
    DriverError,
    FunctionInfo,
    Program,
    Resolved,
    RuntimeConfig,
    SuggestedTarget,
    Toolchain,
    UnavailableError,
    code_digest,
    hookimpl,
)

if TYPE_CHECKING:
    from retarget.extension import Array


def installed(name: str) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError as error:
        raise UnavailableError(f"the package {name} is not installed", hint=f"pip install {name}") from error


def build() -> str:
    """Name the installed TVM: its version, and a digest of this module and of TVM's files, by the wheels' records."""
    records = [installed(name).read_text("RECORD") or "" for name in ("apache-tvm", "apache-tvm-ffi")]
    files = [line for line in "".join(records).splitlines() if line.startswith("tvm") and ".pyc," not in line]
    if not files:
        raise UnavailableError("apache-tvm is an editable install, whose edits nothing records", hint="install a wheel")
    digest = hashlib.sha256("\n".join([code_digest("retarget_tvm"), *sorted(files)]).encode()).hexdigest()
    return f"tvm {installed('apache-tvm').version} (build {digest[:12]})"


def linker() -> tuple[str, ...]:
    """Return the command that makes a shared object. TVM's objects need nothing of a C compiler: a linker is enough."""
    for name in ("cc", "gcc", "clang", "ld.lld", "ld"):
        if found := shutil.which(name):
            return (found, "-shared")
    with_linker = importlib.util.find_spec("iree")
    for folder in (with_linker and with_linker.submodule_search_locations) or ():
        if (path := Path(folder) / "compiler" / "_mlir_libs" / "iree-lld").is_file():
            return (str(path), "-flavor", "gnu", "-shared")
    hint = "install gcc or lld, or `pip install iree-base-compiler`, which has a linker"
    raise UnavailableError("found no C compiler and no linker, with which TVM makes a shared object", hint=hint)


class TvmCompiler(Compiler):
    """Compiles `.onnx` for TVM's target `llvm`, whose options are the flags: `-mcpu=host`, `-mattr=+avx2,+fma`."""

    name = "tvm"
    artifact_suffix = ".so"

    def takes(self, source: Path) -> bool:
        return source.suffix == ".onnx"

    def fingerprint(self, config: CompilerConfig) -> str:
        command = linker()
        changed = Path(command[0]).stat().st_mtime_ns
        return f"{build()}, onnx {installed('onnx').version}, {shlex.join(command)} of {changed}"

    def describe_build(self, toolchain: Toolchain | None) -> str:
        return build()

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        return resolved(flags)

    def compile(self, request: CompileRequest) -> Compiled:
        import tvm
        from tvm.relax.frontend.onnx import from_onnx

        step = "reading the model"
        try:
            model = read_model(request.source)
            step = "TVM's ONNX front end"
            module = from_onnx(model)
            step = "TVM"
            executable = tvm.compile(module, target_of(request.resolved.flags))
        except Exception as error:  # of many types
            *_, place = traceback.extract_tb(error.__traceback__)
            text = f"{type(error).__name__}: {error}".strip()
            where = f"raised in {'/'.join(Path(place.filename).parts[-3:])}, {place.name}"
            is_verdict = not isinstance(error, OSError | MemoryError | ImportError)
            raise CompilerError(f"{step}: {text}".splitlines()[0], f"{text}\n{where}", verdict=is_verdict) from error
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.so")
            executable.export_library(path, fcompile=link)
            return Compiled(artifact=path.read_bytes())

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        return (sys.executable, "-m", "retarget_tvm", str(target.module.path), *flags, "-o", str(output))

    def suggest_targets(self, devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
        if TvmDriver.name not in devices:
            return ()
        return (
            SuggestedTarget(
                name="tvm-cpu",
                comment="Apache TVM, with code generated for this machine's CPU: another compiler's opinion.",
                compiler_config="tvm-llvm",
                flags=("-mcpu=host",),
                drivers=(TvmDriver.name,),
            ),
        )


def resolved(flags: Sequence[str]) -> Resolved:
    from tvm.target import codegen

    options = {"mcpu": "generic", "mtriple": codegen.llvm_get_system_triple(), **split(flags)}
    if options["mcpu"] == "host":
        options["mcpu"] = codegen.llvm_get_system_cpu()
    explicit = tuple(f"-{name}={value}" for name, value in options.items())
    target_of(explicit)
    command = linker()
    return Resolved(
        build_id=build(),
        build=build(),
        flags=explicit,
        files=(Path(command[0]),),
        facts=(("linker", shlex.join(command)), ("front end", "tvm.relax.frontend.onnx, at the model's opset")),
        suffix_facts=((".onnx", f"onnx {installed('onnx').version}"),),
    )


def split(flags: Sequence[str]) -> dict[str, str]:
    """Return the options of the target by name. Raises `CompilerError` for a flag that is none."""
    for flag in flags:
        if not flag.startswith("-") or "=" not in flag:
            raise CompilerError(f"found the flag {flag!r}, expected -OPTION=VALUE of TVM's target llvm", verdict=True)
    return dict(flag[1:].split("=", 1) for flag in flags)


def target_of(flags: Sequence[str]) -> Any:
    """Return TVM's target. Raises `CompilerError` for options that it does not have, and for an unknown CPU."""
    from tvm.target import Target, codegen

    options = split(flags)
    lists = {name: options[name].split(",") for name in ("mattr", "keys") if name in options}
    numbers = {name: int(value) for name, value in options.items() if value.isdecimal()}
    try:
        target = Target({"kind": "llvm", **options, **lists, **numbers})
    except (ValueError, TypeError) as error:
        raise CompilerError(f"TVM's target llvm: {error}", verdict=True) from error
    if not codegen.llvm_is_valid_cpu(options["mcpu"], options["mtriple"]):
        expected = f"expected host or a CPU of LLVM for {options['mtriple']}"
        raise CompilerError(f"found -mcpu={options['mcpu']}, {expected}", verdict=True)
    return target


def read_model(source: bytes) -> Any:
    import onnx

    model = onnx.load_model_from_string(source)
    if any(tensor.external_data for tensor in model.graph.initializer):  # their content is no part of the compile key
        raise ValueError("its tensors lie in other files, expected a model of one file")
    return model


def link(output: str, objects: Sequence[str], **_: object) -> None:
    """Link for `export_library`. Raises `CompilerError` where the linker fails, which says nothing of the model."""
    command = (*linker(), "-o", output, *objects)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompilerError(f"{command[0]}: exit status {done.returncode}", diagnostics=done.stdout + done.stderr)


class TvmDriver(Driver):
    """TVM's virtual machine on this CPU."""

    name = "tvm"
    artifact_suffixes = (TvmCompiler.artifact_suffix,)

    def probe(self) -> Sequence[DeviceInfo]:
        cpu = DeviceInfo(
            driver=self.name,
            uri="tvm://cpu",
            ordinal=0,
            name="TVM's virtual machine on the CPU",
            physical_id="cpu",
            driver_version=installed("apache-tvm").version,
            runtime=build(),
            exclusive=False,
        )
        return (cpu,)

    def open(self, config: RuntimeConfig) -> TvmDevice:
        return TvmDevice(self.probe())

    def describe_build(self, toolchain: Toolchain | None) -> str:
        return build()

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        return TvmProgram(artifact).functions

    def import_ahead(self) -> None:
        import tvm.relax  # noqa: F401  some seconds


class TvmDevice(Device):
    def __init__(self, infos: Sequence[DeviceInfo]) -> None:
        self.infos = infos

    def load(self, artifact: bytes) -> TvmProgram:
        return TvmProgram(artifact)


class TvmProgram(Program):
    def __init__(self, artifact: bytes) -> None:
        import tvm
        from tvm import relax

        with TemporaryDirectory() as folder:  # what is loaded stays when its file is gone
            path = Path(folder, "model.so")
            path.write_bytes(artifact)
            try:
                self._machine = relax.VirtualMachine(tvm.runtime.load_module(str(path)), tvm.cpu())
                arguments = self._machine.module["get_function_arity"]("main")
            except Exception as error:  # of many types
                raise DriverError(str(error), hint="compile the model again", harmless=True) from error
        self.functions = (FunctionInfo(name="main", arguments=arguments),)

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        import tvm

        try:
            result = self._machine[function](*(tvm.runtime.tensor(value) for value in inputs))
            return list(arrays(result))
        except (ValueError, TypeError, AttributeError, RuntimeError) as error:  # TVM's are among them
            raise DriverError(str(error), harmless=True) from error


def arrays(result: object) -> Iterator[Array]:
    """Yield the outputs of a call. TVM returns a shape for a tensor that it computes of shapes, or a number."""
    import numpy as np
    import tvm_ffi

    for value in result if isinstance(result, tvm_ffi.Array) else (result,):
        if isinstance(value, tvm_ffi.Array):
            raise DriverError(f"an output is a sequence of {len(value)} values, expected a tensor", harmless=True)
        if isinstance(value, tvm_ffi.Shape):
            yield np.array(list(value), dtype=np.int64)
        else:
            yield value.numpy() if isinstance(value, tvm_ffi.Tensor) else np.asarray(value)


@hookimpl
def retarget_compilers() -> Iterable[Compiler]:
    return (TvmCompiler(),)


@hookimpl
def retarget_drivers() -> Iterable[Driver]:
    return (TvmDriver(),)


def main(source: str, *arguments: str) -> str | None:
    """Do what `reproduce` names: `python3 -m retarget_tvm model.onnx FLAG… -o model.so`. Return the error."""
    path, (*flags, _, output) = Path(source), arguments
    try:
        content, how = path.read_bytes(), resolved(flags)
        request = CompileRequest(source=content, source_name=path.name, source_path=path, resolved=how)
        Path(output).write_bytes(TvmCompiler().compile(request).artifact)
    except (CompilerError, UnavailableError) as error:
        return f"error: {error}\n{getattr(error, 'diagnostics', '')}"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
