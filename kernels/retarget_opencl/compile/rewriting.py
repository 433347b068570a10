"""What IREE compiles for other targets and its SPIR-V does not express, rewritten so that it passes through.

Done where IREE has failed for a reason that this mends (`may_help`), and where it has lost signs (`lost_signs`).
Between two of IREE's phases, kernels are still `linalg` on tensors, and a few scalar ops in them are replaced. IREE's
later phases leave ops of the SPIR-V dialect as they are, with their attributes: `BUILT_IN` on one says which built-in
function of OpenCL C it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import partial

from retarget_opencl.translation import BUILT_IN, Ir, symbol_name

__all__ = [
    "EARLY_PHASE",
    "PHASE",
    "SIGNS_PHASE",
    "has_packs",
    "keep_signs",
    "lost_signs",
    "may_help",
    "needs_scalars",
    "plain_tiling",
    "rewrite",
    "split_packs",
    "without_subgroups",
]

EARLY_PHASE = "preprocessing"
"""The phase after which `split_packs` works."""

PHASE = "executable-sources"
"""The phase after which `rewrite` works."""

SIGNS_PHASE = "executable-configurations"
"""The phase after which `keep_signs` works. Before, IREE would not take its kernels for products, and not tile them."""

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


def has_packs(diagnostics: str) -> bool:
    """Say whether IREE failed because it has no tiles of work-items, as for `linalg.pack` and `linalg.unpack`."""
    return "failed to tile to invocations" in diagnostics


def split_packs(module: Ir) -> None:
    """Write `linalg.pack` and `linalg.unpack` as padding, transposition and slices, in a module after `EARLY_PHASE`.

    Needs MLIR's context.
    """
    from iree.compiler import passmanager

    passmanager.PassManager.parse(_PACKS).run(module)


def needs_scalars(diagnostics: str) -> bool:
    """Say whether IREE failed for vectors of bf16."""
    return "'vector.bitcast'" in diagnostics


def plain_tiling(flag: str) -> str:
    """Return a flag for an architecture that IREE has no tiles for: their copies would be vectors of bf16 again."""
    return re.sub(r'arch = "\w+"', 'arch = "generic"', flag)


def without_subgroups(flag: str) -> str:
    """Return a flag for a target without subgroups, to which IREE gives rows of bf16 by copies that it refuses."""
    return re.sub(r"\bsubgroup = [\w|]+", "subgroup = none", flag)


def rewrite(module: Ir, *, scalars: bool) -> None:
    """Replace, in the kernels of a module after `PHASE`, what IREE's SPIR-V does not express. Needs MLIR's context.

    `scalars`: what reads or writes bf16 does so one by one.
    """
    from iree.compiler import passmanager

    passmanager.PassManager.parse(f"builtin.module(hal.executable({_KERNELS}))").run(module)
    for item in module.regions[0].blocks[0]:
        if item.operation.name == "hal.executable":
            _each(item.operation, partial(_change, scalars=scalars))


# Where IREE (3.13) loads 8 elements of `i8` or 4 of `i16` as words of 32 bits and extends them, it masks and shifts
# them by these: they come out as if they had no sign.
_SHIFTS = re.compile(r"dense<\[0, (8|16)\b[ ,0-9]*\]> : vector")


def lost_signs(module: Ir) -> frozenset[str]:
    """Return the names of the executables of a compiled module in which small integers may have lost their signs."""
    return frozenset(
        symbol_name(item.operation)
        for item in module.regions[0].blocks[0]
        if item.operation.name == "hal.executable" and _has_shifts(item.operation)
    )


def _has_shifts(op: Ir) -> bool:
    if op.name == "spirv.func":  # constants are in the first block
        first = op.regions[0].blocks[0] if len(op.regions[0].blocks) else ()
        return any(
            item.operation.name == "spirv.Constant" and _SHIFTS.match(str(item.operation.attributes["value"]))
            for item in first
        )
    return any(_has_shifts(item.operation) for region in op.regions for block in region.blocks for item in block)


def keep_signs(module: Ir, *, executables: Collection[str]) -> None:
    """Extend `i8` and `i16` without IREE's extension of signs, in executables of a module after `SIGNS_PHASE`.

    Needs MLIR's context.
    """
    from iree.compiler import passmanager

    for item in module.regions[0].blocks[0]:
        if item.operation.name == "hal.executable" and symbol_name(item.operation) in executables:
            passmanager.PassManager.parse(f"hal.executable({_KERNELS})").run(item.operation)
            _each(item.operation, _extension)


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


def _each(op: Ir, change: Callable[[Ir], None]) -> None:
    for region in op.regions:
        for block in region.blocks:
            for item in list(block):
                _each(item.operation, change)
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
