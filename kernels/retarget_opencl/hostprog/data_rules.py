"""Rules for buffer views, host buffers, lists, checks, and queries of devices."""

from __future__ import annotations

from retarget_iree.runtime.elements import element_type_code

from retarget_opencl.hostprog.common_rules import constant_result, instruction, nothing
from retarget_opencl.hostprog.constants import constant_bytes, number_of
from retarget_opencl.hostprog.writer import FunctionWriter, HostRule, HostRules
from retarget_opencl.translation import Ir

__all__ = ["DATA_RULES"]


def _element_type(writer: FunctionWriter, op: Ir) -> None:
    writer.alias(op.results[0], writer.number(element_type_code(str(op.attributes["type"].value))))


def _view_dim(writer: FunctionWriter, op: Ir) -> None:
    writer.emit("view_dim", writer.define(op.results[0]), writer.value(op.buffer_view), int(op.attributes["index"]))


def _view_assert(writer: FunctionWriter, op: Ir) -> None:
    label = op.attributes["message"].value
    element = writer.value(op.element_type)
    writer.emit("view_assert", writer.value(op.buffer_view), element, writer.values(op.shape), label)


def _device_query(writer: FunctionWriter, op: Ir) -> None:
    """No device answers queries: the default value is taken."""
    default = number_of(op.attributes["default_value"], "index") if "default_value" in op.attributes else 0
    for result, value in zip(op.results, (0, default or 0), strict=True):
        writer.alias(result, writer.number(int(value)))


def _buffer_constant(writer: FunctionWriter, op: Ir) -> None:
    writer.alias(op.results[0], writer.blob(constant_bytes(str(op.attributes["value"]), writer.symbols.resources)))


def _check(kind: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        operands = tuple(writer.value(operand) for operand in op.operands if "!hal.device" not in str(operand.type))
        tolerances = [float(op.attributes[name].value) for name in ("atol", "rtol") if name in op.attributes]
        writer.emit("check", kind, operands, *(tolerances or (0.0, 0.0)))

    return write


DATA_RULES: HostRules = {
    "hal.element_type": _element_type,
    "hal.encoding_type": constant_result(1),  # IREE's dense row-major
    "hal.buffer_view.dim": _view_dim,
    "hal.buffer_view.rank": instruction("view_rank", "buffer_view"),
    "hal.buffer_view.element_type": instruction("view_element_type", "buffer_view"),
    "hal.buffer_view.encoding_type": constant_result(1),
    "hal.buffer_view.buffer": instruction("view_buffer", "buffer_view"),
    "hal.buffer_view.assert": _view_assert,
    "hal.buffer_view.create": instruction(
        "view_create", "source_buffer", "source_offset", "source_length", "element_type", "shape"
    ),
    "hal.buffer_view.trace": nothing,
    "hal.buffer.assert": nothing,
    "hal.buffer.length": instruction("resource_size", "buffer"),
    "hal.device.resolve": nothing,
    "hal.device.allocator": nothing,
    "hal.device.query": _device_query,
    "hal.devices.count": constant_result(1),
    "hal.devices.get": nothing,
    "hal.fence.create": nothing,
    "hal.fence.join": nothing,
    "hal.fence.signal": nothing,
    "hal.fence.await": constant_result(0),
    "hal.fence.query": constant_result(0),
    "util.null": nothing,
    "util.buffer.constant": _buffer_constant,
    "util.buffer.alloc": instruction("buffer_alloc", "storage_size"),
    "util.buffer.dealloc": nothing,
    "util.buffer.size": instruction("buffer_size", "operand"),
    "util.buffer.slice": instruction("buffer_slice", "source", "source_offset", "result_size"),
    "util.buffer.subspan": instruction("buffer_subspan", "source", "source_offset", "result_size"),
    "util.buffer.load": instruction("buffer_load", "source", "source_offset", typed="result"),
    "util.buffer.store": instruction("buffer_store", "source", "target", "target_offset", typed="source"),
    "util.buffer.copy": instruction("buffer_copy", "source", "source_offset", "target", "target_offset", "length"),
    "util.buffer.fill": instruction("buffer_fill", "pattern", "target", "target_offset", "length", typed="pattern"),
    "util.buffer.compare": instruction("buffer_compare", "lhs", "lhs_offset", "rhs", "rhs_offset", "length"),
    "util.list.create": instruction("list_create"),
    "util.list.construct": instruction("list_construct", "values"),
    "util.list.size": instruction("list_size", "list"),
    "util.list.resize": instruction("list_resize", "list", "new_size"),
    "util.list.get": instruction("list_get", "list", "index"),
    "util.list.set": instruction("list_set", "list", "index", "value"),
    "check.expect_eq": _check("eq"),
    "check.expect_almost_eq": _check("almost_eq"),
    "check.expect_true": _check("true"),
    "check.expect_false": _check("false"),
    "check.expect_all_true": _check("all_true"),
}
