"""Rules for structured control flow on the host: each `scf` op becomes blocks and jumps."""

from __future__ import annotations

from collections.abc import Sequence

from retarget_opencl.hostprog.writer import FunctionWriter, HostRules
from retarget_opencl.translation import Ir

__all__ = ["STRUCTURED_RULES"]


def _body(writer: FunctionWriter, region: Ir, arguments: Sequence[int]) -> tuple[int, ...]:
    """Write a region of one block in place; return the registers of its terminator's operands."""
    block = region.blocks[0]
    for argument, register in zip(block.arguments, arguments, strict=True):
        writer.alias(argument, register)
    writer.region(region)
    return writer.values(list(block)[-1].operation.operands)


def _results(writer: FunctionWriter, op: Ir) -> tuple[int, ...]:
    return tuple(writer.define(result) for result in op.results)


def _if(writer: FunctionWriter, op: Ir) -> None:
    results = _results(writer, op)
    yes, no, after = writer.reserve_block(), writer.reserve_block(), writer.reserve_block()
    writer.emit("cond_br", writer.value(op.condition), yes, (), (), no, (), ())
    for number, region in zip((yes, no), op.regions, strict=True):
        writer.enter_block(number)
        values = _body(writer, region, ()) if len(region.blocks) else ()
        writer.emit("br", after, results, values)
    writer.enter_block(after)


def _for(writer: FunctionWriter, op: Ir) -> None:
    lower, upper, step = (writer.value(value) for value in list(op.operands)[:3])
    initial = writer.values(list(op.operands)[3:])
    results = _results(writer, op)
    counter, kind = writer.register(), str(op.operands[0].type)
    carried = tuple(writer.register() for _ in results)
    head, body, after = writer.reserve_block(), writer.reserve_block(), writer.reserve_block()
    writer.emit("br", head, (counter, *carried), (lower, *initial))
    writer.enter_block(head)
    more = writer.register()
    writer.emit("scalar", "cmpi_ult" if "unsignedCmp" in op.attributes else "cmpi_slt", kind, more, counter, upper)
    writer.emit("cond_br", more, body, (), (), after, results, carried)
    writer.enter_block(body)
    values = _body(writer, op.regions[0], (counter, *carried))
    following = writer.register()
    writer.emit("scalar", "addi", kind, following, counter, step)
    writer.emit("br", head, (counter, *carried), (following, *values))
    writer.enter_block(after)


def _while(writer: FunctionWriter, op: Ir) -> None:
    results = _results(writer, op)
    before = tuple(writer.register() for _ in op.regions[0].blocks[0].arguments)
    carried = tuple(writer.register() for _ in op.regions[1].blocks[0].arguments)
    head, body, after = writer.reserve_block(), writer.reserve_block(), writer.reserve_block()
    writer.emit("br", head, before, writer.values(op.operands))
    writer.enter_block(head)
    condition, *values = _body(writer, op.regions[0], before)
    writer.emit("cond_br", condition, body, carried, tuple(values), after, results, tuple(values))
    writer.enter_block(body)
    writer.emit("br", head, before, _body(writer, op.regions[1], carried))
    writer.enter_block(after)


def _index_switch(writer: FunctionWriter, op: Ir) -> None:
    results = _results(writer, op)
    cases = tuple(int(number) for number in op.attributes["cases"])
    numbers = [writer.reserve_block() for _ in op.regions]
    after = writer.reserve_block()
    jumps = tuple((number, (), ()) for number in numbers[1:])
    writer.emit("switch_br", writer.value(op.operands[0]), cases, jumps, (numbers[0], (), ()))
    for number, region in zip(numbers, op.regions, strict=True):
        writer.enter_block(number)
        writer.emit("br", after, results, _body(writer, region, ()))
    writer.enter_block(after)


STRUCTURED_RULES: HostRules = {"scf.if": _if, "scf.for": _for, "scf.while": _while, "scf.index_switch": _index_switch}
