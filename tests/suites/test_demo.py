"""What `make demo` takes of the shipped suites: some of everything, and little enough to be soon done."""

from __future__ import annotations

import pytest
from retarget.model import CompileTarget, RunTarget, Suite, Target
from retarget.session import expand_suite, load_extensions
from shipped_suites import SUITES, all_suites


@pytest.fixture(scope="module")
def suites() -> tuple[Suite, ...]:
    """All shipped suites but the one of `make conformance`."""
    return tuple(suite for suite in all_suites() if "conformance" not in suite.tags)


@pytest.fixture(scope="module")
def demo(suites: tuple[Suite, ...]) -> list[Target]:
    registry = load_extensions()
    targets = [target for suite in suites for target in expand_suite(suite, registry)]
    return [target for target in targets if "demo" in target.tags and not {"intel", "sanitize"} & set(target.tags)]


def test_every_folder_of_suites_is_in_the_demo(demo: list[Target]) -> None:
    shown = {target.folder for target in demo if isinstance(target, CompileTarget)}
    assert shown == {path.parent for path in SUITES.glob("*/suite.toml")}


def test_every_kind_and_every_driver_of_the_suites_is_in_the_demo(
    suites: tuple[Suite, ...], demo: list[Target]
) -> None:
    assert {suite.kind for suite in suites} == {target.kind for target in demo if isinstance(target, CompileTarget)}
    drivers = {runtime.driver for suite in suites for target in suite.targets for runtime in target.runtimes}
    assert drivers == {target.runtime.driver for target in demo if isinstance(target, RunTarget)}


def test_the_demo_shows_known_failures_and_compiles_little(demo: list[Target]) -> None:
    names = {target.name for target in demo}
    assert {"empty_vulkan_vulkan", "test_det_2d_llvm-cpu"} <= names
    assert len([target for target in demo if isinstance(target, CompileTarget)]) <= 125
