"""A target that fails: found by its name, compiled and run, and how it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retarget.engine.engine import Engine
from retarget.engine.references import ReferenceRuns
from retarget.expect.matching import RuleSet
from retarget.expect.verdict import expected_text
from retarget.model import CompileTarget, RunTarget, Suite, Target
from retarget.model.case_names import matches_case
from retarget.model.outcomes import CompileOutcome, Failure, Observation, RunOutcome
from retarget.model.signatures import observe, observe_all
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.targets.expansion import expand
from retarget.targets.pytest_selection import Selection, SelectionRequest, pytest_plugin

__all__ = ["FailedTarget", "expectation_of", "find_failure", "find_target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTarget:
    """How a target failed. `id` is its node id; `way` is the first way in which it did, and that of the bundle.

    `ran` is None where it is a compile that failed. `cases` are the names of those that failed in this way.
    """

    id: str
    suite: Suite
    target: Target
    compiled: CompileOutcome
    ran: RunOutcome | None
    failure: Failure
    way: Observation
    cases: tuple[str, ...] = ()

    @property
    def case(self) -> str:
        """The first case that failed in this way; empty where none did."""
        return self.cases[0] if self.cases else ""

    @property
    def compile_target(self) -> CompileTarget:
        """The target whose compile this is about."""
        return self.target if isinstance(self.target, CompileTarget) else self.target.compile


def find_target(
    name: str, paths: Sequence[str] = (".",), *, extensions: Sequence[str] = (), toolchains: Sequence[str] = ()
) -> tuple[Selection, Suite, Target]:
    """Return the target of a node id, or the one of a name below `paths`, with its suite and what was collected.

    Raises `RetargetError` for none or several, `DiagnosticsError` and what pytest reports.
    """
    wanted = name.rpartition("::")[2]
    places = (name,) if "::" in name else tuple(paths)
    request = SelectionRequest(paths=places, extensions=tuple(extensions), toolchains=tuple(toolchains))
    selection = pytest_plugin().select_targets(request)
    found = [(one.suite, target) for one in selection.suites for target in one.selected if target.name == wanted]
    if not found:
        known = [target.name for one in selection.suites for target in one.targets]
        hint = did_you_mean(wanted, known) or "; `retarget list` shows all"
        msg = f"found no target {name!r} in {', '.join(places)}{hint}"
        raise RetargetError(msg)
    if len(found) > 1:
        listed = "\n  ".join(_id(suite, target) for suite, target in found)
        msg = f"found {len(found)} targets {name!r}; name one by its node id:\n  {listed}"
        raise RetargetError(msg)
    return selection, *found[0]


def find_failure(engine: Engine, suite: Suite, target: Target, *, attempts: int = 3) -> FailedTarget:
    """Compile and run a target, up to `attempts` times until it fails, and return how it does.

    Raises `RetargetError` where it passes, or its failure says nothing of it; `UnavailableError` where it cannot run.
    """
    compile_target = target if isinstance(target, CompileTarget) else target.compile
    if isinstance(target, RunTarget):
        if engine.registry.gives_no_outputs(target.runtime):
            msg = f"{target.name} runs behind run_under, which gives no outputs back: it cannot be reproduced alone"
            raise RetargetError(msg)
        engine.devices_of(target)
    compiled = engine.compile(compile_target)
    if compiled.artifact is None:
        if compiled.failure is None:
            msg = f"{compile_target.name} has neither an artifact nor a failure"
            raise RetargetError(msg)
        return _failed(suite, target, compiled, None, compiled.failure)
    for _ in range(attempts):
        ran: RunOutcome | None = None
        if isinstance(target, RunTarget):
            references = ReferenceRuns(engine)
            try:
                folders, lacking = references.of(target, _others(engine, suite))
                ran = engine.run(target, compiled.artifact, references=folders, lacking=lacking)
            finally:
                references.close()
        elif engine.registry.artifact_checker(target.kind) is not None:
            ran = engine.check(target, compiled.artifact)
        if ran is not None and ran.failure is not None:
            return _failed(suite, target, compiled, ran, ran.failure)
        if ran is None:
            break
    times = f" in {attempts} runs" if isinstance(target, RunTarget) else ""
    msg = f"{_id(suite, target)} passes{times}: there is no failure to pack"
    raise RetargetError(msg)


def expectation_of(failed: FailedTarget, engine: Engine) -> str:
    """Return what the rule in force says of the target, or of the case that failed; empty where there is none."""
    checks = engine.registry.artifact_checker(failed.suite.kind) is not None
    rules = RuleSet(failed.suite.expectations, checks_artifacts=checks)
    of_cases = (one.rule for one in rules.case_rules_for(failed.target) if matches_case(one.pattern, failed.case))
    rule = next(of_cases, None) or rules.rule_for(failed.target)
    if rule is None:
        return ""
    expected = f"expected to {expected_text(rule)}" if rule.stages else rule.outcome
    return "; ".join(filter(None, (f"{expected}: {rule.reason}", rule.issue)))


def _failed(
    suite: Suite, target: Target, compiled: CompileOutcome, ran: RunOutcome | None, failure: Failure
) -> FailedTarget:
    if failure.no_verdict:
        msg = f"the failure of {_id(suite, target)} says nothing of it: {failure.summary}"
        raise RetargetError(msg)
    outcomes = () if ran is None else ran.cases
    way = observe_all(failure, outcomes).ways[0]
    cases = [one.name for one in outcomes if one.failure is not None and observe(one.failure) == way]
    return FailedTarget(
        id=_id(suite, target),
        suite=suite,
        target=target,
        compiled=compiled,
        ran=ran,
        failure=failure,
        way=way,
        cases=tuple(cases),
    )


def _others(engine: Engine, suite: Suite) -> list[RunTarget]:
    """Return the run targets of a suite: what cases are to agree with is among them."""
    return [one for one in expand(suite, engine.registry) if isinstance(one, RunTarget)]


def _id(suite: Suite, target: Target) -> str:
    return f"{display_path(suite.origin.file)}::{suite.name}::{target.name}"
