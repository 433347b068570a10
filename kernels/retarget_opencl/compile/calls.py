"""Calls between functions, which IREE must inline where a kernel makes them.

IREE (3.13) inlines calls before it forms kernels, without end where functions are recursive. In kernels it leaves those
of functions that must not be inlined, and its SPIR-V then has no such function.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from retarget.extension import CompilerError

from retarget_opencl.compile.tuning.kernels import walk
from retarget_opencl.translation import Ir, symbol_name

__all__ = ["PHASE", "inline_calls", "may_have_calls"]

PHASE = "preprocessing"
"""The phase after which `inline_calls` works: later ones inline."""

_FUNCTIONS = ("util.func", "func.func")
_CALLS = ("util.call", "func.call")
_NEVER = ("inlining_policy", "no_inline", "noinline")
_OF_KERNELS = ("linalg.", "iree_linalg_ext.", "tensor.", "flow.dispatch.")
"""Ops that become kernels, with the calls in their regions; calls in other ops are the host program's."""


def may_have_calls(content: bytes) -> bool:
    """Say whether a module, as text or bytecode, may have calls."""
    return b"call" in content


def inline_calls(module: Ir) -> None:
    """Let IREE inline what kernels call, in a module after `PHASE`. Needs MLIR's context.

    Raises `CompilerError`, a verdict, for functions that call themselves, and for those without a body of one block
    that ops of kernels call.
    """
    from iree.compiler import passmanager

    inlines = False
    for table in (module, *(op for op in walk(module) if op.name == "builtin.module")):
        functions = {
            symbol_name(item.operation): item.operation
            for item in table.regions[0].blocks[0]
            if item.operation.name in _FUNCTIONS
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
