"""The trial of a compile target."""

from __future__ import annotations

from dataclasses import replace

from retarget.engine.trial.attempts import Attempts, settle
from retarget.engine.trial.ends import Excused, Unavailable
from retarget.engine.trial.failures import check_failed
from retarget.engine.trial.trial import Trial
from retarget.expect.verdict import today
from retarget.extension import UnavailableError
from retarget.model import CompileTarget
from retarget.model.outcomes import Artifact
from retarget.model.rungs import Rung

__all__ = ["CompileTrial"]


class CompileTrial(Trial):
    """One module, compiled one way."""

    target: CompileTarget

    @property
    def compile_target(self) -> CompileTarget:
        return self.target

    def prepare(self) -> None:
        super().prepare()
        if self.services.settings.artifacts is not None:
            msg = f"not compiled: --retarget-artifacts takes artifacts from {self.services.settings.artifacts}"
            raise Excused(msg)
        self.services.registry.case_loader(self.target.kind)
        self.check_compiler()
        self.check_files()
        self.settle_rules()

    def attempt(self) -> None:
        outcome, tried = self.try_compile()
        if outcome.artifact is not None:
            self.enter_rung(Rung.COMPILES)
            if self.services.registry.artifact_checker(self.target.kind) is not None:
                tried = replace(self._checked(outcome.artifact), before=tried.before)
            elif self.in_force.is_deferred:
                self.observe(tried, None)
                return
        self.observe(tried, self.rules)
        settle(self.rules, tried, self.services.locations)

    def _checked(self, artifact: Artifact) -> Attempts:
        """Check the artifact as its module requires."""
        try:
            checked = self.services.engine.check(self.target, artifact, skipping=self.rules.skipping(today()))
        except UnavailableError as error:
            raise Unavailable(str(error), error.hint) from None
        self.enter_rung(checked.rung, checked.names)
        return self.attempted(
            checked,
            lambda failure, expected: check_failed(
                self.services.commands,
                self.generated,
                checked,
                failure,
                in_full=self.services.in_full,
                expected=expected,
            ),
        )
