"""How a target fails: what a bundle is to reproduce."""

from __future__ import annotations

from dataclasses import dataclass

from retarget.engine.engine import Engine
from retarget.expect.matching import RuleSet
from retarget.expect.verdict import expected_text
from retarget.model import RunTarget
from retarget.model.outcomes import CompileOutcome, Failure, Observation, RunOutcome
from retarget.model.signatures import observe
from retarget.support.errors import RetargetError

from retarget_repro.attempt import Attempt, Chosen, attempt

__all__ = ["FailedTarget", "failed_target", "find_failure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTarget:
    """A target that failed. `way` is the first way in which it did, and that of the bundle, `failure` its failure.

    `ran` is None where it is a compile that failed. `cases` are the names of those that failed in this way.
    """

    chosen: Chosen
    compiled: CompileOutcome
    ran: RunOutcome | None
    failure: Failure
    way: Observation
    cases: tuple[str, ...] = ()

    @property
    def case(self) -> str:
        """The first case that failed in this way; empty where none did."""
        return self.cases[0] if self.cases else ""

    def expectation(self) -> str:
        """Return what the rule in force says of the target, or of the case that failed; empty where there is none."""
        target, suite = self.chosen.target, self.chosen.suite
        checks = self.chosen.registry.artifact_checker(suite.kind) is not None
        rules = RuleSet(suite.expectations, checks_artifacts=checks).rules_for(target)
        devices = self.ran.devices if self.ran is not None else self.compiled.devices
        rules = rules.on(target, [device.traits for device in devices])
        rule = rules.of(self.case) or rules.whole
        if rule is None:
            return ""
        expected = f"expected to {expected_text(rule)}" if rule.stages else rule.outcome
        return "; ".join(filter(None, (f"{expected}: {rule.reason}", rule.issue)))


def find_failure(engine: Engine, chosen: Chosen, *, attempts: int = 3) -> FailedTarget:
    """Compile and run a target, up to `attempts` times until it fails, and return how it does.

    Raises `RetargetError` where it passes, where it cannot run here, and where its failure says nothing of it.
    """
    if isinstance(chosen.target, RunTarget) and engine.registry.gives_no_outputs(chosen.target.runtime):
        msg = f"{chosen.id} runs behind run_under, which gives no outputs back: it cannot be reproduced alone"
        raise RetargetError(msg)
    if isinstance(chosen.target, RunTarget) and (host := chosen.target.runtime.host) is not None:
        msg = f"{chosen.id} runs on host {host.name!r}: what a bundle reproduces runs on the machine that opens it"
        raise RetargetError(msg)
    for _ in range(attempts):
        found = attempt(engine, chosen)
        if found.unavailable:
            msg = f"{chosen.id} cannot be tried here: {found.unavailable}"
            raise RetargetError(msg)
        if not found.passed:
            return failed_target(chosen, found)
        if found.ran is None or not found.ran.devices:
            break  # nothing ran: it is the same each time
    times = f" in {attempts} runs" if found.ran is not None and found.ran.devices else ""
    msg = f"{chosen.id} passes{times}: there is no failure to pack"
    raise RetargetError(msg)


def failed_target(chosen: Chosen, found: Attempt) -> FailedTarget:
    """Return a failure that an attempt has shown. Raises `RetargetError` where it shows none."""
    if found.failure is None or found.observation is None or found.compiled is None:
        msg = f"{chosen.id}: {found}"
        raise RetargetError(msg)
    way = found.observation.ways[0]
    same = [one for one in found.cases if one.failure is not None and observe(one.failure) == way]
    return FailedTarget(
        chosen=chosen,
        compiled=found.compiled,
        ran=found.ran,
        failure=next((one.failure for one in same if one.failure is not None), found.failure),
        way=way,
        cases=tuple(one.name for one in same),
    )
