"""The digest of what an outcome depends on: what changes it, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model_targets import compile_target, run_target
from retarget.engine.run.dependencies import RunDependencies
from retarget.extension.registry import load_extensions
from retarget.model.outcomes import Artifact, CompileOutcome

COMPILED = CompileOutcome(
    key="k", seconds=1.0, reused=False, artifact=Artifact(digest="d", size=1, path="/here"), build="iree 1"
)
REGISTRY = load_extensions(())


def digest(target: object = None, compiled: CompileOutcome = COMPILED, *more: str, cases: str = "c") -> str:
    found = target if target is not None else run_target(compile_target(kind="check"))
    return RunDependencies(REGISTRY, ()).of(found, compiled, cases, *more)  # type: ignore[arg-type]


def test_neither_the_compile_key_nor_where_the_artifact_lies_counts_where_there_is_one() -> None:
    same = replace(COMPILED, key="other", reused=True, artifact=Artifact(digest="d", size=1, path="/there"))
    assert digest(compiled=same) == digest()


def test_artifact_cases_runtime_and_what_else_is_given_count() -> None:
    target = run_target(compile_target(kind="check"))
    others = [
        digest(compiled=replace(COMPILED, artifact=Artifact(digest="e", size=1, path="/here"))),
        digest(compiled=replace(COMPILED, artifact=None)),
        digest(compiled=replace(COMPILED, artifact=None, key="other")),
        digest(cases="other"),
        digest(None, COMPILED, "more"),
        digest(target.compile),
        digest(replace(target, runtime=replace(target.runtime, driver="opencl"))),
        digest(run_target(compile_target(kind="run-module"))),
    ]
    assert len({digest(), *others}) == 1 + len(others)


@pytest.mark.parametrize(
    ("variable", "counts"), [("VK_ICD_FILENAMES", True), ("HIP_VISIBLE_DEVICES", True), ("EDITOR", False)]
)
def test_variables_that_choose_drivers_and_devices_count(
    monkeypatch: pytest.MonkeyPatch, variable: str, counts: bool
) -> None:
    before = digest()
    monkeypatch.setenv(variable, "another")
    assert (digest() != before) is counts
