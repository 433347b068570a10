"""Results are reused while what they depend on is as it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from model_targets import compile_target, run_target
from msgspec.structs import replace
from retarget.expect.verdict import TargetRules
from retarget.extension.registry import Registry, load_extensions
from retarget.model import Module, RunTarget
from retarget.model.outcomes import Artifact, CaseOutcome, DeviceInfo, Failure, RunOutcome, Stage
from retarget.session.cache.store import Store
from retarget.session.run.reuse import CaseDigests, ReusableResults
from retarget.support.dependencies import Dependency

REGISTRY = load_extensions(())
DEVICE = DeviceInfo(driver="d", uri="d://0", ordinal=0, name="n", physical_id="p")
ARTIFACT = Artifact(path=Path("m.vmfb"), digest="a", size=1)
NONE = TargetRules()


def passed(*dependencies: Dependency) -> RunOutcome:
    cases = (CaseOutcome(name="f", seconds=1.0),)
    return RunOutcome(devices=(DEVICE,), load_seconds=0.0, cases=cases, names=("f",), dependencies=dependencies)


def target_in(folder: Path) -> RunTarget:
    (folder / "m.mlir").write_text("")
    module = Module(name="m", path=folder / "m.mlir")
    return run_target(replace(compile_target(kind="check", folder=folder), module=module))


def results(
    folder: Path,
    *,
    registry: Registry = REGISTRY,
    runs_remotely: bool = False,
    only: Sequence[str] = (),
    timeout: float = 9.0,
) -> ReusableResults:
    return ReusableResults(
        Store(folder / "cache"),
        registry,
        extensions=(),
        only=only,
        default_timeout=timeout,
        case_digests=CaseDigests(registry),
        runs_remotely=runs_remotely,
    )


def is_reused(folder: Path, outcome: RunOutcome, **more: object) -> bool:
    target = target_in(folder)
    results(folder).keep(target, ARTIFACT, NONE, outcome, (DEVICE,))
    return results(folder, **more).find(target, ARTIFACT, NONE, (DEVICE,)) is not None  # type: ignore[arg-type]


ABSENT: Sequence[Dependency] = (("path", "/none/such", "absent"), ("variable", "RETARGET_NONE_SUCH", "unset"))


@pytest.mark.parametrize(
    ("dependencies", "reused"),
    [
        ((), True),
        (ABSENT, True),
        ((*ABSENT, ("path", "/none/other", "another state")), False),  # as it is when the run has ended
        ((*ABSENT, ("unseen", "", "")), False),
    ],
)
def test_a_result_is_reused_where_all_that_it_depends_on_is_known(
    tmp_path: Path, dependencies: Sequence[Dependency], reused: bool
) -> None:
    assert is_reused(tmp_path, passed(*dependencies)) is reused


def test_where_the_code_of_an_extension_cannot_be_found_nothing_is_reused(tmp_path: Path) -> None:
    lost = type("Lost", (type(REGISTRY.case_loaders["check"]),), {"__module__": "none_such"})()
    as_kind = replace(REGISTRY, case_loaders={"check": lost})
    assert not is_reused(tmp_path, passed(), registry=as_kind)


def test_a_result_is_not_kept_under_the_digest_of_files_edited_since(tmp_path: Path) -> None:
    target = target_in(tmp_path)
    (tmp_path / "m.txt").write_text("one")
    target = replace(
        target, compile=replace(target.compile, module=replace(target.compile.module, data=(tmp_path / "m.txt",)))
    )
    session = results(tmp_path)
    assert session.find(target, ARTIFACT, NONE, (DEVICE,)) is None
    (tmp_path / "m.txt").write_text("two")
    session.keep(target, ARTIFACT, NONE, passed(), (DEVICE,))
    (tmp_path / "m.txt").write_text("one")
    assert results(tmp_path).find(target, ARTIFACT, NONE, (DEVICE,)) is None


@pytest.mark.parametrize(("declared", "reused"), [(None, False), (5.0, True)])
def test_the_time_limit_of_a_target_that_declares_none_counts(
    tmp_path: Path, declared: float | None, reused: bool
) -> None:
    target = replace(target_in(tmp_path), timeout=declared)
    results(tmp_path).keep(target, ARTIFACT, NONE, passed(), (DEVICE,))
    assert results(tmp_path).find(target, ARTIFACT, NONE, (DEVICE,)) is not None
    assert (results(tmp_path, timeout=1.0).find(target, ARTIFACT, NONE, (DEVICE,)) is not None) is reused


@pytest.mark.parametrize(("fails", "reused"), [(("f",), False), ((), True)])
def test_a_case_that_passed_in_a_run_of_all_and_fails_alone_is_chance(
    tmp_path: Path, fails: Sequence[str], reused: bool
) -> None:
    target = target_in(tmp_path)
    results(tmp_path).keep(target, ARTIFACT, NONE, passed(), (DEVICE,))
    differs = Failure(stage=Stage.COMPARE, summary="differs")
    failed = dataclasses.replace(
        passed(),
        failure=differs if fails else None,
        cases=(CaseOutcome(name="f", seconds=1.0, failure=differs if fails else None),),
    )
    results(tmp_path, only=("f",)).keep(target, ARTIFACT, NONE, failed, (DEVICE,))
    assert (results(tmp_path).find(target, ARTIFACT, NONE, (DEVICE,)) is not None) is reused
