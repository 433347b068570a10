"""What a run showed becomes rules: minimal, true, and the same again when nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, assume, given, settings
from retarget.expansion import expand
from retarget.expectations import RuleBook
from retarget.expectations_rules import Key, key_of
from retarget.expectations_text import rewrite, rule_text
from retarget.expectations_update import SuiteTargets, Update, plan_update
from retarget.expectations_verdict import Ruling, judge
from retarget.extensions import Registry
from retarget.model import (
    CompilerConfig,
    CompileTarget,
    Expectation,
    Module,
    Origin,
    RunTarget,
    RuntimeConfig,
    Suite,
    Target,
    TargetConfig,
)
from retarget.outcomes import Observation

TODAY = date(2026, 5, 1)
FOLDER = Path("/project/suites")
RULES = FOLDER / "expectations.toml"
ORIGIN = Origin(file=FOLDER / "suite.toml", key_path="module_test_suite[0]")

COMPILERS = {"llvm-cpu": ("cpu",), "vmvx": ("cpu",), "vulkan": (), "opencl": ()}
RUNTIMES = {
    "sync": ("local-sync", ("llvm-cpu", "vmvx")),
    "task": ("local-task", ("llvm-cpu", "vmvx")),
    "gpu": ("vulkan", ("vulkan",)),
    "pocl": ("opencl", ("opencl",)),
}


def suite(
    modules: Sequence[str] = ("a", "b", "c"),
    *,
    name: str = "ops",
    folder: Path = FOLDER,
    compilers: Sequence[str] = tuple(COMPILERS),
    rules: Sequence[Expectation] = (),
    tags: Mapping[str, tuple[str, ...]] | None = None,
) -> SuiteTargets:
    """A suite on some of four compiler configs; the first two run on two runtimes each."""
    targets = []
    for compiler in compilers:
        config = CompilerConfig(name=compiler, compiler="iree", tags=COMPILERS[compiler], origin=ORIGIN)
        runtimes = tuple(
            RuntimeConfig(name=runtime, driver=driver, host_os=("linux",), origin=ORIGIN)
            for runtime, (driver, serves) in RUNTIMES.items()
            if compiler in serves
        )
        targets.append(TargetConfig(name=f"on-{compiler}", compilers=(config,), runtimes=runtimes, origin=ORIGIN))
    made = Suite(
        name=name,
        folder=folder,
        modules=tuple(
            Module(name=module, path=folder / f"{module}.mlir", tags=(tags or {}).get(module, ()))
            for module in modules
        ),
        kind="check",
        targets=tuple(targets),
        expectations=tuple(rules),
        origin=ORIGIN,
    )
    return SuiteTargets(suite=made, targets=expand(made, Registry(compilers={}, drivers={}, case_loaders={}, origins={})))


def rule(index: int, match: str | Sequence[str], when: str = "", **fields: object) -> Expectation:
    values: dict[str, object] = {"stages": ("compile",), "reason": f"reason {index}", **fields}
    names = (match,) if isinstance(match, str) else tuple(match)
    origin = Origin(file=RULES, key_path=f"expectation[{index}]")
    return Expectation(match=names, when=when, origin=origin, **values)  # type: ignore[arg-type]


def passing(one: SuiteTargets) -> dict[Key, Observation | None]:
    return {key_of(target): None for target in one.targets}


def observe(one: SuiteTargets, failures: Mapping[str, Observation]) -> dict[Key, Observation | None]:
    """Everything passed but for these targets; what needs an artifact that is not there was not observed."""
    name = one.suite.name
    seen: dict[Key, Observation | None] = {}
    for target in one.targets:
        if isinstance(target, RunTarget) and target.compile.name in failures:
            continue
        seen[name, target.name] = failures.get(target.name)
    assert failures.keys() <= {target.name for target in one.targets}
    return seen


def update(*suites: SuiteTargets, seen: Mapping[Key, Observation | None]) -> Update:
    return plan_update(suites, seen, day=TODAY)


def written(found: Update) -> list[tuple[tuple[str, ...], str, tuple[str, ...], str]]:
    return [
        (new.match, new.when, new.stages, new.signature) for edit in found.edits for _, new in edit.new
    ]


def changed(found: Update) -> list[tuple[int, tuple[str, ...], str]]:
    return [(change.index, change.match, change.when) for edit in found.edits for change in edit.changes]


REFUSED = Observation(stage="compile", signature="failed to legalize operation 'torch.aten.x'")
OTHER = Observation(stage="compile", signature="failed to legalize operation 'torch.aten.y'")
WRONG = Observation(stage="compare", signature="values differ")
CRASHED = Observation(stage="crash", signature="SIGSEGV")


def everywhere(module: str, seen: Observation, compilers: Sequence[str] = tuple(COMPILERS)) -> dict[str, Observation]:
    return {f"{module}_{compiler}": seen for compiler in compilers}


# ------------------------------------------------------------ new rules are minimal


def test_all_configs_and_equal_signatures_become_one_rule_without_an_expression() -> None:
    one = suite()
    found = update(one, seen=observe(one, everywhere("a", REFUSED) | everywhere("c", REFUSED)))
    assert written(found) == [(("a", "c"), "", ("compile",), REFUSED.signature)]
    ((_, new),) = found.edits[0].new
    assert new.reason == "iree does not compile it: failed to legalize operation 'torch.aten.x'"
    assert (found.edits[0].file, found.edits[0].rules, found.edits[0].targets) == (RULES, 1, 8)


def test_different_signatures_become_rules_of_their_own() -> None:
    one = suite()
    found = update(one, seen=observe(one, everywhere("a", REFUSED) | everywhere("c", OTHER)))
    assert [match for match, *_ in written(found)] == [("a",), ("c",)]


@pytest.mark.parametrize(
    ("compilers", "when"),
    [
        (["vulkan"], "vulkan"),
        (["llvm-cpu", "vmvx"], "cpu"),
        (["llvm-cpu", "vmvx", "vulkan"], "not opencl"),
        (["llvm-cpu", "vulkan"], "llvm-cpu or vulkan"),
    ],
)
def test_failures_that_share_a_tag_become_one_rule_with_it(compilers: list[str], when: str) -> None:
    one = suite()
    found = update(one, seen=observe(one, everywhere("a", REFUSED, compilers)))
    assert written(found) == [(("a",), when, ("compile",), REFUSED.signature)]


@pytest.mark.parametrize(
    ("targets", "when"),
    [
        (["a_llvm-cpu_sync", "a_vmvx_sync"], "sync"),
        (["a_llvm-cpu_sync", "a_llvm-cpu_task"], "llvm-cpu"),
        (["a_vmvx_task"], "vmvx and task"),
        (["a_vmvx_task", "a_vulkan_gpu"], "vulkan or (vmvx and task)"),
    ],
)
def test_run_failures_are_told_apart_by_the_words_of_their_runtimes(targets: list[str], when: str) -> None:
    one = suite()
    found = update(one, seen=observe(one, dict.fromkeys(targets, WRONG)))
    assert [text for _, text, *_ in written(found)] == [when]


def test_what_was_not_observed_is_not_covered() -> None:
    one = suite()
    seen = {key: value for key, value in observe(one, everywhere("a", REFUSED)).items() if "opencl" not in key[1]}
    assert written(update(one, seen=seen)) == [(("a",), "not opencl", ("compile",), REFUSED.signature)]
