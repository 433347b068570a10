"""An artifact for a person: profile, exports, host program, kernels."""

from __future__ import annotations

from collections.abc import Iterator

from .artifact import OpenClArtifact, read_artifact
from .program.model import Function, Program, Scalar

__all__ = ["show_artifact"]


def show_artifact(data: bytes) -> str:
    """Return an artifact's text. Raises `ArtifactError` for one that cannot be read."""
    return "\n".join(_lines(read_artifact(data))) + "\n"


def _lines(artifact: OpenClArtifact) -> Iterator[str]:
    profile, program = artifact.profile, artifact.program
    yield f"OpenCL artifact {artifact.digest[:16]}"
    yield f"  profile     {profile.name}: arch {profile.arch}, half {profile.half}, subgroups {profile.subgroups}"
    yield f"  needs       {', '.join(sorted(artifact.features)) or 'nothing beyond OpenCL 1.2'}"
    yield f"  constants   {len(artifact.blobs)}, {sum(len(blob) for blob in artifact.blobs)} bytes"
    yield f"  globals     {', '.join(name for name, _ in program.globals) or 'none'}"
    yield "  functions"
    for export in program.exports:
        yield f"    {export.declaration or export.name}"
    yield "  kernels"
    for kernel in program.kernels:
        size = "x".join(str(items) for items in kernel.workgroup_size)
        yield f"    {kernel.name}: {size} work-items, {len(kernel.bindings)} buffers, {len(kernel.constants)} constants"
    for function in program.functions:
        yield ""
        yield from _function(function, program)
    yield ""
    yield artifact.source.rstrip()


def _function(function: Function, program: Program) -> Iterator[str]:
    names = {item.register: _constant(item.kind, item.value) for item in function.constants}

    def word(value: Scalar) -> str:
        if isinstance(value, tuple):
            return f"({', '.join(word(item) for item in value)})"
        if isinstance(value, int):
            return names.get(value, f"r{value}")
        return repr(value)

    yield f"function {function.name}({', '.join(f'r{register}' for register in function.parameters)})"
    for number, block in enumerate(function.blocks):
        yield f"  block {number}"
        for name, *words in block:
            if name == "dispatch":
                kernel, *rest = words
                label = program.kernels[kernel].name if isinstance(kernel, int) else repr(kernel)
                yield f"    dispatch {label} {' '.join(word(item) for item in rest)}"
            else:
                yield f"    {name} {' '.join(word(item) for item in words)}".rstrip()


def _constant(kind: str, value: Scalar) -> str:
    if kind == "null":
        return "-"
    return f"blob[{value}]" if kind == "blob" else f"{value}" if kind in {"number", "float"} else repr(value)
