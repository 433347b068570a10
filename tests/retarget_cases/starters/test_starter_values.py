"""The inputs that `retarget init` writes into starter cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.extension import ModulesRequest
from retarget_cases.starters import cases_suites


@pytest.mark.parametrize(
    ("element", "written"),
    [
        ("i1", '{ random = "integers", low = 0, high = 2 }'),
        ("i2", '{ random = "integers", low = 0, high = 2 }'),
        ("si4", '{ random = "integers", low = 1, high = 5 }'),
        ("i32", '{ random = "integers", low = 1, high = 5 }'),
        ("f8E4M3FN", '{ random = "uniform", low = -1, high = 1 }'),
        ("f8E8M0FNU", '{ random = "uniform", low = 1, high = 4 }'),
    ],
)
def test_inputs_are_numbers_that_the_element_type_has(tmp_path: Path, element: str, written: str) -> None:
    path = tmp_path / "m.mlir"
    kind = f"tensor<4x{element}>"
    path.write_text(f"func.func @f(%a: {kind}) -> {kind} {{ return %a : {kind} }}\n")

    (suite,) = cases_suites(ModulesRequest(folder=tmp_path, files=(path,), reference="vmvx")).suites

    ((_, text),) = suite.writes
    assert f"inputs = [{written}]" in text
