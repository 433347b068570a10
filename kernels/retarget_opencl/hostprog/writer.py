"""Turns the host side of a compiled module into a `Program`.

`FunctionWriter` numbers registers and blocks, and writes each op by the rule table (`retarget_opencl.hostprog.rules`).

Most ops are one instruction, or none: `instruction`, `nothing`, `forward` and `constant_result` are rules of such ops.

`#util.composite` is taken apart here rather than by MLIR's own parser: parsing a part of it again through the Python
bindings of IREE 3.13 can end the process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from retarget.arrays import Elements
from retarget.model import DeclaredType, split_types

from retarget_opencl.artifact.file import Constant, Function, Instruction, Scalar
from retarget_opencl.translation import Buffer, Ir, TranslationError, describe, element_dtype

HostRule = Callable[["FunctionWriter", Ir], None]
"""Writes an op, whose operands it can take by name."""
HostRules = Mapping[str, HostRule]
"""Op name → rule."""


class Symbols(Struct):
    """The objects that the module's names refer to. `blobs` collects constants; `functions` and `globals` are numbered
    first.

    `resources` gives the module's resources by name. `together` gives the kernel that does the work of several in one
    launch, None where there is none.
    """

    functions: dict[str, int]
    globals: dict[str, int]
    kernels: dict[str, int]
    blobs: list[Buffer] = field(default_factory=list)
    resources: Callable[[], Mapping[str, Buffer]] = dict
    together: Callable[[Sequence[int]], int | None] = lambda kernels: None  # noqa: ARG005


class FunctionWriter(Struct):
    """Writes one function."""

    name: str
    symbols: Symbols
    rules: HostRules
    _registers: int = 0
    _values: dict[Ir, int] = field(default_factory=dict)
    _constants: dict[tuple[str, Scalar], int] = field(default_factory=dict)
    _blocks: list[list[Instruction]] = field(default_factory=list)
    _block: list[Instruction] = field(default_factory=list)
    _targets: dict[Ir, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    # ------------------------------------------------------------ what rules use

    def register(self) -> int:
        """Return a new register."""
        self._registers += 1
        return self._registers - 1

    def value(self, ir_value: Ir) -> int:
        """Return the register of an SSA value."""
        return self._values[ir_value]

    def values(self, ir_values: Sequence[Ir]) -> tuple[int, ...]:
        """Return the registers of SSA values."""
        return tuple(map(self.value, ir_values))

    def operand(self, operand: Ir) -> int | tuple[int, ...]:
        """Return the register of an operand, or the registers of an operand of variable number."""
        return self.value(operand) if hasattr(operand, "type") else self.values(operand)

    def define(self, ir_value: Ir) -> int:
        """Return a new register for an SSA value."""
        register = self._values[ir_value] = self.register()
        return register

    def alias(self, ir_value: Ir, register: int) -> None:
        """Let an SSA value be what is in a register already."""
        self._values[ir_value] = register

    def number(self, value: int) -> int:
        """Return a register that holds an integer."""
        return self._constant("number", value)

    def float(self, value: float) -> int:
        """Return a register that holds a float."""
        return self._constant("float", value.hex() if math.isfinite(value) else repr(value))

    def null(self) -> int:
        """Return a register that holds nothing: a timepoint, a device, a fence."""
        return self._constant("null", None)

    def blob(self, data: Buffer) -> int:
        """Return a register that holds constant bytes."""
        self.symbols.blobs.append(data)
        return self._constant("blob", len(self.symbols.blobs) - 1)

    def blob_of(self, register: int) -> int | None:
        """Return the index of the constant bytes that a register holds; None for a register of something else."""
        found = (value for (kind, value), one in self._constants.items() if kind == "blob" and one == register)
        index = next(found, None)
        return index if isinstance(index, int) else None

    def emit(self, name: str, *words: Scalar) -> None:
        """Write an instruction."""
        self._block.append((name, *words))

    def reserve_block(self) -> int:
        """Number a block that `enter_block` will fill."""
        self._blocks.append([])
        return len(self._blocks) - 1

    def enter_block(self, number: int) -> None:
        """Write into a reserved block from here on."""
        self._block = self._blocks[number]

    def jump(self, block: Ir, operands: Sequence[Ir]) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """Return a jump to an MLIR block: its number, its parameters' registers, the registers copied to them."""
        number, parameters = self._targets[block]
        return number, parameters, self.values(operands)

    def region(self, region: Ir) -> None:
        """Write the ops of a region of one block in place, without its terminator."""
        for item in region.blocks[0]:
            if item.operation.name != "stream.yield":
                self.op(item)

    def op(self, item: Ir) -> None:
        """Write one op. Raises `TranslationError` if there is no rule for it."""
        op = item.operation
        rule = self.rules.get(op.name)
        if rule is None:
            msg = f"no host program rule for {describe(op)}"
            raise TranslationError(msg)
        try:
            rule(self, item)
        except (ValueError, KeyError, IndexError) as error:
            msg = f"{error}; in {op.name} at {op.location}"
            raise TranslationError(msg) from error

    # ------------------------------------------------------------ a function

    def write(self, region: Ir) -> Function:
        """Write a function's body."""
        blocks = list(region.blocks)
        parameters = tuple(self.define(argument) for argument in blocks[0].arguments)
        self._targets[blocks[0]] = (self.reserve_block(), parameters)
        for block in blocks[1:]:
            registers = tuple(self.define(argument) for argument in block.arguments)
            self._targets[block] = (self.reserve_block(), registers)
        for block in blocks:
            self.enter_block(self._targets[block][0])
            for item in block:
                self.op(item)
        return self._finish(parameters)

    def _finish(self, parameters: tuple[int, ...]) -> Function:
        constants = ((register, kind, value) for (kind, value), register in self._constants.items())
        return Function(
            name=self.name,
            registers=self._registers,
            parameters=parameters,
            constants=tuple(Constant(register=register, kind=kind, value=value) for register, kind, value in constants),
            blocks=tuple(tuple(block) for block in self._blocks),
        )

    def _constant(self, kind: str, value: Scalar) -> int:
        key = (kind, value)
        if key not in self._constants:
            self._constants[key] = self.register()
        return self._constants[key]


_TIMEPOINT = "!stream.timepoint"


def instruction(name: str, *operands: str, typed: str = "") -> HostRule:
    """An op that is one instruction: its results, then its operands by name, those of variable number as a tuple.

    `typed` names the operand or result whose type comes last. Results that are timepoints are empty.
    """

    def write(writer: FunctionWriter, op: Ir) -> None:
        words = [writer.operand(getattr(op, operand)) for operand in operands]
        kinds = [str(getattr(op, typed).type)] if typed else []
        timepoints = [result for result in op.results if str(result.type) == _TIMEPOINT]
        results = [writer.define(result) for result in op.results if result not in timepoints]
        writer.emit(name, *results, *words, *kinds)
        for timepoint in timepoints:
            writer.alias(timepoint, writer.null())

    return write


def nothing(writer: FunctionWriter, op: Ir) -> None:
    """An op that means nothing on an in-order queue; its results, if any, are empty."""
    for result in op.results:
        writer.alias(result, writer.null())


def constant_result(number: int) -> HostRule:
    """An op whose first result is always `number`; others are empty."""

    def write(writer: FunctionWriter, op: Ir) -> None:
        writer.alias(op.results[0], writer.number(number))
        for result in list(op.results)[1:]:
            writer.alias(result, writer.null())

    return write


def forward(writer: FunctionWriter, op: Ir) -> None:
    """An op whose results are its operands of the same number; timepoints are empty."""
    for result, operand in zip(op.results, op.operands, strict=False):
        writer.alias(result, writer.null() if str(result.type) == _TIMEPOINT else writer.value(operand))


def number_of(attribute: Ir, kind: str) -> float | None:
    """Return the number of an attribute of that type; integers, `index` and Booleans as `int`. None for other types."""
    text = str(attribute).partition(" : ")[0]
    if text in {"true", "false"}:
        return int(text == "true")
    if re.fullmatch(r"index|i\d+", kind):
        return int(text)
    return float(attribute.value) if re.fullmatch(r"f\d+|bf16", kind) else None


_TOKEN = re.compile(r"true|false|0[xX][0-9A-Fa-f]+|[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|[-+]?(?:inf|nan)")


def _shaped(text: str) -> tuple[int, str, np.dtype[np.generic] | None]:
    """Return the number of elements of a type with static shape, its element type and what NumPy has for it."""
    declared = DeclaredType.parse(text)
    if declared.shape is None or None in declared.shape or declared.element is None:
        msg = f"expected a tensor or vector type with static shape, found {text.strip()[:80]!r}"
        raise ValueError(msg)
    return prod(size or 0 for size in declared.shape), declared.element, element_dtype(declared.element)


def _number(token: str, dtype: np.dtype[np.generic]) -> object:
    if token in {"true", "false"}:
        return token == "true"  # noqa: S105 - a word of the grammar
    elements = Elements.of(dtype)
    if elements.kind in "iu":
        value, bits = int(token, 0), elements.bits
        return value - (1 << bits) if value >= 1 << (bits - 1) and elements.kind == "i" else value
    if token[:2] in {"0x", "0X"}:
        # A float whose bits are given: NaN, infinities, and values without a short decimal.
        return np.frombuffer(int(token, 16).to_bytes(dtype.itemsize, "little"), dtype=dtype)[0]
    return float(token)


def _dense_bytes(text: str) -> bytes:
    """Return the bytes in memory of `dense<…> : type`. Raises `ValueError`."""
    end = text.rindex("> :")
    body, (count, element, dtype) = text[len("dense<") : end].strip(), _shaped(text[end + 3 :])
    if dtype is None:
        msg = f"no bytes for constants of element type {element}"
        raise ValueError(msg)
    if body.startswith('"'):
        values = _raw(bytes.fromhex(body.strip('"')[2:]), count, dtype, element)
    else:
        values = _listed(body, count, dtype)
    return Elements.pack(values).tobytes()


def _raw(raw: bytes, count: int, dtype: np.dtype[np.generic], element: str) -> npt.NDArray[np.generic]:
    """Read the hexadecimal form. Booleans may be a bit or a byte each; a splat is there once."""
    if element == "i1" and len(raw) == -(-count // 8) and len(raw) != count:
        return np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[:count].astype(np.bool_)
    values = np.frombuffer(raw, dtype)
    return np.repeat(values, count) if len(values) == 1 and count != 1 else values


def _listed(body: str, count: int, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    tokens = _TOKEN.findall(body)
    if Elements.of(dtype).kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        parts = np.array([_number(token, part) for token in tokens], part)
        if len(parts) == 2 and count != 1:
            parts = np.tile(parts, count)
        return parts.view(dtype)
    values = np.array([_number(token, dtype) for token in tokens], dtype) if tokens else np.zeros(0, dtype)
    if len(values) == 1 and count != 1:
        return np.repeat(values, count)
    if len(values) != count:
        msg = f"expected {count} elements, found {len(values)} in the constant {body[:80]!r}"
        raise ValueError(msg)
    return values


def _resource_bytes(text: str, resources: Callable[[], Mapping[str, Buffer]]) -> Buffer:
    match = re.match(r'dense_resource<"?([^">]+)"?> : (.*)$', text, re.DOTALL)
    # MLIR adds a number to the name of a resource that it reads as part of another dialect's attribute.
    held = resources() if match is not None else {}
    names = {match[1], re.sub(r"_[0-9]+$", "", match[1])} & held.keys() if match is not None else set()
    blob = held[names.pop()] if len(names) == 1 else None
    if match is None or blob is None:
        msg = f"the constant {text[:80]!r} refers to a resource that the module does not hold"
        raise ValueError(msg)
    count, element, dtype = _shaped(match[2])
    if dtype is None or Elements.of(dtype).is_packed or len(blob) != count * dtype.itemsize:
        msg = f"a resource of {len(blob)} bytes for {count} elements of type {element}"
        raise ValueError(msg)
    return blob


def constant_bytes(text: str, resources: Callable[[], Mapping[str, Buffer]] = dict) -> Buffer:
    """Return the bytes of a constant attribute: `dense<…>`, `dense_resource<…>`, `#util.composite<…>`, a text, …

    `resources` returns the module's resources by name; it is called where a constant needs one, because reading them
    takes time. Raises `ValueError`.
    """
    text = text.strip()
    if text.startswith("dense_resource<"):
        return _resource_bytes(text, resources)
    if text.startswith("#util.composite<"):
        inner = text[text.index("[") + 1 : text.rindex("]")]
        return b"".join(constant_bytes(part, resources) for part in split_types(inner))
    if text.startswith("dense<"):
        return _dense_bytes(text)
    if text.startswith('"'):
        return _unescape(text[1 : text.rindex('"')])
    match = re.match(r"#util\.uninitialized\s*:\s*(.*)$", text, re.DOTALL)
    if match is not None:
        count, _, dtype = _shaped(match[1])
        if dtype is not None:
            return bytes(Elements.of(dtype).size((count,)))
    match = re.match(r"(-?\d+|true|false) : (i\d+|index)$", text)
    if match is not None:
        dtype = element_dtype(match[2])
        if dtype is not None:
            value = _number(match[1], dtype)
            return bytes(np.array([value]).astype(dtype).tobytes())
    msg = f"no rule for the constant {text[:80]!r}"
    raise ValueError(msg)


def _unescape(text: str) -> bytes:
    r"""Undo MLIR's escapes: `\\`, `\"`, and `\` with two hexadecimal digits."""
    out = re.sub(r'\\(["\\nt]|[0-9A-Fa-f]{2})', _escape, text)
    return out.encode("latin-1", "surrogateescape") if out.isascii() else out.encode("latin-1")


def _escape(match: re.Match[str]) -> str:
    code = match[1]
    known = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
    return known[code] if code in known else chr(int(code, 16))
