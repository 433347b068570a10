"""Accesses to slices that IREE's SPIR-V takes by vectors though the slice begins within a vector.

IREE 3.13 accesses a binding by vectors if its rows divide into them (`SPIRVVectorizeLoadStore`), and divides the index
by their length. Where a slice begins at an offset that is no multiple of it, as what is written into a padded tensor
does, the remainder is lost: the access goes beside the slice. On Vulkan values are wrong for the same reason.

`slices` notes such offsets when kernels have their configuration, `misplaced` finds in the SPIR-V which of them are
accessed by vectors, and `take_elements` configures these kernels so that they access one element after the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from math import gcd

from retarget_opencl.translation import Ir, symbol_name

__all__ = ["PHASE", "Slices", "misplaced", "slices", "take_elements"]

PHASE = "executable-configurations"
"""The phase after which kernels have their configuration."""

Slices = Mapping[str, Mapping[int, int]]
"""By kernel and binding: a number of bits that divides all offsets at which its slices begin in a row."""

_SLICES = frozenset(
    {"iree_tensor_ext.dispatch.tensor.load", "iree_tensor_ext.dispatch.tensor.store", "tensor.extract_slice"}
)
_VECTOR = re.compile(r"vector<(\d+)x[a-z]+(\d+)>")
_ELEMENT = re.compile(r"x[a-z]+(\d+)")
_PIPELINE = re.compile(r"spirv_pipeline<\w+>")


def slices(module: Ir) -> Slices:
    """Return which kernels of a module after `PHASE` access slices that begin within a row."""
    found: dict[str, dict[int, int]] = {}
    for function in _all(module, "func.func"):
        bindings: dict[int, int] = {}
        for op in _within(function):
            if op.name in _SLICES and (bits := _offset(op)):
                number = _binding(_place(op))
                if number is not None:
                    bindings[number] = gcd(bits, bindings.get(number, 0))
        if bindings:
            found[symbol_name(function)] = bindings
    return found


def misplaced(module: Ir, noted: Slices) -> frozenset[str]:
    """Return the kernels of a module in the SPIR-V dialect that access by vectors a slice which begins within one."""
    found = set()
    for spirv in _all(module, "spirv.module"):
        body = [item.operation for item in spirv.regions[0].blocks[0]]
        names = {symbol_name(op) for op in body if op.name == "spirv.func"} & noted.keys()
        for op in body:
            vector = _VECTOR.search(str(op.attributes["type"])) if op.name == "spirv.GlobalVariable" else None
            if vector is None or "binding" not in op.attributes:
                continue
            number, bits = int(op.attributes["binding"]), int(vector[1]) * int(vector[2])
            found |= {name for name in names if noted[name].get(number, 0) % bits}
    return frozenset(found)


def take_elements(module: Ir, kernels: Collection[str]) -> None:
    """Let these kernels of a module after `PHASE` access one element after the other. Needs MLIR's context."""
    from iree.compiler import ir

    for function in _all(module, "func.func"):
        if symbol_name(function) in kernels:
            configured = _PIPELINE.sub("spirv_pipeline<BaseDistribute>", str(function.attributes["translation_info"]))
            function.attributes["translation_info"] = ir.Attribute.parse(configured)


def _all(module: Ir, name: str) -> Iterator[Ir]:
    """Yield the ops of one name in a module's executables."""
    for item in module.regions[0].blocks[0]:
        if item.operation.name == "hal.executable":
            yield from (op for op in _within(item.operation) if op.name == name)


def _within(op: Ir) -> Iterator[Ir]:
    for region in op.regions:
        for block in region.blocks:
            for item in block:
                yield item.operation
                yield from _within(item.operation)


def _place(op: Ir) -> Ir:
    """Return what a slice is part of."""
    return op.operands[1 if op.name.endswith(".store") else 0]


def _offset(op: Ir) -> int:
    """Return at which bit of a row a slice begins; of an offset that is not static, the size of one element."""
    offsets = list(op.attributes["static_offsets"])
    bits = _ELEMENT.findall(str(_place(op).type))
    if not offsets or not bits:
        return 0
    return int(bits[-1]) * (1 if offsets[-1] < 0 else int(offsets[-1]))


def _binding(value: Ir) -> int | None:
    """Return the number of the binding that a value is loaded from."""
    op = getattr(value.owner, "operation", None)
    while op is not None and op.name in _SLICES:
        op = getattr(op.operands[0].owner, "operation", None)
    return int(op.attributes["binding"]) if op is not None and op.name == "hal.interface.binding.subspan" else None
