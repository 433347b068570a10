"""Which instructions the ops of a host program become, op by op; nothing is compiled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from retarget_iree.toolchain import compiler_api
from retarget_opencl.compile.frontend import _settle_dialects
from retarget_opencl.hostprog.rules import HOST_RULES
from retarget_opencl.hostprog.writer import FunctionWriter, Symbols
from retarget_opencl.translation import TranslationError

CASES = Path(__file__).with_name("instructions.txt").read_text().split("\n\n")[1:]
DECLARATIONS = """
util.global private mutable @state : i32
util.global private mutable @other : i32
util.func private @callee(i32, i32) -> (i32, i32)
util.func private @imported(i32)
"""


def instructions(case: str) -> str:
    """Return a case's ops, which end with a line `=`, with the function that they become."""
    head, _, _ = case.partition("\n=")
    first, *body = head.splitlines()
    arguments = first if "->" in first else f"{first})"
    _settle_dialects()
    with compiler_api().Session() as session, session.context:
        from iree.compiler import ir

        last = "" if body[-1].startswith(("util.return", "hal.return", "cf.", "util.unreachable")) else "util.return"
        module = ir.Module.parse("\n".join([DECLARATIONS, f"util.func @tested({arguments} {{", *body, last, "}"]))
        function = list(module.body.operations)[-1].operation
        symbols = Symbols(
            functions={"tested": 0, "callee": 1},
            globals={"state": 0, "other": 1},
            kernels={"ex::k": 3, "ex::l": 4},
            together=lambda kernels: 5 if kernels == [3, 3] else None,
        )
        writer = FunctionWriter("tested", symbols, HOST_RULES)
        try:
            written = writer.write(function.regions[0])
        except TranslationError as error:
            return f"{head}\n=\n{str(error).partition(' at loc(')[0]}"
        finally:
            del module, function
    lines = [f"{one.register}: {one.kind} {one.value}" for one in written.constants]
    for number, block in enumerate(written.blocks):
        lines += [f"^{number}", *(" ".join(map(str, words)) for words in block)]
    lines += [f"blob {bytes(data).hex()}" for data in symbols.blobs]
    return "\n".join([head, "=", f"{written.registers} registers", *lines])


@pytest.mark.parametrize("case", CASES, ids=[case.splitlines()[1][:60] for case in CASES])
def test_an_op_becomes_these_instructions(case: str) -> None:
    assert instructions(case) == case.rstrip("\n")


def test_each_op_with_a_rule_has_an_example() -> None:
    words = {word for case in CASES for word in re.findall(r"[\w.]+", case)}
    assert sorted(HOST_RULES.keys() - words) == []
