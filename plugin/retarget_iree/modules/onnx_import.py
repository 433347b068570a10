"""ONNX models as MLIR, through the importer of IREE's compiler package.

The size of a module, from its text at the phase `flow`: there dispatches are formed, and no backend has begun;
and what its program has, from the statistics at the phase `stream`, where memory is planned.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import math
import os
import re
import subprocess
import sys
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path

from retarget.extension import CompilerError, ModuleSize, ProgramStatistics, UnavailableError
from retarget.support import RetargetError, ScratchFolder, install_hint

from retarget_iree.builds import COMPILER_PACKAGE, CompilerBuild
from retarget_iree.toolchain import VARIABLE, compiler_api, find_compiler

_UNRELATED = (OSError, MemoryError, ImportError)
"""Errors that are not about the model."""


def onnx_version(build: CompilerBuild) -> str:
    """Return the versions of what imports models for a build: of the package onnx, and of the environment's compiler,
    where the build has no importer of its own; `none` without one."""
    versions = []
    for name in ("onnx",) if build.package is not None else ("onnx", COMPILER_PACKAGE):
        try:
            versions.append(importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            versions.append("none")
    return " ".join(versions)


def import_onnx(content: bytes, name: str) -> bytes:
    """Return the MLIR of a model in the `torch` dialect's ONNX form; `iree-compile --iree-input-type=auto` takes it.

    Raises `CompilerError` for an invalid model and for a model whose tensors lie in other files (their content
    would not be part of the compile key), `UnavailableError` if the package onnx is missing.
    """
    if importlib.util.find_spec("onnx") is None:
        msg = "the package onnx, which reads ONNX models, is not installed"
        raise UnavailableError(msg, hint=install_hint("onnx"))
    import onnx

    try:
        model = onnx.load_from_string(content)
    except Exception as error:  # protobuf's own error type has no stubs
        msg = f"{name}: not an ONNX model: {_first_line(error)}"
        raise CompilerError(msg, verdict=not isinstance(error, _UNRELATED), in_front_half=True) from error
    if not model.graph.node and not model.graph.output:
        msg = f"{name}: not an ONNX model: it holds no graph"
        raise CompilerError(msg, verdict=True, in_front_half=True)
    from onnx.external_data_helper import ExternalDataInfo, uses_external_data

    elsewhere = filter(uses_external_data, model.graph.initializer)
    if outside := sorted({ExternalDataInfo(tensor).location for tensor in elsewhere}):
        msg = (
            f"{name}: tensors lie in other files ({', '.join(outside)}), which the compile key does not cover; "
            "expected a model of one file: save it with onnx.save_model(model, path, save_as_external_data=False)"
        )
        raise CompilerError(msg, verdict=True, in_front_half=True)
    with ScratchFolder("onnx") as folder:
        source, output = folder.path / "model.onnx", folder.path / "model.mlir"
        source.write_bytes(content)
        try:
            _run_importer(source, output)
        except UnavailableError:
            raise
        except Exception as error:  # the importer raises what it and onnx's checker come across, of many types
            text = str(error).replace(str(source), name)
            msg = f"{name}: the ONNX importer refused the model: {_first_line(error).replace(str(source), name)}"
            diagnostics = f"{type(error).__name__}: {text}"
            is_verdict = not isinstance(error, _UNRELATED)
            raise CompilerError(msg, diagnostics, verdict=is_verdict, in_front_half=True) from error
        return output.read_bytes()


def _run_importer(source: Path, output: Path) -> None:
    """Import with the package of the build that compiles; with the environment's, in its own process, where the
    build has none: two libraries of the compiler must not meet. Raises whatever it does."""
    if find_compiler().package is not None:
        with contextlib.suppress(UnavailableError):  # a library that does not load: the importer will say so
            compiler_api()
        from iree.compiler.tools.import_onnx import __main__ as importer

        importer.main(importer.parse_arguments([str(source), "-o", str(output)]))
        return
    argv = [sys.executable, "-P", "-m", "iree.compiler.tools.import_onnx", str(source), "-o", str(output)]
    env = {name: value for name, value in os.environ.items() if name != VARIABLE}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        raise ImportError(last) if last.startswith("ModuleNotFoundError") else ValueError(last)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


FLOW_FLAGS = ("--compile-to=flow",)
STREAM_FLAGS = ("--compile-to=stream", "--iree-scheduling-dump-statistics-format=json")

_OP = re.compile(r"(?m)^ *(?:%[^=]*= *)?\"?([a-z_]\w*(?:\.\w+)+)")
"""An op begins a line, or follows the values that it defines."""

_DISPATCH = "flow.dispatch"
_FRAME = re.compile(
    r"(util|check|hal|builtin|iree_tensor_ext)\.|func\.func$|flow\.(executable|dispatch|return|tensor\.reshape)"
    r"|arith\.constant$|tensor\.empty$|linalg\.generic$|\w+\.yield$"
)
"""Ops that hold, name, load and check what others compute; `linalg.generic` is the loop around them."""

_TENSOR = re.compile(r"\btensor<((?:[\d?]+x)*)([a-z]\w*(?:<\w+>)?)[>,]")


def flow_size(text: str) -> ModuleSize:
    """Return the size of a module from what `--compile-to=flow` gives.

    A dispatch in a loop counts once. `elements` are those of the largest tensor; a size that is known only at run time
    counts as 1.
    """
    ops = _OP.findall(text)
    shapes = _TENSOR.findall(text)
    return ModuleSize(
        dispatches=ops.count(_DISPATCH),
        ops=tuple(sorted({op for op in ops if not _FRAME.match(op)})),
        types=tuple(sorted({element for _, element in shapes})),
        elements=max((math.prod(int(size) for size in re.findall(r"\d+", sizes)) for sizes, _ in shapes), default=0),
    )


def stream_statistics(printed: str) -> ProgramStatistics:
    """Return what a program has, from what the compiler prints with `STREAM_FLAGS`. Raises `RetargetError` for other
    text."""
    # No JSON any more: lines that repeat the one above are left out of what was printed.
    found = [re.search(rf'"{name}": (\d+)', printed) for name in ("dispatch-count", "transient-memory-size")]
    dispatches, transient = found
    if dispatches is None or transient is None:
        msg = "found no statistics of the phase stream in what the compiler printed"
        raise RetargetError(msg)
    return ProgramStatistics(dispatches=int(dispatches[1]), transient=int(transient[1]))


Allocation = tuple[Hashable, int | None, bool]
"""What holds the memory, its bytes (None: arguments decide), and whether it is given back here rather than taken."""


def memory_line(name: str, allocations: Iterable[Allocation]) -> str:
    """Return what a function takes at most at once, if its code runs once from top to bottom; empty for nothing."""
    held: dict[Hashable, int] = {}
    peak, open_sizes = 0, 0
    for holder, size, is_free in allocations:
        if is_free:
            held.pop(holder, None)
        elif size is None:
            open_sizes += 1
        else:
            held[holder] = held.get(holder, 0) + size
            peak = max(peak, sum(held.values()))
    parts = [f"at most {peak} bytes at once, {sum(held.values())} of them held when it returns"] if peak else []
    if open_sizes:
        parts.append(f"{open_sizes} buffer{'s' if open_sizes > 1 else ''} of a size that arguments decide")
    return f"{name}: {', and '.join(parts)}" if parts else ""


_FUNCTION = re.compile(r"vm\.func @([^\s(]+)\(")
_ASSIGNED = re.compile(r" *%([ir]\d+)(?::\d+)? = (?:vm\.const\.i64(?:\.(zero)| (-?\d+)))?")
_CALL = re.compile(r"vm\.call @hal\.(device\.queue\.alloca|device\.queue\.dealloca|allocator\.allocate)\((.*)\)")
_PLACES = {"device.queue.alloca": 7, "allocator.allocate": 4, "device.queue.dealloca": 4}
"""Which argument is the size, or what is given back."""


def disassembled(lines: Iterable[str]) -> Iterator[tuple[str, list[Allocation]]]:
    """Return the functions of what `iree-dump-module --output=disassembly` prints, with their allocations."""
    constants: dict[str, int] = {}
    name, found = "", list[Allocation]()
    for line in lines:
        if function := _FUNCTION.match(line):
            yield name, found
            name, found, constants = function[1], [], {}
        assigned, call = _ASSIGNED.match(line), _CALL.search(line)
        if call:
            register = call[2].split(", ")[_PLACES[call[1]]].removeprefix("%").lower()
            is_free = call[1] == "device.queue.dealloca"
            holder = register if is_free or assigned is None else assigned[1]
            found.append((holder, None if is_free else constants.get(register), is_free))
        if assigned:
            constants.pop(assigned[1], None)
            if assigned[2] or assigned[3]:
                constants[assigned[1]] = int(assigned[3] or 0)
    yield name, found
