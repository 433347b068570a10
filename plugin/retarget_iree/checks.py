"""The kind `check`: modules that check themselves with IREE's check dialect.

For tools that know no check module, what a check compares becomes results of its function. The results follow the
function's own, in the order of the checks; the function's reflection says, as text, what is to hold for them. This
needs the compiler's Python bindings, which are imported where they are used.

    python3 -m retarget_iree.checks MODULE -o FILE

    MODULE              .mlir or .mlirbc
    -o FILE             the text of the module whose functions return what they would check

Exit status: 0 if it was written, 1 if checks cannot be returned, 2 if the command line is wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple
from retarget.extension import (
    Case,
    CaseData,
    CaseLoader,
    CaseRequest,
    CompilerError,
    ModulesRequest,
    SuggestedSuite,
    Suggestions,
    UnavailableError,
)
from retarget.support import RetargetError, ScratchFolder

from retarget_iree.toolchain import command, compiler_api

_LARGEST_TEXT = 64 << 20
"""Bytes of a module that are looked into."""
_CHECK = re.compile(rb"\bcheck\.expect_\w+")
_COMMENT = re.compile(rb"//[^\n]*")


class CheckCaseLoader(CaseLoader):
    """Every exported function is one case, in the module's order.

    That of one that takes arguments, or does not say, fails: its checks cannot be made. A module with no other gives
    no case, which is reported as a failure. A case without a check fails too: it could not have failed otherwise.
    """

    kind = "check"
    precedence = 30

    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return one case per function; none where all take arguments."""
        if all(function.arguments != 0 for function in request.functions):
            return ()
        return [
            Case(name=one.name, function=one.name, read=_refuse if one.arguments != 0 else None)
            for one in request.functions
        ]

    def return_checks_version(self) -> str:
        """Name the rewriting by its code."""
        return sha256(Path(__file__).read_bytes()).hexdigest()

    def return_checks(self, source: bytes, name: str) -> bytes:
        """Return the module with checks as results; see the function `return_checks`."""
        return return_checks(source, name)

    def return_checks_command(self, source: Path, output: Path) -> Sequence[str]:
        """Return the command that writes it to a file."""
        return (command("python"), "-m", "retarget_iree.checks", str(source), "-o", str(output))

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return one suite of all modules that make checks of their own."""
        files = []
        left_out = []
        for path in request.files:
            if path.suffix == ".mlirbc":
                reason = "is MLIR bytecode, whose functions cannot be seen without the compiler"
                left_out.append((path, f"{reason}; add it to a suite by hand"))
            elif path.suffix == ".mlir":
                with path.open("rb") as stream:
                    content = stream.read(_LARGEST_TEXT)
                if _CHECK.search(_COMMENT.sub(b"", content)):
                    files.append(path)
        comment = (
            "Modules that check themselves: every function without arguments is run,",
            "and all of its check.expect_… operations must hold.",
        )
        suites = (SuggestedSuite(files=tuple(files), comment=comment),) if files else ()
        return Suggestions(suites=suites, left_out=tuple(left_out))


def _refuse() -> CaseData:
    msg = "the function takes arguments, so that its checks cannot be made; make it private if others call it"
    raise RetargetError(msg)


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
        called = {str(one.attributes["callee"]) for one in walk(module.operation) if "callee" in one.attributes}
        for function in functions:
            if checks := [one for one in walk(function) if one.name.startswith(_PREFIX)]:
                if f"@{symbol_of(function)}" in called:
                    raise _refusal(checks[0], "stands in a function that others call")
                _return_values(function, checks)
        entries = [one for one in functions if is_public(one) and len(one.regions[0].blocks) > 0]
        entries = [one for one in entries if not one.attributes["function_type"].value.inputs]  # these are cases
        if any(one.name.endswith(".global") and "is_mutable" in one.attributes for one in _operations(module.body)):
            _call_those_before(module, entries)
        return str(module.operation.get_asm(enable_debug_info=True)).encode()


def _operations(block: Any) -> list[Any]:
    return [one.operation for one in block.operations]


def walk(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for one in _operations(block):
                yield one
                yield from walk(one)


def symbol_of(function: Any) -> str:
    return str(function.attributes["sym_name"].value)


def is_public(function: Any) -> bool:
    return "sym_visibility" not in function.attributes or function.attributes["sym_visibility"].value == "public"


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

    alone = {symbol_of(one): f"{symbol_of(one)}{_ALONE}" for one in entries}
    for one in walk(module.operation):
        if "callee" in one.attributes and (target := one.attributes["callee"].value) in alone:
            one.attributes["callee"] = ir.FlatSymbolRefAttr.get(alone[target])
    before: list[Any] = []
    for entry in entries:
        name, attributes = symbol_of(entry), entry.attributes
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
                    attributes={"callee": ir.FlatSymbolRefAttr.get(symbol_of(one))},
                    loc=one.location,
                )
            ir.Operation.create(_RETURNS[entry.name], operands=list(call.results), loc=entry.location)


REFLECTION = "retarget.checks"
"""The reflection attribute of a function that has the text."""


class ReturnedCheck(Struct, frozen=True, kw_only=True):
    """One check, in the words of `retarget.extension.Check`, whose values are among a function's results."""

    kind: str
    atol: float = 0.0
    rtol: float = 0.0

    @property
    def values(self) -> int:
        """How many results it has: what is checked, and with `eq` and `almost_eq` what is expected."""
        return 2 if self.kind in {"eq", "almost_eq"} else 1


def checks_text(checks: Sequence[ReturnedCheck]) -> str:
    """Return the text of checks whose values are the last results of a function, in order."""
    return json.dumps([astuple(check) for check in checks])


def checks_in(reflection: Mapping[str, str]) -> tuple[ReturnedCheck, ...]:
    """Return the checks that a function returns the values of; none for a function that was not rewritten."""
    written = json.loads(reflection.get(REFLECTION, "[]"))
    return tuple(ReturnedCheck(kind=kind, atol=atol, rtol=rtol) for kind, atol, rtol in written)


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m retarget_iree.checks", description="Let checks be results.")
    parser.add_argument("module", type=Path, metavar="MODULE", help=".mlir or .mlirbc")
    parser.add_argument("-o", required=True, type=Path, dest="output", metavar="FILE", help="file to write")
    options = parser.parse_args(argv)
    try:
        options.output.write_bytes(return_checks(options.module.read_bytes(), options.module.name))
    except (CompilerError, UnavailableError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
