"""Rules for the ops of the host program: `stream`, `util`, `hal`, `cf` and `check`.

Timepoints, fences, devices and affinities vanish: all commands go to one in-order queue, and reading back waits.
Ops on scalars, structured control flow, and what functions take and give (views, host buffers, lists, checks) are in
`scalar_rules`, `structured_rules` and `data_rules`.
"""

from __future__ import annotations

import re
from typing import Any

from retarget_opencl.hostprog.data_rules import DATA_RULES, nothing
from retarget_opencl.hostprog.scalar_rules import SCALAR_RULES
from retarget_opencl.hostprog.structured_rules import STRUCTURED_RULES
from retarget_opencl.hostprog.writer import FunctionWriter, HostRules

__all__ = ["HOST_RULES"]

Ir = Any


def _symbol(attribute: Ir) -> str:
    return str(attribute).split("::", maxsplit=1)[0].lstrip("@").strip('"')


def _text(attribute: Ir) -> str:
    return str(attribute.value)


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


HOST_RULES: HostRules = {
    **SCALAR_RULES,
    **STRUCTURED_RULES,
    **DATA_RULES,
    "util.return": _return,
    "util.call": _call,
    "hal.return": _return,
    "cf.br": _branch,
    "cf.cond_br": _conditional_branch,
    "cf.switch": _switch,
    "cf.assert": _assert,
    "util.unreachable": _unreachable,
    "util.scf.unreachable": _unreachable,
    "util.status.check_ok": nothing,
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
    "stream.resource.retain": nothing,
    "stream.resource.release": _is_terminal,
    "stream.resource.is_terminal": _is_terminal,
    "stream.timepoint.immediate": nothing,
    "stream.timepoint.import": nothing,
    "stream.timepoint.export": nothing,
    "stream.timepoint.join": nothing,
    "stream.timepoint.chain_external": nothing,
    "stream.timepoint.barrier": _timepoint_barrier,
    "stream.timepoint.await": _await,
    "stream.context.resolve": nothing,
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
    "stream.cmd.flush": nothing,
    "stream.cmd.invalidate": nothing,
    "stream.cmd.discard": nothing,
}
