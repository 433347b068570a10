"""Rules for buffer views, host buffers, lists, checks, and what is asked of devices."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from retarget_iree.runtime.elements import element_type_code

from retarget_opencl.hostprog.constants import constant_bytes
from retarget_opencl.hostprog.writer import FunctionWriter, HostRules

__all__ = ["DATA_RULES", "HostRule", "nothing"]

Ir = Any
HostRule = Callable[[FunctionWriter, Ir, Ir], None]


def nothing(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """An op that means nothing on an in-order queue; its results, if any, are empty."""
    del view
    for result in op.results:
        writer.alias(result, writer.null())


# ---------------------------------------------------------------- buffer views, devices, types


def _element_type(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    writer.alias(op.results[0], writer.number(element_type_code(str(op.attributes["type"].value))))


def _encoding_type(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """1 is IREE's dense row-major."""
    del view
    writer.alias(op.results[0], writer.number(1))


def _view_rule(name: str) -> HostRule:
    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        writer.emit(name, writer.define(op.results[0]), writer.value(view.buffer_view))

    return write


def _view_dim(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.emit("view_dim", writer.define(op.results[0]), writer.value(view.buffer_view), int(op.attributes["index"]))


def _view_assert(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    label = str(op.attributes["message"]).strip('"')
    element = writer.value(view.element_type)
    writer.emit("view_assert", writer.value(view.buffer_view), element, writer.values(view.shape), label)


def _view_create(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    operands = (view.source_buffer, view.source_offset, view.source_length, view.element_type)
    registers = [writer.value(value) for value in operands]
    writer.emit("view_create", writer.define(op.results[0]), *registers, writer.values(view.shape))


def _device_query(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """Devices answer no queries: the default value is taken."""
    del view
    writer.alias(op.results[0], writer.number(0))
    default = 0
    if "default_value" in op.attributes:
        found = re.match(r"-?\d+", str(op.attributes["default_value"]))
        default = int(found[0]) if found else int(str(op.attributes["default_value"]) == "true")
    writer.alias(op.results[1], writer.number(default))


def _constant_result(number: int) -> HostRule:
    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        del view
        writer.alias(op.results[0], writer.number(number))

    return write


# ---------------------------------------------------------------- host buffers, lists, texts


def _buffer_constant(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    writer.alias(op.results[0], writer.blob(constant_bytes(str(op.attributes["value"]), writer.symbols.resources)))


def _buffer_rule(name: str, *operands: str, typed: str = "") -> HostRule:
    """A host buffer's op: its operands by name; `typed` names the operand or result whose type matters."""

    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        registers = [writer.value(getattr(view, operand)) for operand in operands]
        kinds = []
        if typed == "result":
            kinds = [str(op.results[0].type)]
        elif typed:
            kinds = [str(getattr(view, typed).type)]
        results = [writer.define(result) for result in op.results]
        writer.emit(name, *results, *registers, *kinds)

    return write


def _list_construct(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    operands = writer.values(op.operands)
    writer.emit("list_construct", writer.define(op.results[0]), operands)


# ---------------------------------------------------------------- checks


def _check(kind: str) -> HostRule:
    def write(writer: FunctionWriter, view: Ir, op: Ir) -> None:
        del view
        operands = tuple(writer.value(operand) for operand in op.operands if "!hal.device" not in str(operand.type))
        tolerances = [float(op.attributes[name].value) for name in ("atol", "rtol") if name in op.attributes]
        writer.emit("check", kind, operands, *(tolerances or (0.0, 0.0)))

    return write


DATA_RULES: HostRules = {
    "hal.element_type": _element_type,
    "hal.encoding_type": _encoding_type,
    "hal.buffer_view.dim": _view_dim,
    "hal.buffer_view.rank": _view_rule("view_rank"),
    "hal.buffer_view.element_type": _view_rule("view_element_type"),
    "hal.buffer_view.encoding_type": _constant_result(1),
    "hal.buffer_view.buffer": _view_rule("view_buffer"),
    "hal.buffer_view.assert": _view_assert,
    "hal.buffer_view.create": _view_create,
    "hal.buffer_view.trace": nothing,
    "hal.buffer.assert": nothing,
    "hal.buffer.length": _buffer_rule("resource_size", "buffer"),
    "hal.device.resolve": nothing,
    "hal.device.allocator": nothing,
    "hal.device.query": _device_query,
    "hal.devices.count": _constant_result(1),
    "hal.devices.get": nothing,
    "hal.fence.create": nothing,
    "hal.fence.join": nothing,
    "hal.fence.signal": nothing,
    "hal.fence.await": _constant_result(0),
    "hal.fence.query": _constant_result(0),
    "util.null": nothing,
    "util.buffer.constant": _buffer_constant,
    "util.buffer.alloc": _buffer_rule("buffer_alloc", "storage_size"),
    "util.buffer.dealloc": nothing,
    "util.buffer.size": _buffer_rule("buffer_size", "operand"),
    "util.buffer.slice": _buffer_rule("buffer_slice", "source", "source_offset", "result_size"),
    "util.buffer.subspan": _buffer_rule("buffer_subspan", "source", "source_offset", "result_size"),
    "util.buffer.load": _buffer_rule("buffer_load", "source", "source_offset", typed="result"),
    "util.buffer.store": _buffer_rule("buffer_store", "source", "target", "target_offset", typed="source"),
    "util.buffer.copy": _buffer_rule("buffer_copy", "source", "source_offset", "target", "target_offset", "length"),
    "util.buffer.fill": _buffer_rule("buffer_fill", "pattern", "target", "target_offset", "length", typed="pattern"),
    "util.buffer.compare": _buffer_rule("buffer_compare", "lhs", "lhs_offset", "rhs", "rhs_offset", "length"),
    "util.list.create": _buffer_rule("list_create"),
    "util.list.construct": _list_construct,
    "util.list.size": _buffer_rule("list_size", "list"),
    "util.list.resize": _buffer_rule("list_resize", "list", "new_size"),
    "util.list.get": _buffer_rule("list_get", "list", "index"),
    "util.list.set": _buffer_rule("list_set", "list", "index", "value"),
    "check.expect_eq": _check("eq"),
    "check.expect_almost_eq": _check("almost_eq"),
    "check.expect_true": _check("true"),
    "check.expect_false": _check("false"),
    "check.expect_all_true": _check("all_true"),
}
