"""An artifact as people see it: its functions with their types, the memory that it takes, and all of it as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retarget.extension import FunctionInfo
from retarget_iree.modules.measure import Allocation, memory_line
from retarget_iree.runtime.exports import declared_types

from retarget_opencl.artifact.file import ArtifactError, Export, Function, OpenClArtifact, joined, read_artifact


def show_artifact(data: bytes) -> str:
    """Return an artifact's text. Raises `ArtifactError` for one that cannot be read."""
    artifact = read_artifact(data)
    try:
        return "\n".join(_lines(artifact)) + "\n"
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        msg = f"the OpenCL artifact's program is malformed ({type(error).__name__}: {error}); compile it again"
        raise ArtifactError(msg) from error


def _lines(artifact: OpenClArtifact) -> Iterator[str]:
    profile, program = artifact.profile, artifact.program
    yield f"OpenCL artifact {artifact.digest[:16]}"
    yield f"  compiled for arch {profile.arch}, half {profile.half}, subgroups {profile.subgroups}"
    yield f"  needs       {', '.join(artifact.needs) or 'nothing beyond OpenCL 1.2'}"
    yield f"  globals     {', '.join(name for name, _ in program.globals) or 'none'}"
    yield "  functions"
    for export in program.exports:
        yield f"    {export.declaration or export.name}"
    yield "  kernels"
    for number, kernel in enumerate(program.kernels):
        size = "x".join(str(items) for items in kernel.workgroup_size)
        takes = f"{len(kernel.bindings)} buffers, {len(kernel.constants)} constants"
        if kernel.members:
            takes = "does the work of " + ", ".join(program.kernels[member].name for member in kernel.members)
        yield f"    {number} {kernel.name}: {size} work-items, {takes}"
        if kernel.location:
            yield f"      from {kernel.location}"
    yield "  memory of the device"
    for line in memory_lines(artifact):
        yield f"    {line}"
    for function in program.functions:
        yield ""
        yield from _function(function)
    yield ""
    yield joined(artifact.sources).rstrip()


def _function(function: Function) -> Iterator[str]:
    """Yield the constants in registers, then the instructions: their words are registers, but for numbers of blocks,
    kernels, functions, globals and constants."""
    yield f"function {function.name}({', '.join(map(str, function.parameters))})"
    for constant in function.constants:
        yield f"  {constant.register} = {constant.kind} {constant.value!r}"
    for number, block in enumerate(function.blocks):
        yield f"  block {number}"
        for words in block:
            yield f"    {' '.join(map(str, words))}"


def memory_lines(artifact: OpenClArtifact) -> Iterator[str]:
    """Return lines for people."""
    yield f"constants: {len(artifact.blobs)}, {sum(map(len, artifact.blobs))} bytes"
    for function in artifact.program.functions:
        values: dict[Any, Any] = {constant.register: constant.value for constant in function.constants}
        for name, *words in _reached(function):
            if name == "parameter_load":
                scope = values.get(words[1])
                text = "" if scope is None else bytes(artifact.blobs[scope]).decode()
                sizes: list[Any] = [values.get(register) for register in words[4]]
                total = "of sizes that arguments decide" if None in sizes else f"{sum(sizes)} bytes"
                yield f"parameters of the scope {text!r}: {len(sizes)}, {total}"
    for function in artifact.program.functions:
        line = memory_line(function.name, _allocations(function))
        if line:
            yield line


def _reached(function: Function) -> Iterator[tuple[Any, ...]]:
    """Return the instructions of the blocks that are jumped to."""
    targets = {0}
    jumps: list[Any] = [block[-1] for block in function.blocks]
    for name, *words in jumps:
        targets |= {words[place] for place in {"br": (0,), "cond_br": (1, 4)}.get(name, ())}
        if name == "switch_br":
            targets |= {jump[0] for jump in (*words[2], words[3])}
    return (instruction for number in sorted(targets) for instruction in function.blocks[number])


def _allocations(function: Function) -> Iterator[Allocation]:
    sizes = {constant.register: constant.value for constant in function.constants if constant.kind == "number"}
    for name, *words in _reached(function):
        if name == "allocate":
            known = sizes.get(words[1])
            yield words[0], known if isinstance(known, int) else None, False
        elif name == "free":
            yield words[0], None, True


def function_info(export: Export) -> FunctionInfo:
    """Return a function as users see it, with the types it was declared with where the artifact has them."""
    arguments, results = declared_types(export.declaration)
    return FunctionInfo(
        name=export.name,
        arguments=len(export.arguments),
        argument_types=arguments if len(arguments) == len(export.arguments) else (),
        result_types=results if len(results) == len(export.results) else (),
    )
