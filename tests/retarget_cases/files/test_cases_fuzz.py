"""Arbitrary cases files: they are read, or refused with errors; nothing else."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import tomlkit
from cases_support import function, load, read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from retarget.support import DiagnosticsError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.dates()
    | st.sampled_from(
        ["", "x.npy", "x.bin", "vmvx", "*", "ref.py:f", "f32", "i1", "normal", "integers", "equal", "1+2j"]
    )
).filter(lambda value: value is not None)
# fmt: off
KEYS = st.sampled_from(
    [
        "name", "function", "inputs", "expected", "reference", "agree_with", "tolerance", "values", "npy", "npz",
        "array", "bin", "fill", "iota", "step", "random", "mean", "std", "low", "high", "seed", "shape", "dtype",
        "atol", "rtol", "ulp", "nan", "f32", "float32", "vmvx", "*",
    ]
)
# fmt: on
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=8
)
CASES = st.fixed_dictionaries(
    {},
    optional={
        "function": st.sampled_from(["f", "g"]) | VALUES,
        "inputs": st.lists(VALUES, max_size=3) | VALUES,
        "expected": st.lists(VALUES, max_size=2) | VALUES,
        "agree_with": VALUES,
        "tolerance": VALUES,
        "name": VALUES,
    },
)
TYPES = st.sampled_from(
    ["tensor<2xf32>", "i1", "tensor<?x0xi8>", "tensor<2xcomplex<f32>>", "f16", "!hal.buffer_view", "tensor<2xi4>"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(CASES, min_size=1, max_size=2),
    st.lists(TYPES, max_size=2),
    st.dictionaries(st.sampled_from(["tolerance", "parameters", "x"]), VALUES, max_size=2),
)
@pytest.mark.slow
def test_a_file_is_read_or_refused_with_errors(
    folder: Path, cases: list[dict[str, object]], types: list[str], top: dict[str, object]
) -> None:
    text = tomlkit.dumps({**top, "case": cases})
    with suppress(DiagnosticsError):
        for case in load(folder, text, function("f", types, types), function("g", ["f32"], ["f32"])):
            with suppress(DiagnosticsError):
                read(case)


@pytest.mark.parametrize("text", ["\0", "case = [" * 5000, "[[case]]\ninputs = " + "[" * 400 + "]" * 400])
def test_strange_text_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(DiagnosticsError):
        read(*load(folder, text, function()))
