"""The text of ops for widths, lanes and profiles that `test_rules.py` does not execute; no device is needed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from opencl_support import shipped
from retarget_opencl.translation import TranslationError
from test_rules import _module, _translate

CASES = Path(__file__).with_name("written.txt").read_text().split("\n\n")[1:]


def written(case: str) -> str:
    """Return a case's first part, which ends with a line `=`, with what is written for it."""
    head, _, _ = case.partition("\n=\n")
    kinds, *body = head.splitlines()
    arguments, result, half = kinds.replace("->", "/").split(" / ") if kinds.count("/") else (*kinds.split(" -> "), "")
    profile = replace(shipped("nvidia-sm80"), half="native" if half else "emulated")
    try:
        kernel, source = _translate(_module(arguments.split(", "), result, "\n".join(body)), profile)
    except TranslationError as error:
        return f"{head}\n=\n{str(error).partition(' at loc(')[0]}"
    lines = [line.strip() for line in kernel.lines if "binding" not in line or "atom" in line]
    wanted = [line for line in source.splitlines() if line.startswith(("#pragma OPENCL EXTENSION", "typedef struct"))]
    helpers = re.findall(r"^(?!__kernel)(?:\w+ )+(\w+)\(", source, re.MULTILINE)
    return "\n".join([head, "=", *lines, *wanted, *(f"with {name}" for name in sorted(set(helpers) - {"tested"}))])


@pytest.mark.parametrize("case", CASES, ids=[case.splitlines()[1][:60] for case in CASES])
def test_an_op_is_written_so(case: str) -> None:
    assert written(case) == case.rstrip("\n")
