"""What IREE compiles for other targets and its SPIR-V does not express, or gets wrong, rewritten between IREE's phases.

`rewrite`, `split_packs`: done where IREE has failed for a reason that they mend (`may_help`). Between two
of IREE's phases, kernels are still `linalg` on tensors, and a few scalar ops in them are replaced. IREE's later phases
leave ops of the SPIR-V dialect as they are, with their attributes: `BUILT_IN` on one says which built-in function of
OpenCL C it stands for. `keep_signs`: done where IREE has lost signs (`lost_signs`).

`inline_calls`: IREE (3.13) inlines calls before it forms kernels, without end where functions are recursive. In kernels
it leaves those of functions that must not be inlined, and its SPIR-V then has no such function.

IREE 3.13 accesses a binding by vectors if its rows divide into them (`SPIRVVectorizeLoadStore`), and divides the index
by their length. Where a slice begins at an offset that is no multiple of it, as what is written into a padded tensor
does, the remainder is lost: the access goes beside the slice. On Vulkan values are wrong for the same reason.

`slices` notes such offsets when kernels have their configuration, `misplaced` finds in the SPIR-V which of them are
accessed by vectors, and `take_elements` configures these kernels so that they access one element after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter
from math import gcd

from retarget.extension import CompilerError

from retarget_opencl.translation import BUILT_IN, Ir, inside, symbol_name, walk

_PACKS = "builtin.module(util.func(iree-codegen-decompose-pack-unpack-ops{use-only-reshapes=true}))"

_KERNELS = (
    "hal.executable.variant(builtin.module(func.func(iree-codegen-decompose-softmax,linalg-generalize-named-ops)))"
)
"""IREE's passes that go before: each `linalg` op shows its scalar ops, a softmax too."""

# OpenCL C has these for f64; SPIR-V's extended instructions for graphics do not. Powers have another name.
_FUNCTIONS = frozenset(
    {
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt", "powf", "atan2"),
    }
)
_CARRIERS = {1: "spirv.GL.FAbs", 2: "spirv.GL.FMin"}
"""Ops that take f32 and f64, by the number of their operands."""

_CONVERSIONS = frozenset({"arith.sitofp", "arith.uitofp", "arith.extf", "arith.truncf"})


def may_help(diagnostics: str) -> bool:
    """Say whether IREE failed for what `rewrite` mends: f64 functions, conversions of small floats, bf16 by vectors."""
    return (
        re.search(r"'spirv\.(GL\.\w+|Bitcast|FConvert)' op|operation '(vector\.bitcast|math\.\w+)'", diagnostics)
        is not None
    )


def split_packs(module: Ir) -> None:
    """Write `linalg.pack` and `linalg.unpack` as padding, transposition and slices, in a module after the phase
    `preprocessing`.

    Needs MLIR's context.
    """
    from iree.compiler import passmanager

    passmanager.PassManager.parse(_PACKS).run(module)


def plain_tiling(flag: str) -> str:
    """Return a flag for an architecture that IREE has no tiles for: their copies would be vectors of bf16 again."""
    return re.sub(r'arch = "\w+"', 'arch = "generic"', flag)


def without_subgroups(flag: str) -> str:
    """Return a flag for a target without subgroups, to which IREE gives rows of bf16 by copies that it refuses."""
    return re.sub(r"\bsubgroup = [\w|]+", "subgroup = none", flag)


def rewrite(module: Ir, *, scalars: bool) -> None:
    """Replace, in the kernels of a module after the phase `executable-sources`, what IREE's SPIR-V does not express.

    `scalars`: what reads or writes bf16 does so one by one. Needs MLIR's context.
    """
    from iree.compiler import passmanager

    passmanager.PassManager.parse(f"builtin.module(hal.executable({_KERNELS}))").run(module)
    for executable in inside(module, "hal.executable"):
        _each(executable, partial(_change, scalars=scalars))


# Where IREE (3.13) loads 8 elements of `i8` or 4 of `i16` as words of 32 bits and extends them, it masks and shifts
# them by these: they come out as if they had no sign.
_SHIFTS = re.compile(r"dense<\[0, (8|16)\b[ ,0-9]*\]> : vector")


def lost_signs(module: Ir) -> frozenset[str]:
    """Return the names of the executables of a compiled module in which small integers may have lost their signs."""
    return frozenset(
        symbol_name(executable) for executable in inside(module, "hal.executable") if _has_shifts(executable)
    )


def _has_shifts(op: Ir) -> bool:
    if op.name == "spirv.func":  # constants are in the first block
        constants = inside(op, "spirv.Constant") if len(op.regions[0].blocks) else ()
        return any(_SHIFTS.match(str(one.attributes["value"])) for one in constants)
    return any(_has_shifts(item.operation) for region in op.regions for block in region.blocks for item in block)


def keep_signs(module: Ir, *, executables: Collection[str]) -> None:
    """Extend `i8` and `i16` without IREE's extension of signs, in executables of a module after the phase
    `executable-configurations`: before, IREE would not take its kernels for products, and not tile them.

    Needs MLIR's context.
    """
    from iree.compiler import passmanager

    for executable in inside(module, "hal.executable"):
        if symbol_name(executable) in executables:
            passmanager.PassManager.parse(f"hal.executable({_KERNELS})").run(executable)
            _each(executable, _extension)


def _extension(op: Ir) -> None:
    """Extend the sign by arithmetic: a number less its highest bit's value twice, if that bit is set."""
    from iree.compiler import ir

    source = str(op.operands[0].type) if op.name == "arith.extsi" else ""
    if source not in {"i8", "i16"}:
        return
    kind = op.results[0].type
    with ir.InsertionPoint(op), op.location:
        number = ir.IntegerAttr.get(kind, 1 << int(source[1:]) - 1)
        bit = ir.Operation.create("arith.constant", results=[kind], attributes={"value": number}).results[0]
        turned = _create("arith.xori", kind, _create("arith.extui", kind, op.operands[0]), bit)
        _replace(op, _create("arith.subi", kind, turned, bit))


def _each(parent: Ir, change: Callable[[Ir], None]) -> None:
    """Change the ops inside an op, each after those inside it."""
    for op in reversed(list(walk(parent))):
        change(op)


def _change(op: Ir, *, scalars: bool) -> None:
    if op.name == "linalg.generic" and scalars:
        _without_vectors(op)
    elif op.name.startswith("math."):
        _function(op)
    elif op.name in _CONVERSIONS:
        _conversion(op)


def _create(name: str, kind: Ir, *operands: Ir, **attributes: Ir) -> Ir:
    from iree.compiler import ir

    return ir.Operation.create(name, results=[kind], operands=list(operands), attributes=attributes).results[0]


def _built_in(name: str, *operands: Ir) -> Ir:
    """Return a call of a built-in; without a name, the operand, which no pass sees through."""
    from iree.compiler import ir

    return _create(_CARRIERS[len(operands)], operands[0].type, *operands, **{BUILT_IN: ir.StringAttr.get(name)})


def _replace(op: Ir, value: Ir) -> None:
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _function(op: Ir) -> None:
    from iree.compiler import ir

    name = op.name.removeprefix("math.")
    if name in _FUNCTIONS and str(op.results[0].type) == "f64":
        with ir.InsertionPoint(op), op.location:
            _replace(op, _built_in("pow" if name == "powf" else name, *op.operands))


def _conversion(op: Ir) -> None:
    """Convert by way of f32, which is exact for floats: integers to bf16, and 8-bit floats from and to f16."""
    from iree.compiler import ir

    source, target = str(op.operands[0].type), str(op.results[0].type)
    small = {"arith.extf": (source[:2], target), "arith.truncf": (target[:2], source)}.get(op.name)
    if small == ("f8", "f16") or (op.name.endswith("tofp") and target == "bf16"):
        first = "arith.extf" if op.name == "arith.truncf" else op.name
        with ir.InsertionPoint(op), op.location:
            middle = _built_in("", _create(first, ir.F32Type.get(), op.operands[0]))
            _replace(op, _create("arith.truncf", op.results[0].type, middle))


def _opaque(value: Ir) -> Ir:
    """Return a bf16 value by way of f32 and of an op that IREE does not vectorise, because it is of another dialect."""
    from iree.compiler import ir

    return _create("arith.truncf", value.type, _built_in("", _create("arith.extf", ir.F32Type.get(), value)))


def _without_vectors(op: Ir) -> None:
    from iree.compiler import ir

    body = op.regions[0].blocks[0]
    end = body.operations[len(body.operations) - 1].operation
    with op.location:
        for argument in list(body.arguments):
            if str(argument.type) == "bf16" and list(argument.uses):
                with ir.InsertionPoint.at_block_begin(body):
                    same = _opaque(argument)
                wide = body.operations[0].operation
                argument.replace_all_uses_except(same, wide)
        for index, value in enumerate(list(end.operands)):
            if str(value.type) == "bf16":
                with ir.InsertionPoint(end):
                    end.operands[index] = _opaque(value)


_CALLABLE = ("util.func", "func.func")
_CALLS = ("util.call", "func.call")
_NEVER = ("inlining_policy", "no_inline", "noinline")
_OF_KERNELS = ("linalg.", "iree_linalg_ext.", "tensor.", "flow.dispatch.")
"""Ops that become kernels, with the calls in their regions; calls in other ops are the host program's."""


def inline_calls(module: Ir) -> None:
    """Let IREE inline what kernels call, in a module after the phase `preprocessing`: later ones inline.

    Needs MLIR's context.

    Raises `CompilerError`, a verdict, for functions that call themselves, and for those without a body of one block
    that ops of kernels call.
    """
    from iree.compiler import passmanager

    inlines = False
    for table in (module, *(op for op in walk(module) if op.name == "builtin.module")):
        functions = {
            symbol_name(item.operation): item.operation
            for item in table.regions[0].blocks[0]
            if item.operation.name in _CALLABLE
        }
        callees = {name: _callees(function) for name, function in functions.items()}
        try:
            TopologicalSorter(callees).prepare()
        except CycleError as error:
            cycle = error.args[1][::-1]
            msg = f"no OpenCL C rule for recursion: {' calls '.join(cycle)} at {functions[cycle[0]].location}"
            raise CompilerError(msg, msg, verdict=True) from error
        # Those of an executable, and those that become part of one with the op that calls them.
        ops = (op for op in walk(table) if op.name.startswith(_OF_KERNELS))
        called = {name: op for op in (ops if table is module else functions.values()) for name in _callees(op)}
        while further := {
            name: called[one] for one in functions.keys() & called for name in callees[one] if name not in called
        }:
            called |= further
        for name in functions.keys() & called.keys():
            if table is module and len(functions[name].regions[0].blocks) != 1:
                raise _not_to_be_inlined(functions[name], called[name])
            for attribute in _NEVER:
                if attribute in functions[name].attributes:
                    del functions[name].attributes[attribute]
        inlines |= bool(called)
    if inlines:
        passmanager.PassManager.parse("builtin.module(inline)").run(module)


def _not_to_be_inlined(function: Ir, caller: Ir) -> CompilerError:
    has = "several blocks" if len(function.regions[0].blocks) else "no body"
    call = f"a call of {symbol_name(function)}, which has {has}"
    msg = f"no OpenCL C rule for {call}, in {caller.name} at {caller.location}"
    return CompilerError(msg, msg, verdict=True)


def _callees(op: Ir) -> dict[str, None]:
    """Return the names of the functions that an op calls."""
    return {str(call.attributes["callee"].value): None for call in walk(op) if call.name in _CALLS}


Slices = Mapping[str, Mapping[int, int]]
"""By kernel and binding: a number of bits that divides all offsets at which its slices begin in a row."""

_SLICES = frozenset(
    {"iree_tensor_ext.dispatch.tensor.load", "iree_tensor_ext.dispatch.tensor.store", "tensor.extract_slice"}
)
_VECTOR = re.compile(r"vector<(\d+)x[a-z]+(\d+)>")
_ELEMENT = re.compile(r"x[a-z]+(\d+)")
_PIPELINE = re.compile(r"spirv_pipeline<\w+>")


def slices(module: Ir) -> Slices:
    """Return which kernels of a module after the phase `executable-configurations` access slices that begin
    within a row."""
    found: dict[str, dict[int, int]] = {}
    for function in _all(module, "func.func"):
        bindings: dict[int, int] = {}
        for op in walk(function):
            if op.name in _SLICES and (bits := _offset(op)):
                number = _binding(_place(op))
                if number is not None:
                    bindings[number] = gcd(bits, bindings.get(number, 0))
        if bindings:
            found[symbol_name(function)] = bindings
    return found


def misplaced(module: Ir, noted: Slices) -> frozenset[str]:
    """Return the kernels of a module in the SPIR-V dialect that access by vectors a slice which begins within one."""
    found = set()
    for spirv in _all(module, "spirv.module"):
        body = [item.operation for item in spirv.regions[0].blocks[0]]
        names = {symbol_name(op) for op in body if op.name == "spirv.func"} & noted.keys()
        for op in body:
            vector = _VECTOR.search(str(op.attributes["type"])) if op.name == "spirv.GlobalVariable" else None
            if vector is None or "binding" not in op.attributes:
                continue
            number, bits = int(op.attributes["binding"]), int(vector[1]) * int(vector[2])
            found |= {name for name in names if noted[name].get(number, 0) % bits}
    return frozenset(found)


def take_elements(module: Ir, kernels: Collection[str]) -> None:
    """Let these kernels of a configured module access one element after the other. Needs MLIR's context."""
    from iree.compiler import ir

    for function in _all(module, "func.func"):
        if symbol_name(function) in kernels:
            configured = _PIPELINE.sub("spirv_pipeline<BaseDistribute>", str(function.attributes["translation_info"]))
            function.attributes["translation_info"] = ir.Attribute.parse(configured)


def _all(module: Ir, name: str) -> Iterator[Ir]:
    """Yield the ops of one name in a module's executables."""
    for executable in inside(module, "hal.executable"):
        yield from (op for op in walk(executable) if op.name == name)


def _place(op: Ir) -> Ir:
    """Return what a slice is part of."""
    return op.operands[1 if op.name.endswith(".store") else 0]


def _offset(op: Ir) -> int:
    """Return at which bit of a row a slice begins; of an offset that is not static, the size of one element."""
    offsets = list(op.attributes["static_offsets"])
    bits = _ELEMENT.findall(str(_place(op).type))
    if not offsets or not bits:
        return 0
    return int(bits[-1]) * (1 if offsets[-1] < 0 else int(offsets[-1]))


def _binding(value: Ir) -> int | None:
    """Return the number of the binding that a value is loaded from."""
    op = getattr(value.owner, "operation", None)
    while op is not None and op.name in _SLICES:
        op = getattr(op.operands[0].owner, "operation", None)
    return int(op.attributes["binding"]) if op is not None and op.name == "hal.interface.binding.subspan" else None
