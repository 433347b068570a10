"""Rules for the ops of the host program: `stream`, `util`, `hal`, `cf` and `check`, and those on scalars.

Timepoints, fences, devices and affinities vanish: all commands go to one in-order queue, and reading back waits.

Most ops on scalars (`arith`, `math` and their like) become `("scalar", name, type, result, operands…)`; `run.scalars`
defines what each name computes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from retarget_iree.runtime.elements import element_type_code

from retarget_opencl.hostprog.writer import (
    FunctionWriter,
    HostRule,
    HostRules,
    constant_bytes,
    constant_result,
    forward,
    instruction,
    nothing,
    number_of,
)
from retarget_opencl.translation import Ir


def _constant(writer: FunctionWriter, op: Ir) -> None:
    kind = str(op.results[0].type)
    value = number_of(op.attributes["value"], kind)
    if value is None:
        msg = f"a constant of type {kind} in the host program"
        raise ValueError(msg)
    writer.alias(op.results[0], writer.float(value) if isinstance(value, float) else writer.number(value))


def _scalar(name: str, kind: str = "") -> HostRule:
    """The first operand's type decides, unless `kind` is given."""

    def write(writer: FunctionWriter, op: Ir) -> None:
        decides = kind or str(op.operands[0].type)
        writer.emit("scalar", name, decides, writer.define(op.results[0]), *writer.values(op.operands))

    return write


def _conversion(name: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        (operand,), (result,) = op.operands, op.results
        kinds = str(operand.type), str(result.type)
        writer.emit("convert", name, *kinds, writer.define(result), writer.value(operand))

    return write


_PREDICATES = {
    "cmpi": ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"),
    "cmpf": (
        *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
        *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
    ),
}


def _compare(name: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        number = int(str(op.attributes["predicate"]).partition(" ")[0])
        _scalar(f"{name}_{_PREDICATES[name][number]}")(writer, op)

    return write


def _sizeof(writer: FunctionWriter, op: Ir) -> None:
    kind = str(op.attributes["sizedType"].value)
    match = re.fullmatch(r"[a-z]+(\d+)", kind.replace("index", "i64"))
    if match is None:
        msg = f"the size of {kind}"
        raise ValueError(msg)
    writer.alias(op.results[0], writer.number(-(-int(match[1]) // 8)))


_PLAIN = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"),
    *("andi", "ori", "xori", "shli", "shrsi", "shrui", "minsi", "minui", "maxsi", "maxui"),
    *("addf", "subf", "mulf", "divf", "remf", "negf", "minimumf", "maximumf", "minnumf", "maxnumf"),
)
_CONVERSIONS = (
    *("extsi", "extui", "trunci", "index_cast", "index_castui", "sitofp", "uitofp", "fptosi", "fptoui"),
    *("extf", "truncf", "bitcast"),
)
_MATH = (
    *("absf", "absi", "ceil", "floor", "round", "roundeven", "trunc", "sqrt", "rsqrt", "exp", "exp2", "expm1"),
    *("log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf"),
    *("powf", "atan2", "fma", "ctpop", "ctlz", "cttz", "copysign", "ipowi"),
)

SCALAR_RULES: HostRules = {
    "arith.constant": _constant,
    **{f"arith.{name}": _scalar(name) for name in _PLAIN},
    **{f"arith.{name}": _conversion(name) for name in _CONVERSIONS},
    **{f"math.{name}": _scalar(f"math_{name}") for name in _MATH},
    "arith.cmpi": _compare("cmpi"),
    "arith.cmpf": _compare("cmpf"),
    "arith.select": instruction("select", "condition", "true_value", "false_value"),
    "util.align": _scalar("align", "index"),
    "util.sizeof": _sizeof,
}


def _view_dim(writer: FunctionWriter, op: Ir) -> None:
    writer.emit("view_dim", writer.define(op.results[0]), writer.value(op.buffer_view), int(op.attributes["index"]))


def _view_assert(writer: FunctionWriter, op: Ir) -> None:
    label = op.attributes["message"].value
    element = writer.value(op.element_type)
    writer.emit("view_assert", writer.value(op.buffer_view), element, writer.values(op.shape), label)


def _check(kind: str) -> HostRule:
    def write(writer: FunctionWriter, op: Ir) -> None:
        operands = tuple(writer.value(operand) for operand in op.operands if "!hal.device" not in str(operand.type))
        tolerances = [float(op.attributes[name].value) for name in ("atol", "rtol") if name in op.attributes]
        writer.emit("check", kind, operands, *(tolerances or (0.0, 0.0)))

    return write


_VANISHING = (
    *("hal.buffer.assert", "hal.buffer_view.trace", "hal.device.resolve", "hal.devices.get"),
    *("hal.fence.create", "hal.fence.join", "hal.fence.signal", "util.null"),
    *("stream.context.resolve", "stream.resource.retain", "stream.tensor.trace"),
    *("stream.timepoint.chain_external", "stream.timepoint.export", "stream.timepoint.immediate"),
    *("stream.timepoint.import", "stream.timepoint.join"),
    *("stream.cmd.discard", "stream.cmd.flush", "stream.cmd.invalidate"),
)
"""Ops that mean nothing on an in-order queue."""

DATA_RULES: HostRules = {
    "hal.element_type": lambda writer, op: writer.alias(
        op.results[0], writer.number(element_type_code(str(op.attributes["type"].value)))
    ),
    "hal.encoding_type": constant_result(1),  # IREE's dense row-major
    "hal.buffer_view.dim": _view_dim,
    "hal.buffer_view.assert": _view_assert,
    "hal.buffer.length": instruction("resource_size", "buffer"),
    "hal.fence.await": constant_result(0),
    "hal.fence.query": constant_result(0),
    "util.buffer.constant": lambda writer, op: writer.alias(
        op.results[0], writer.blob(constant_bytes(str(op.attributes["value"]), writer.symbols.resources))
    ),
    "check.expect_eq": _check("eq"),
    "check.expect_almost_eq": _check("almost_eq"),
    "check.expect_true": _check("true"),
    "check.expect_false": _check("false"),
    "check.expect_all_true": _check("all_true"),
}


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


def _symbol(attribute: Ir) -> str:
    return str(attribute).split("::", maxsplit=1)[0].lstrip("@").strip('"')


def _global(writer: FunctionWriter, op: Ir) -> int:
    return writer.symbols.globals[_symbol(op.attributes["global"])]


# ---------------------------------------------------------------- functions and globals


def _call(writer: FunctionWriter, op: Ir) -> None:
    name = _symbol(op.callee)
    if name not in writer.symbols.functions:
        msg = f"a call of {name!r}, which is an import from another module"
        raise ValueError(msg)
    operands = writer.values(op.operands)
    writer.emit("call", writer.symbols.functions[name], tuple(writer.define(result) for result in op.results), operands)


def _conditional_branch(writer: FunctionWriter, op: Ir) -> None:
    yes = writer.jump(op.successors[0], op.trueDestOperands)
    if writer.value(op.condition) == writer.number(1):  # as after a constant that is there already
        writer.emit("br", *yes)
        return
    no = writer.jump(op.successors[1], op.falseDestOperands)
    writer.emit("cond_br", writer.value(op.condition), *yes, *no)


def _switch(writer: FunctionWriter, op: Ir) -> None:
    default = writer.jump(op.successors[0], op.defaultOperands)
    values: list[str] = []
    if "case_values" in op.attributes:
        # `dense<[2, 7]> : vector<2xi32>`, or `dense<2>` for a single case.
        values = re.findall(r"-?\d+", str(op.attributes["case_values"]).partition("> :")[0])
    rest = list(op.operands)[1 + len(op.defaultOperands) :]
    segments = [int(size) for size in op.attributes["case_operand_segments"]]
    jumps = []
    for successor, size in zip(list(op.successors)[1:], segments, strict=True):
        jumps.append(writer.jump(successor, rest[:size]))
        rest = rest[size:]
    writer.emit("switch_br", writer.value(op.flag), tuple(int(value) for value in values), tuple(jumps), default)


def _unreachable(writer: FunctionWriter, op: Ir) -> None:
    message = op.attributes["message"].value if "message" in op.attributes else "unreachable code was reached"
    writer.emit("fail", message)


# ---------------------------------------------------------------- tensors and commands


def _tensor_export(writer: FunctionWriter, op: Ir) -> None:
    exported = op.attributes["source_encoding"].value
    dimensions = tuple(-1 if exported.is_dynamic_size(size) else size for size in exported.shape)
    dynamic = writer.values(op.source_encoding_dims)
    source, size = writer.value(op.source), writer.value(op.source_size)
    writer.emit("export", writer.define(op.results[0]), source, size, str(exported.element_type), dimensions, dynamic)


def _try_map(writer: FunctionWriter, op: Ir) -> None:
    """Constants are as good as mapped: they are uploaded once. What is changed later, the other branch uploads."""
    blob = writer.blob_of(writer.value(op.source))
    if blob is None or str(op.results[1].type) != "!stream.resource<constant>":
        constant_result(0)(writer, op)
        return
    writer.alias(op.results[0], writer.number(1))
    offset, size = writer.value(op.source_offset), writer.value(op.result_size)
    writer.emit("constant", writer.define(op.results[1]), blob, offset, size)


def _execute(writer: FunctionWriter, op: Ir) -> None:
    region = op.regions[0]
    for argument, operand in zip(region.blocks[0].arguments, op.resource_operands, strict=True):
        writer.alias(argument, writer.value(operand))
    writer.region(region)
    writer.emit("flush")
    writer.alias(op.results[0], writer.null())


def _concurrent(writer: FunctionWriter, op: Ir) -> None:
    """Concurrent commands may as well run one after another; dispatches that share a launch spare the others'."""
    items = [item for item in op.regions[0].blocks[0] if item.operation.name != "stream.yield"]
    dispatches = [item for item in items if item.operation.name == "stream.cmd.dispatch"]
    kernel = None
    if len(dispatches) > 1:
        kernel = writer.symbols.together([_kernel_of(writer, item) for item in dispatches])
    if kernel is None:
        writer.region(op.regions[0])
        return
    for item in items:
        if item not in dispatches:
            writer.op(item)
    _launch(writer, kernel, dispatches)


def _launch(writer: FunctionWriter, kernel: int, dispatches: Sequence[Ir]) -> None:
    """Launch a kernel that does the work of dispatches; each operand is a list of theirs."""
    names = ("workload", "resources", "resource_offsets", "uniform_operands")
    words = (tuple(writer.values(getattr(one, name)) for one in dispatches) for name in names)
    writer.emit("dispatch", kernel, *words)


def _kernel_of(writer: FunctionWriter, op: Ir) -> int:
    """Return the number of a dispatch's kernel."""
    entry = str(op.entry_points[0])
    kernel = writer.symbols.kernels.get(re.sub(r'[@"]', "", entry))
    if kernel is None:
        msg = f"a dispatch of {entry}, for which there is no kernel"
        raise ValueError(msg)
    return kernel


HOST_RULES: HostRules = {
    **SCALAR_RULES,
    **DATA_RULES,
    **dict.fromkeys(_VANISHING, nothing),
    **PARAMETER_RULES,
    "util.return": instruction("return", "operands"),
    "util.call": _call,
    "hal.return": instruction("return", "operands"),
    "cf.br": lambda writer, op: writer.emit("br", *writer.jump(op.successors[0], op.operands)),
    "cf.cond_br": _conditional_branch,
    "cf.switch": _switch,
    "cf.assert": lambda writer, op: writer.emit("assert", writer.value(op.arg), op.attributes["msg"].value),
    "util.unreachable": _unreachable,
    "util.scf.unreachable": _unreachable,
    "util.optimization_barrier": forward,
    "util.cast": forward,
    "util.assume.int": forward,
    "builtin.unrealized_conversion_cast": forward,
    "util.global.load": lambda writer, op: writer.emit(
        "global_load", writer.define(op.results[0]), _global(writer, op)
    ),
    "util.global.store": lambda writer, op: writer.emit("global_store", _global(writer, op), writer.value(op.value)),
    "stream.resource.alloc": instruction("allocate", "storage_size"),
    "stream.resource.alloca": instruction("allocate", "storage_size"),
    "stream.resource.dealloca": instruction("free", "operand"),
    "stream.resource.size": instruction("resource_size", "operand"),
    "stream.resource.subview": instruction("subview", "source", "source_offset", "result_size"),
    "stream.resource.load": instruction("resource_load", "source", "source_offset", typed="result"),
    "stream.resource.store": instruction("resource_store", "target", "target_offset", "value", typed="value"),
    "stream.resource.try_map": _try_map,
    # Whether this is the last reference: Python counts buffers, so no is always safe.
    "stream.resource.release": constant_result(0),
    "stream.resource.is_terminal": constant_result(0),
    "stream.timepoint.barrier": forward,
    "stream.timepoint.await": forward,
    "stream.file.constant": instruction("buffer_slice", "source", "source_offset", "source_length"),
    "stream.file.read": instruction("upload", "source", "source_offset", "target", "target_offset", "length"),
    "stream.tensor.import": instruction("import", "source", "result_size"),
    "stream.tensor.export": _tensor_export,
    "stream.cmd.execute": _execute,
    "stream.cmd.serial": lambda writer, op: writer.region(op.regions[0]),
    "stream.cmd.concurrent": _concurrent,
    "stream.cmd.fill": instruction("fill", "target", "target_offset", "target_length", "value", typed="value"),
    "stream.cmd.copy": instruction("copy", "source", "source_offset", "target", "target_offset", "length"),
    "stream.cmd.dispatch": lambda writer, op: _launch(writer, _kernel_of(writer, op), [op]),
}
