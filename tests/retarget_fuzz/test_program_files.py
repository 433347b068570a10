"""A program as files: the cases that the kind `cases` reads of them have its inputs and expected values."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from declaration_texts import compiler, load_all, runtime
from retarget.extension import CaseRequest, FunctionInfo, Tolerance
from retarget.model import Module
from retarget_cases.loader import CasesLoader
from retarget_fuzz.suites import write_module, write_suite

SPECIAL = [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan")]
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64}
ARRAYS = [
    *((f"6x{name}", np.array(SPECIAL, dtype)) for name, dtype in TYPES.items()),
    ("f32", np.array(1e-45, np.float32)),
    ("2x2xi1", np.array([[True, False], [False, True]])),
    ("2xi64", np.array([-(2**63), 2**63 - 1])),
    ("0x3xf32", np.zeros((0, 3), np.float32)),
    ("9x9xbf16", np.arange(81).reshape(9, 9).astype(ml_dtypes.bfloat16)),
    ("?x9xi8", np.arange(81, dtype=np.int8).reshape(9, 9)),
    ("?x0xf32", np.zeros((2, 0), np.float32)),
]


def written(folder: Path, array: Any) -> Module:
    expected = SimpleNamespace(value=array, atol=0.25, rtol=1e-7)
    program: Any = SimpleNamespace(module=lambda: "", inputs=(array,), expected=lambda: (expected, expected))
    return write_module(folder, program)


@pytest.mark.parametrize(("type_", "array"), ARRAYS, ids=[name for name, _ in ARRAYS])
def test_arrays_come_back_as_they_are(type_: str, array: Any, tmp_path: Path) -> None:
    module, types = written(tmp_path, array), (f"tensor<{type_}>",)
    function = FunctionInfo(name="f", arguments=1, argument_types=types, result_types=2 * types)
    request = CaseRequest(
        module="m", source=module.path, data=module.data, folder=tmp_path, compiler="c", functions=(function,)
    )
    (case,) = CasesLoader().load(request)
    values = case.values()
    assert values.expected is not None
    for found in (*values.inputs, *values.expected):
        assert found is not None
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.tobytes() == array.tobytes() or np.isnan(array.astype(np.float64)).any()
    if array.dtype.kind not in "biu":
        assert case.tolerances[array.dtype.name] == Tolerance(atol=0.25, rtol=1e-7)


def test_a_suite_declares_the_module_on_its_configs(cwd: Path) -> None:
    (cwd / "matrix.toml").write_text(compiler("a") + compiler("b") + runtime("r") + runtime("s"))
    written(cwd / "found/it", np.zeros(3, np.float32))
    write_suite(cwd / "found/it", "it", {"a": ["r", "s"], "b": ["s"]}, comment="Found\nby", timeout=60)
    (suite,) = load_all([cwd / "found/it/suite.toml"])
    assert (suite.name, suite.kind, suite.timeout, [one.name for one in suite.modules]) == (
        "it",
        "cases",
        60,
        ["module"],
    )
    pairs = [(one.compilers[0].name, [runtime.name for runtime in one.runtimes]) for one in suite.targets]
    assert pairs == [("a", ["r", "s"]), ("b", ["s"])]
    assert (cwd / "found/it/suite.toml").read_text().startswith("# Found\n# by\n[[target_config]]")
