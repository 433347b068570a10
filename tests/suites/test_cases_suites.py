"""The shipped cases: each module says what it is for, every case could fail, and all four drivers run them."""

from __future__ import annotations

import pytest
from retarget.model import Module
from retarget_cases.files.read import read_cases_file
from shipped_suites import SUITES, all_suites

CASES_SUITES = [suite for suite in all_suites() if suite.kind == "cases"]
(SUITE,) = (suite for suite in CASES_SUITES if suite.name == "cases")
MODULES = {module.path: module for suite in CASES_SUITES for module in suite.modules}
AGREEING = {module.path for suite in CASES_SUITES if suite.agree for module in suite.modules}


def test_every_module_runs_on_all_drivers() -> None:
    assert {module.path for module in SUITE.modules} == set((SUITES / "cases").glob("*.mlir"))
    drivers = {runtime.driver for target in SUITE.targets for runtime in target.runtimes}
    assert drivers == {"local-sync", "local-task", "vulkan", "opencl"}
    assert not any(override.exclude_targets for override in SUITE.overrides)


def test_every_module_with_cases_belongs_to_a_suite() -> None:
    files = {path for path in SUITES.rglob("*.cases.toml") if "models" not in path.parts}  # those are of ONNX models
    assert {path.with_suffix("").with_suffix(".mlir") for path in files} == set(MODULES)


@pytest.mark.parametrize("module", MODULES.values(), ids=lambda module: module.path.relative_to(SUITES).as_posix())
def test_a_module_says_what_it_is_for_and_its_cases_could_fail(module: Module) -> None:
    if "found" not in module.path.parts:  # what `retarget fuzz` wrote is explained by its suite.toml
        assert module.path.read_text(encoding="utf-8").startswith("// ")
    (data,) = module.data
    for case in read_cases_file(data, module.path.parent).cases:
        ways = [one for one in (case.expected, case.reference, case.agreement) if one is not None]
        assert len(ways) == (0 if case.is_open and module.path in AGREEING else 1)


def test_every_way_to_judge_and_every_sort_of_value_is_shown() -> None:
    cases = [case for module in SUITE.modules for case in read_cases_file(module.data[0], module.path.parent).cases]
    assert any(case.reference for case in cases)
    assert any(case.agreement for case in cases)
    tables = {type(value.table).__name__ for case in cases for value in (*case.inputs, *(case.expected or ()))}
    assert tables >= {"ValuesTable", "NormalTable", "UniformTable", "IntegersTable", "IotaTable", "FillTable"}
