"""What two runs gave, compared; and inputs generated from types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from retarget.extension import Case, FunctionInfo, Tolerance
from retarget.model.outcomes import OutputComparison
from retarget.support.errors import RetargetError
from retarget.worker.child.outputs import OutputsWriter, compare_outputs, read_outputs
from retarget.worker.child.run_in_process import seeded_cases

SIDES = ("llvm-cpu", "vmvx")


def recorded(folder: Path, **cases: tuple[list[Any], list[Any]]) -> Path:
    writer = OutputsWriter(folder / "of" / "a run")
    for name, (results, checked) in cases.items():
        as_arrays = [[np.asarray(value, np.float32) for value in values] for values in (results, checked)]
        writer.add(name, *as_arrays, judged=bool(checked))
    writer.close()
    return writer.folder


def compared(left: Path, right: Path, **tolerance: Any) -> OutputComparison:
    return compare_outputs((left, right), SIDES, Tolerance(**tolerance))


def test_equal_outputs_are_counted(tmp_path: Path) -> None:
    left = recorded(tmp_path / "a", f=([[1, 2]], [[3]]), g=([4], []))
    right = recorded(tmp_path / "b", f=([[1, 2]], [[3]]), g=([4], []))
    assert compared(left, right) == OutputComparison(cases=2, arrays=3, values=4, judged=1)
    assert [case.judged for case in read_outputs(left)] == [True, False]


def test_the_first_and_the_worst_difference_are_reported_with_the_names_of_both(tmp_path: Path) -> None:
    left = recorded(tmp_path / "a", f=([[1, 2, 3]], []), g=([], [[1, 1], [8, 8]]))
    right = recorded(tmp_path / "b", f=([[1, 2, 3.0000002]], []), g=([], [[1, 1], [8, 4]]))
    found = compared(left, right)
    assert (found.arrays, found.values, found.differing) == (3, 7, 2)
    assert found.first is not None
    assert found.worst is not None
    assert (found.first.case, found.first.place, found.first.max_ulp) == ("f", "result 0", 1)
    assert (found.worst.case, found.worst.place) == ("g", "check 2")
    assert found.worst.mismatch.summary == "1 of 2 elements differ, first at [1]: llvm-cpu 8.0, vmvx 4.0"
    assert found.worst.mismatch.report.split("\n")[1].split() == ["index", *SIDES, "abs", "error", "rel", "error"]
    assert compared(left, right, ulp=1).differing == 1
    assert compared(left, right, atol=4.0).differing == 0


def test_other_shapes_and_counts_are_the_worst(tmp_path: Path) -> None:
    left = recorded(tmp_path / "a", f=([[1, 2]], []), g=([[1.0]], []), h=([1, 2], []))
    right = recorded(tmp_path / "b", f=([[1, 3]], []), g=([[1.0, 2.0]], []), h=([1], []))
    found = compared(left, right)
    assert found.differing == 3
    assert found.worst is not None
    assert (found.worst.case, found.worst.mismatch.summary) == ("h", "llvm-cpu has 2, vmvx has 1")
    found = compared(recorded(tmp_path / "c", g=([[1.0]], [])), recorded(tmp_path / "d", g=([[1.0, 2.0]], [])))
    assert found.worst is not None
    assert found.worst.mismatch.summary == "shape differs: llvm-cpu 1xfloat32, vmvx 2xfloat32"


def test_cases_that_one_did_not_finish_are_named(tmp_path: Path) -> None:
    left = recorded(tmp_path / "a", f=([1], []), g=([1], []))
    right = recorded(tmp_path / "b", f=([1], []), h=([1], []))
    assert compared(left, right).unmatched == (("g", "vmvx"), ("h", "llvm-cpu"))


def test_a_folder_without_outputs_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RetargetError, match="no recorded outputs can be read from"):
        compared(recorded(tmp_path / "a"), tmp_path / "b")


# ---------------------------------------------------------------- inputs generated from types


def function(*types: str, name: str = "f") -> FunctionInfo:
    return FunctionInfo(name=name, arguments=len(types), argument_types=types)


def inputs(*types: str, seed: int = 0) -> tuple[Any, ...]:
    (case,) = seeded_cases([function(*types)], [function(*types)], [], seed)
    assert case.read is not None
    return case.read().inputs


def test_inputs_have_the_declared_types_and_open_sizes_are_four() -> None:
    made = inputs("tensor<2x3xf32>", "tensor<?x1xi8>", "i32", "tensor<f64>", "tensor<2xi1>", "tensor<2xbf16>", "ui16")
    assert [(array.shape, array.dtype.name) for array in made] == [
        ((2, 3), "float32"),
        ((4, 1), "int8"),
        ((), "int32"),
        ((), "float64"),
        ((2,), "bool"),
        ((2,), "bfloat16"),
        ((), "uint16"),
    ]
    assert inputs("tensor<2xcomplex<f32>>", "tensor<2xf8E4M3FN>")[1].dtype.name == "float8_e4m3fn"


@pytest.mark.parametrize(
    ("element", "lowest", "highest"),
    [("i2", -2, 1), ("ui2", 0, 3), ("i4", -8, 7), ("ui4", 0, 8), ("i8", -8, 8), ("f4E2M1FN", -2, 2), ("f8E3M4", -2, 2)],
)
def test_inputs_of_small_types_go_from_end_to_end(element: str, lowest: int, highest: int) -> None:
    drawn = inputs(f"tensor<400x{element}>")[0].astype(float)
    assert (drawn.min(), drawn.max()) == (lowest, highest)


def test_inputs_of_powers_of_two_have_no_sign() -> None:
    drawn = inputs("tensor<100xf8E8M0FNU>")[0].astype(float)
    assert (drawn > 0).all()
    assert drawn.max() == 2


def test_inputs_are_the_same_every_time_and_others_with_another_seed() -> None:
    assert np.array_equal(inputs("tensor<8xf32>")[0], inputs("tensor<8xf32>")[0])
    assert not np.array_equal(inputs("tensor<8xf32>")[0], inputs("tensor<8xf32>", seed=1)[0])
    first, second = inputs("tensor<8xf32>", "tensor<8xf32>")
    assert not np.array_equal(first, second)


def test_only_functions_that_take_something_and_have_no_case_get_one() -> None:
    functions = [function("i32"), function(name="g"), function("i32", name="h"), FunctionInfo(name="k", arguments=None)]
    cases = seeded_cases(functions, functions, [Case(name="mine", function="h")], 0)
    assert [(case.name, case.function, case.expected) for case in cases] == [("f", "f", None)]


def test_a_compiler_s_own_name_of_a_function_changes_neither_the_case_nor_its_inputs() -> None:
    declared = function("tensor<8xf32>", name="net")
    (case,) = seeded_cases([declared], [FunctionInfo(name="main", arguments=1)], [], 0)
    (other,) = seeded_cases([declared], [declared], [], 0)
    assert (case.name, case.function) == ("net", "main")
    assert case.read is not None
    assert other.read is not None
    assert np.array_equal(case.read().inputs[0], other.read().inputs[0])


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (function("!hal.fence"), "argument 0 is a !hal.fence, expected a number or a tensor of numbers"),
        (function("i32", "tensor<2x!util.buffer>"), "argument 1 is a tensor<2x!util.buffer>"),
        (function("tensor<*xf32>"), r"argument 0 is a tensor<\*xf32>"),
        (FunctionInfo(name="f", arguments=1), "the artifact does not say what it takes"),
    ],
)
def test_what_no_inputs_can_be_made_for_is_reported(info: FunctionInfo, message: str) -> None:
    (case,) = seeded_cases([info], [info], [], 0)
    assert case.read is not None
    with pytest.raises(RetargetError, match=f"no inputs can be generated for function 'f': {message}"):
        case.read()
