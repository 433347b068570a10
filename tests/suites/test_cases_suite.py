"""The shipped cases: each module says what it is for, every case could fail, and all four drivers run them."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.declare.load import load_all
from retarget.extension.registry import load_extensions
from retarget.model import Module, Suite
from retarget_cases.files.read import read_cases_file

FOLDER = Path(__file__).resolve().parents[2] / "suites" / "cases"


def shipped() -> Suite:
    (suite,) = load_all([FOLDER], registry=load_extensions())
    return suite


SUITE = shipped()


def test_every_module_runs_on_all_drivers() -> None:
    assert {module.path for module in SUITE.modules} == set(FOLDER.glob("*.mlir"))
    drivers = {runtime.driver for target in SUITE.targets for runtime in target.runtimes}
    assert drivers == {"local-sync", "local-task", "vulkan", "opencl"}
    assert not any(override.exclude_targets for override in SUITE.overrides)


@pytest.mark.parametrize("module", SUITE.modules, ids=lambda module: module.name)
def test_a_module_says_what_it_is_for_and_its_cases_could_fail(module: Module) -> None:
    assert module.path.read_text(encoding="utf-8").startswith("// ")
    (data,) = module.data
    for case in read_cases_file(data, FOLDER).cases:
        assert (case.expected is None) + (case.reference is None) + (case.agreement is None) == 2


def test_every_way_to_judge_and_every_sort_of_value_is_shown() -> None:
    cases = [case for module in SUITE.modules for case in read_cases_file(module.data[0], FOLDER).cases]
    assert any(case.reference for case in cases)
    assert any(case.agreement for case in cases)
    tables = {type(value.table).__name__ for case in cases for value in (*case.inputs, *(case.expected or ()))}
    assert tables >= {"ValuesTable", "NormalTable", "UniformTable", "IntegersTable", "IotaTable", "FillTable"}
