"""What two runs gave, compared; and inputs generated from types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from retarget.extension import Tolerance
from retarget.model.outcomes import OutputComparison
from retarget.support.errors import RetargetError
from retarget.worker.child.outputs import OutputsWriter, compare_outputs, read_outputs

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
