"""The text of ops for widths, lanes and profiles that `test_rules.py` does not execute; no device is needed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from opencl_support import shipped
from retarget_opencl.translation import TranslationError
from test_rules import _module, _translate

CASES = [
    case
    for name in ("written.txt", "matrices.txt")
    for case in Path(__file__).with_name(name).read_text().split("\n\n")[1:]
]
ALIASES = "".join(
    f"!{name}_{element} = !spirv.coopmatrix<16x16x{element}, Subgroup, {use}>\n"
    for name, use in {"left": "MatrixA", "right": "MatrixB", "sum": "MatrixAcc"}.items()
    for element in ("i8", "i32", "f16", "f32")
)


def written(case: str) -> str:
    """Return a case's first part, which ends with a line `=`, with what is written for it."""
    head, _, _ = case.partition("\n=\n")
    kinds, *body = head.splitlines()
    types, _, floats = kinds.partition(" / ")
    arguments, result = types.split(" -> ")
    profile = replace(shipped("nvidia-sm80"), half="native" if floats == "native" else "emulated")
    variables = [line for line in body if line.startswith("spirv.GlobalVariable")]
    text = _module(arguments.split(", "), result, "\n".join(line for line in body if line not in variables), variables)
    try:
        kernel, source = _translate(ALIASES + text, profile, bfloat16=floats == "bf16")
    except TranslationError as error:
        return f"{head}\n=\n{str(error).partition(' at loc(')[0]}"
    lines = [line.strip() for line in kernel.lines if "binding" not in line or "atom" in line or "matrix_" in line]
    around = [line for line in source.splitlines() if line.startswith(("#pragma OPENCL EXTENSION", "typedef struct"))]
    around += [f"needs {name}" for name in sorted(kernel.features)]
    helpers = re.findall(r"^(?!__kernel)(?:\w+ )+(\w+)\(", source, re.MULTILINE)
    around += [f"with {name}" for name in sorted(set(helpers) - {"tested"})]
    return "\n".join([head, "=", *lines, *around])


@pytest.mark.parametrize("case", CASES, ids=[case.splitlines()[1][:60] for case in CASES])
def test_an_op_is_written_so(case: str) -> None:
    assert written(case) == case.rstrip("\n")
