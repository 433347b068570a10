"""The shipped declarations and modules: they validate, every module says what it tests, and every function checks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from retarget.model import Suite
from shipped_suites import SUITES, all_suites

OTHER_KINDS = (
    "cases",
    "data-tiling",
    "filecheck",
    "found",
    "multi-device",
    "parameters",
    "run-module",
    "small-types/cases",
    "small-types/run-module",
)
"""Folders of modules that do not check themselves: see test_cases_suites.py, test_filecheck_suites.py, test_demo.py."""
MODULES = sorted(set(SUITES.rglob("*.mlir")).difference(*((SUITES / kind).rglob("*.mlir") for kind in OTHER_KINDS)))
RUNNABLE = {"llvm-cpu", "vmvx", "vulkan"}


@pytest.fixture(scope="module")
def suites() -> tuple[Suite, ...]:
    return all_suites()


def relative(path: Path) -> str:
    return path.relative_to(SUITES).as_posix()


def test_the_shipped_files_are_without_errors_and_hold_at_least_sixty_check_modules(suites: tuple[Suite, ...]) -> None:
    modules = {module.path for suite in suites for module in suite.modules if suite.kind == "check"}
    assert len(modules) >= 60


def test_every_module_belongs_to_a_suite_that_runs_it_with_llvm_cpu(suites: tuple[Suite, ...]) -> None:
    ran = set()
    for suite in suites:
        if "llvm-cpu" not in {target.name for target in suite.targets}:
            continue
        for override in suite.overrides:
            assert "llvm-cpu" not in override.exclude_targets, f"{suite.name}: {override.match}"
        ran |= {module.path for module in suite.modules}
    check_modules = {path for path in MODULES if "check.expect" in path.read_text(encoding="utf-8")}
    assert check_modules <= ran


def test_what_is_taken_out_names_the_version_that_cannot_do_it(suites: tuple[Suite, ...]) -> None:
    for suite in suites:
        for override in suite.overrides:
            if RUNNABLE & set(override.exclude_targets):
                assert override.reason.startswith("IREE 3."), f"{suite.name}: {override.match}: {override.reason}"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_module_starts_with_a_comment_that_shows_its_numbers_and_every_function_checks(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    comment = text.partition("\n\n")[0]
    assert comment.startswith("// ")
    assert re.search(r"\b[Nn]umbers\b", comment), "the comment says where the numbers come from"
    functions = re.split(r"^(?:util|func)\.func ", text, flags=re.MULTILINE)[1:]
    exported = [function for function in functions if not function.startswith("private")]
    assert exported
    for function in exported:
        assert "check.expect" in function, function.partition("\n")[0]
