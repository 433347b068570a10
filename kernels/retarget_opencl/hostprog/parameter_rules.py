"""Rules for parameters: values that a program takes from archives by scope and key."""

from __future__ import annotations

import re

from retarget_opencl.hostprog.writer import FunctionWriter, HostRule, HostRules
from retarget_opencl.translation import Ir

__all__ = ["PARAMETER_RULES"]


def _load(writer: FunctionWriter, op: Ir) -> None:
    *loaded, timepoint = op.results
    kinds = " ".join(re.sub(r".*<(\w+)>", r"\1", str(result.type)) for result in loaded)
    results = tuple(map(writer.define, loaded))
    words = _registers(writer, op, ("source_scope", "source_keys", "source_offsets", "result_sizes"))
    writer.emit("parameter_load", results, *words, kinds)
    writer.alias(timepoint, writer.null())


def _access(name: str, *operands: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        writer.emit(name, *_registers(writer, op, operands))
        writer.alias(op.result_timepoint, writer.null())

    return write


def _registers(writer: FunctionWriter, op: Ir, operands: tuple[str, ...]) -> list[int | tuple[int, ...]]:
    """Return registers of operands: one for a scope, if there is any, and for a resource, lists of them for others."""
    words: list[int | tuple[int, ...]] = []
    for name in operands:
        operand = getattr(op, name)
        if name.endswith("_scope"):
            words.append(writer.null() if operand is None else writer.value(operand))
        else:
            found = writer.operand(operand)
            words.append(found if isinstance(found, tuple) or name in {"source", "target"} else (found,))
    return words


_FROM = ("source_scope", "source_keys", "source_offsets", "target", "target_offsets", "target_lengths")
_TO = ("target_scope", "target_keys", "target_offsets", "source", "source_offsets", "source_lengths")

PARAMETER_RULES: HostRules = {
    "stream.cmd.parameter.load": _load,
    "stream.cmd.parameter.gather": _access("parameter_read", *_FROM),
    "stream.cmd.parameter.scatter": _access("parameter_write", *_TO),
    # One range each.
    "stream.cmd.parameter.read": _access("parameter_read", *(re.sub(r"s$", "", name) for name in _FROM)),
    "stream.cmd.parameter.write": _access("parameter_write", *(re.sub(r"s$", "", name) for name in _TO)),
}
