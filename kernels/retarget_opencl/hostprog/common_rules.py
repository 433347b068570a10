"""Rules that many ops share: most ops are one instruction, or none."""

from __future__ import annotations

from retarget_opencl.hostprog.writer import FunctionWriter, HostRule
from retarget_opencl.translation import Ir

__all__ = ["constant_result", "forward", "instruction", "nothing"]

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
