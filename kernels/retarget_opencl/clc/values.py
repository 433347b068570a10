"""What the kernel writer and its rules exchange: values, ops, bindings, finished kernels."""

from __future__ import annotations

from dataclasses import dataclass

from retarget_opencl.clc.types import Pointer, SpirvType, TypeSyntaxError
from retarget_opencl.translation import Ir

__all__ = ["Binding", "KernelText", "Op", "Place", "Value"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a location lies in `memory`: a binding (of the storage class `StorageBuffer`) or a variable.

    `steps` are indices with the bytes that each step takes; None if they are not known.
    """

    memory: str
    storage: str
    steps: tuple[tuple[Value, int], ...] | None = ()


@dataclass(slots=True, eq=False)
class Value:
    """An SSA value, or a location in memory when `kind` is a pointer.

    `text` is a C expression that needs no parentheses: a name, a literal, a call, an indexing. For a location it is an
    lvalue (or, for the array that a binding is, the pointer to its first element). `parts` are the texts of the
    elements where they are known (built-in ids). `number` is the constant's value, `built_in` the SPIR-V built-in that
    it is or, with `axis`, an element of; `place` is where a location lies. `parents` are the values that `text`
    mentions when it is repeated rather than named.
    """

    text: str
    kind: SpirvType
    parts: tuple[str, ...] = ()
    number: int | None = None
    parents: tuple[Value, ...] = ()
    built_in: str = ""
    axis: int | None = None
    place: Place | None = None

    @property
    def pointer(self) -> Pointer:
        """The type of a location in memory. Raises `TypeSyntaxError` for another value."""
        if isinstance(self.kind, Pointer):
            return self.kind
        msg = f"expected a pointer, found {self.kind}"
        raise TypeSyntaxError(msg)


@dataclass(slots=True)
class Op:
    """One op with its operands already looked up."""

    name: str
    ir: Ir
    operands: list[Value]
    result: SpirvType | None

    @property
    def kind(self) -> SpirvType:
        """The type of the result. Raises `TypeSyntaxError` for an op without."""
        if self.result is not None:
            return self.result
        msg = "expected a result"
        raise TypeSyntaxError(msg)

    def attribute(self, name: str) -> Ir:
        """Return an attribute; None if the op does not have it."""
        attributes = self.ir.attributes
        return attributes[name] if name in attributes else None  # noqa: SIM401  (an MLIR dictionary has no get)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A buffer argument: its ordinal in the pipeline layout, and whether the kernel only reads it."""

    ordinal: int
    read_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelText:
    """A kernel in OpenCL C. `parameters` and `lines` are text; the rest is what a caller has to know.

    `bindings` and `constants` (ordinals of push constants) are in the order of the parameters: for each binding its
    buffer and its offset in bytes (`ulong`), then each constant as `uint`. `local_memory` is in bytes. `functions` are
    those that it calls.
    """

    name: str
    parameters: tuple[str, ...]
    lines: tuple[str, ...]
    bindings: tuple[Binding, ...]
    constants: tuple[int, ...]
    workgroup_size: tuple[int, int, int]
    local_memory: int = 0
    comment: str = ""
    functions: tuple[str, ...] = ()
