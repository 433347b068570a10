"""Rules for the ops of the host program: `stream`, `util`, `hal`, `cf` and `check`.

Timepoints, fences, devices and affinities vanish: all commands go to one in-order queue, and reading back waits.
Ops on scalars and structured control flow are in `scalar_rules` and `structured_rules`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .constants import constant_bytes
from .element_types import element_type_code
from .scalar_rules import SCALAR_RULES
from .structured_rules import STRUCTURED_RULES
from .writer import FunctionWriter, HostRules

__all__ = ["HOST_RULES"]

Ir = Any
HostRule = Callable[[FunctionWriter, Ir, Ir], None]


def _symbol(attribute: Ir) -> str:
    return str(attribute).split("::", maxsplit=1)[0].lstrip("@").strip('"')


def _text(attribute: Ir) -> str:
    return str(attribute.value)


def _nothing(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """An op that means nothing on an in-order queue; its results, if any, are empty."""
    del view
    for result in op.results:
        writer.alias(result, writer.null())


def _forward(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """Each result is the operand of the same number."""
    del view
    for result, operand in zip(op.results, op.operands, strict=False):
        writer.alias(result, writer.value(operand))


# ---------------------------------------------------------------- functions and globals


def _return(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    writer.emit("return", writer.values(op.operands))


def _call(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    name = _symbol(view.callee)
    if name not in writer.symbols.functions:
        msg = f"a call of {name!r}, which is an import from another module"
        raise ValueError(msg)
    operands = writer.values(op.operands)
    writer.emit("call", writer.symbols.functions[name], tuple(writer.define(result) for result in op.results), operands)


def _branch(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    writer.emit("br", *writer.jump(op.successors[0], op.operands))


def _conditional_branch(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    yes = writer.jump(op.successors[0], view.trueDestOperands)
    no = writer.jump(op.successors[1], view.falseDestOperands)
    writer.emit("cond_br", writer.value(view.condition), *yes, *no)


def _switch(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    default = writer.jump(op.successors[0], view.defaultOperands)
    values: list[str] = []
    if "case_values" in op.attributes:
        # `dense<[2, 7]> : vector<2xi32>`, or `dense<2>` for a single case.
        values = re.findall(r"-?\d+", str(op.attributes["case_values"]).partition("> :")[0])
    rest = list(op.operands)[1 + len(view.defaultOperands) :]
    segments = [int(size) for size in op.attributes["case_operand_segments"]]
    jumps = []
    for successor, size in zip(list(op.successors)[1:], segments, strict=True):
        jumps.append(writer.jump(successor, rest[:size]))
        rest = rest[size:]
    writer.emit("switch_br", writer.value(view.flag), tuple(int(value) for value in values), tuple(jumps), default)


def _assert(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.emit("assert", writer.value(view.arg), str(op.attributes["msg"]).strip('"'))


def _unreachable(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    message = str(op.attributes["message"]).strip('"') if "message" in op.attributes else "unreachable code was reached"
    writer.emit("fail", message)


def _global_load(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    writer.emit("global_load", writer.define(op.results[0]), writer.symbols.globals[_symbol(op.attributes["global"])])


def _global_store(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.emit("global_store", writer.symbols.globals[_symbol(op.attributes["global"])], writer.value(view.value))


def _global_address(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    writer.alias(op.results[0], writer.number(writer.symbols.globals[_symbol(op.attributes["global"])]))


def _global_load_indirect(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view
    writer.emit("global_load_indirect", writer.define(op.results[0]), writer.value(op.operands[0]))


def _global_store_indirect(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.emit("global_store_indirect", writer.value(op.operands[1]), writer.value(view.value))


# ---------------------------------------------------------------- resources


def _allocate(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    size = writer.value(view.storage_size)
    writer.emit("allocate", writer.define(op.results[0]), size)
    for timepoint in list(op.results)[1:]:
        writer.alias(timepoint, writer.null())


def _deallocate(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.emit("free", writer.value(view.operand))
    writer.alias(op.results[0], writer.null())


def _resource_size(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.emit("resource_size", writer.define(op.results[0]), writer.value(view.operand))


def _subview(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    source, offset, length = (writer.value(value) for value in (view.source, view.source_offset, view.result_size))
    writer.emit("subview", writer.define(op.results[0]), source, offset, length)


def _resource_load(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    result = op.results[0]
    source, offset = writer.value(view.source), writer.value(view.source_offset)
    writer.emit("resource_load", writer.define(result), source, offset, str(result.type))


def _resource_store(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del op
    operands = (writer.value(value) for value in (view.target, view.target_offset, view.value))
    writer.emit("resource_store", *operands, str(view.value.type))


def _try_map(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """Constants are never mapped: the program's other branch uploads them."""
    del view
    writer.alias(op.results[0], writer.number(0))
    writer.alias(op.results[1], writer.null())


def _is_terminal(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """Whether this is the last reference; buffers are counted by Python, so no is always safe."""
    del view
    writer.alias(op.results[0], writer.number(0))


def _await(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    for result, operand in zip(op.results, view.resource_operands, strict=True):
        writer.alias(result, writer.value(operand))


def _timepoint_barrier(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.alias(op.results[0], writer.value(view.resource))
    writer.alias(op.results[1], writer.null())


def _file_constant(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    operands = (writer.value(value) for value in (view.source, view.source_offset, view.source_length))
    writer.emit("buffer_slice", writer.define(op.results[0]), *operands)


def _file_read(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    operands = (view.source, view.source_offset, view.target, view.target_offset, view.length)
    writer.emit("upload", *(writer.value(value) for value in operands))
    writer.alias(op.results[0], writer.null())


def _tensor_import(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    writer.emit("import", writer.define(op.results[0]), writer.value(view.source), writer.value(view.result_size))


_TENSOR = re.compile(r"tensor<(.*)>$")


def _tensor_export(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    match = _TENSOR.match(str(op.attributes["source_encoding"].value))
    if match is None:
        msg = f"an export of {op.attributes['source_encoding']}"
        raise ValueError(msg)
    text = re.split(r",\s*#", match[1])[0]
    sizes = re.match(r"((?:(?:\d+|\?)x)*)", text)
    shape, element = (sizes[1], text[len(sizes[1]) :]) if sizes else ("", text)
    dimensions = tuple(-1 if size == "?" else int(size) for size in shape.split("x") if size)
    dynamic = writer.values(view.source_encoding_dims)
    source, size = writer.value(view.source), writer.value(view.source_size)
    writer.emit("export", writer.define(op.results[0]), source, size, element, dimensions, dynamic)


def _trace(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del view, op, writer


# ---------------------------------------------------------------- commands


def _execute(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    region = op.regions[0]
    for argument, operand in zip(region.blocks[0].arguments, view.resource_operands, strict=True):
        writer.alias(argument, writer.value(operand))
    writer.region(region)
    writer.emit("flush")
    writer.alias(op.results[0], writer.null())


def _in_order(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    """Concurrent commands may as well run one after another."""
    del view
    writer.region(op.regions[0])


def _fill(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del op
    operands = (view.target, view.target_offset, view.target_length, view.value)
    writer.emit("fill", *(writer.value(value) for value in operands), str(view.value.type))


def _copy(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del op
    operands = (view.source, view.source_offset, view.target, view.target_offset, view.length)
    writer.emit("copy", *(writer.value(value) for value in operands))


def _dispatch(writer: FunctionWriter, view: Ir, op: Ir) -> None:
    del op
    entry = str(view.entry_points[0])
    if entry not in writer.symbols.kernels:
        msg = f"a dispatch of {entry}, for which there is no kernel"
        raise ValueError(msg)
    writer.emit(
        "dispatch",
        writer.symbols.kernels[entry],
        writer.values(view.workload),
        writer.values(view.resources),
        writer.values(view.resource_offsets),
        writer.values(view.uniform_operands),
    )


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


HOST_RULES: HostRules = {
    **SCALAR_RULES,
    **STRUCTURED_RULES,
    "util.return": _return,
    "util.call": _call,
    "hal.return": _return,
    "cf.br": _branch,
    "cf.cond_br": _conditional_branch,
    "cf.switch": _switch,
    "cf.assert": _assert,
    "util.unreachable": _unreachable,
    "util.scf.unreachable": _unreachable,
    "util.status.check_ok": _nothing,
    "util.optimization_barrier": _forward,
    "util.cast": _forward,
    "util.assume.int": _forward,
    "builtin.unrealized_conversion_cast": _forward,
    "util.global.load": _global_load,
    "util.global.store": _global_store,
    "util.global.address": _global_address,
    "util.global.load.indirect": _global_load_indirect,
    "util.global.store.indirect": _global_store_indirect,
    "stream.resource.alloc": _allocate,
    "stream.resource.alloca": _allocate,
    "stream.resource.dealloca": _deallocate,
    "stream.resource.size": _resource_size,
    "stream.resource.subview": _subview,
    "stream.resource.load": _resource_load,
    "stream.resource.store": _resource_store,
    "stream.resource.try_map": _try_map,
    "stream.resource.retain": _nothing,
    "stream.resource.release": _is_terminal,
    "stream.resource.is_terminal": _is_terminal,
    "stream.timepoint.immediate": _nothing,
    "stream.timepoint.import": _nothing,
    "stream.timepoint.export": _nothing,
    "stream.timepoint.join": _nothing,
    "stream.timepoint.chain_external": _nothing,
    "stream.timepoint.barrier": _timepoint_barrier,
    "stream.timepoint.await": _await,
    "stream.context.resolve": _nothing,
    "stream.file.constant": _file_constant,
    "stream.file.read": _file_read,
    "stream.tensor.import": _tensor_import,
    "stream.tensor.export": _tensor_export,
    "stream.tensor.trace": _trace,
    "stream.cmd.execute": _execute,
    "stream.cmd.serial": _in_order,
    "stream.cmd.concurrent": _in_order,
    "stream.cmd.fill": _fill,
    "stream.cmd.copy": _copy,
    "stream.cmd.dispatch": _dispatch,
    "stream.cmd.flush": _nothing,
    "stream.cmd.invalidate": _nothing,
    "stream.cmd.discard": _nothing,
    "hal.element_type": _element_type,
    "hal.encoding_type": _encoding_type,
    "hal.buffer_view.dim": _view_dim,
    "hal.buffer_view.rank": _view_rule("view_rank"),
    "hal.buffer_view.element_type": _view_rule("view_element_type"),
    "hal.buffer_view.encoding_type": _constant_result(1),
    "hal.buffer_view.buffer": _view_rule("view_buffer"),
    "hal.buffer_view.assert": _view_assert,
    "hal.buffer_view.create": _view_create,
    "hal.buffer_view.trace": _nothing,
    "hal.buffer.assert": _nothing,
    "hal.buffer.length": _buffer_rule("resource_size", "buffer"),
    "hal.device.resolve": _nothing,
    "hal.device.allocator": _nothing,
    "hal.device.query": _device_query,
    "hal.devices.count": _constant_result(1),
    "hal.devices.get": _nothing,
    "hal.fence.create": _nothing,
    "hal.fence.join": _nothing,
    "hal.fence.signal": _nothing,
    "hal.fence.await": _constant_result(0),
    "hal.fence.query": _constant_result(0),
    "util.null": _nothing,
    "util.buffer.constant": _buffer_constant,
    "util.buffer.alloc": _buffer_rule("buffer_alloc", "storage_size"),
    "util.buffer.dealloc": _nothing,
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
