"""Rewrites check modules for tools that know no check module: what a check compares becomes results of its function.

The results follow the function's own, in the order of the checks; `returned` has what is to hold for them. Needs the
compiler's Python bindings: imported in compile workers, and by `python3 -m retarget_iree.checks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import chdir
from typing import Any

from retarget.extension import CompilerError
from retarget.support import ScratchFolder

from retarget_iree.checks.returned import REFLECTION, ReturnedCheck, checks_text
from retarget_iree.toolchain import compiler_api

_PREFIX = "check.expect_"
_RETURNS = {"func.func": "func.return", "util.func": "util.return"}
_CALLS = {"func.func": "func.call", "util.func": "util.call"}
_ALONE = "$alone"
"""Ends the name of what a function does without those before it."""


def return_checks(source: bytes, name: str) -> bytes:
    """Return the text of a module whose functions return what they would check, with the locations of the original.

    In a module with mutable globals, each function that takes no arguments calls those before it first: a tool runs
    each in its own process, and in one process each finds what the others have left.

    A module that does not parse comes back as it is, for the compiler to say why. Raises `CompilerError` with the
    location of a check whose values cannot be returned.
    """
    compiler_api()
    from iree.compiler import ir

    with ScratchFolder("checks") as folder, chdir(folder.path), ir.Context(), ir.Location.unknown():
        (folder.path / name).write_bytes(source)
        try:
            module = ir.Module.parseFile(name)
        except ir.MLIRError:
            return source
        functions = [one for one in _operations(module.body) if one.name in _RETURNS]
        called = {str(one.attributes["callee"]) for one in _walk(module.operation) if "callee" in one.attributes}
        for function in functions:
            if checks := [one for one in _walk(function) if one.name.startswith(_PREFIX)]:
                if f"@{_name(function)}" in called:
                    raise _refusal(checks[0], "stands in a function that others call")
                _return_values(function, checks)
        entries = [one for one in functions if _is_entry(one)]
        if any(one.name.endswith(".global") and "is_mutable" in one.attributes for one in _operations(module.body)):
            _call_those_before(module, entries)
        return str(module.operation.get_asm(enable_debug_info=True)).encode()


def _operations(block: Any) -> list[Any]:
    return [one.operation for one in block.operations]


def _walk(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for one in _operations(block):
                yield one
                yield from _walk(one)


def _name(function: Any) -> str:
    return str(function.attributes["sym_name"].value)


def _is_entry(function: Any) -> bool:
    """Whether a function is a case: exported, and without arguments."""
    attributes = function.attributes
    is_public = "sym_visibility" not in attributes or attributes["sym_visibility"].value == "public"
    return is_public and not attributes["function_type"].value.inputs and len(function.regions[0].blocks) > 0


def _refusal(check: Any, why: str) -> CompilerError:
    location = str(check.location).removeprefix("loc(").removesuffix(")").replace('"', "")
    msg = (
        f"{location}: error: {check.name} {why}; expected it in an exported function, outside regions and branches, so "
        "that a tool without the check module can return its values"
    )
    return CompilerError(msg, diagnostics=msg, verdict=True)


def _return_values(function: Any, checks: Sequence[Any]) -> None:
    """Let a function return the values of its checks, and take the checks away."""
    from iree.compiler import ir

    blocks = list(function.regions[0].blocks)
    returns = [one for block in blocks for one in _operations(block) if one.name == _RETURNS[function.name]]
    values: list[Any] = []
    returned: list[ReturnedCheck] = []
    for check in checks:
        if check.parent != function:
            raise _refusal(check, f"stands in a region of {check.parent.name}")
        if len(returns) != 1 or check.block not in (blocks[0], returns[0].block):
            raise _refusal(check, "stands in a block that is not always run")
        attributes = check.attributes
        values += [operand for operand in check.operands if not str(operand.type).startswith("!hal.device")]
        if "value" in attributes:
            constant = ir.Operation.create(
                "arith.constant",
                results=[attributes["value"].type],
                attributes={"value": attributes["value"]},
                loc=check.location,
                ip=ir.InsertionPoint(check),
            )
            values.append(constant.result)
        tolerances = {name: float(attributes[name].value) for name in ("atol", "rtol") if name in attributes}
        kind = check.name.removeprefix(_PREFIX).removesuffix("_const")
        returned.append(ReturnedCheck(kind=kind, **tolerances))
    (end,) = returns
    ir.Operation.create(
        end.name, operands=[*end.operands, *values], loc=end.location, ip=ir.InsertionPoint(end), results=[]
    )
    for one in (*checks, end):
        one.erase()
    attributes = function.attributes
    declared = attributes["function_type"].value
    types = [*declared.results, *(value.type for value in values)]
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(declared.inputs, types))
    if "res_attrs" in attributes:
        of_results = [*attributes["res_attrs"], *(ir.DictAttr.get({}) for _ in values)]
        attributes["res_attrs"] = ir.ArrayAttr.get(of_results)
    before = attributes.get("iree.reflection", ())
    reflection = {**{one.name: one.attr for one in before}, REFLECTION: ir.StringAttr.get(checks_text(returned))}
    attributes["iree.reflection"] = ir.DictAttr.get(reflection)


def _call_those_before(module: Any, entries: Sequence[Any]) -> None:
    """Give each of `entries` a caller of its name, which calls those before it and then returns what it returns."""
    from iree.compiler import ir

    alone = {_name(one): f"{_name(one)}{_ALONE}" for one in entries}
    for one in _walk(module.operation):
        if "callee" in one.attributes and (target := one.attributes["callee"].value) in alone:
            one.attributes["callee"] = ir.FlatSymbolRefAttr.get(alone[target])
    before: list[Any] = []
    for entry in entries:
        name, attributes = _name(entry), entry.attributes
        kept = {key: attributes[key] for key in ("function_type", "iree.reflection", "res_attrs") if key in attributes}
        caller = ir.Operation.create(
            entry.name,
            regions=1,
            attributes={**kept, "sym_name": ir.StringAttr.get(name)},
            loc=entry.location,
            ip=ir.InsertionPoint(entry),
        )
        attributes["sym_name"] = ir.StringAttr.get(alone[name])
        attributes["sym_visibility"] = ir.StringAttr.get("private")
        if "iree.reflection" in attributes:
            del attributes["iree.reflection"]
        before.append(entry)
        with ir.InsertionPoint(caller.regions[0].blocks.append()):
            for one in before:
                call = ir.Operation.create(
                    _CALLS[one.name],
                    results=one.attributes["function_type"].value.results,
                    attributes={"callee": ir.FlatSymbolRefAttr.get(_name(one))},
                    loc=one.location,
                )
            ir.Operation.create(_RETURNS[entry.name], operands=list(call.results), loc=entry.location)
