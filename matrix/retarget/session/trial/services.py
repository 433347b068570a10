"""What the trials of one process share: the engine that compiles and runs, what is known of other targets, and the
rules in force for each.

The reasons besides its targets why a session fails, for pytest and `retarget run` alike.

rules                  those that have expired or have no effect, as the processes that collected say
names of cases         of rules and of `--retarget-case`, that no case has: cases become known where targets run, so
                       a rule is judged where the cases of all modules that it reaches are known
blocked targets        by one that did not fail itself
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from retarget.expect.diagnostics import CaseUse, unknown_case_diagnostics
from retarget.expect.matching import RulesInForce
from retarget.expect.verdict import TargetRules
from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import RunTarget, Target
from retarget.model.devices import DeviceTraits
from retarget.model.locations import SourceLocations
from retarget.model.names import is_one_of
from retarget.model.outcomes import Artifact, Failure, RunOutcome, Stage
from retarget.results.record import TargetRecord
from retarget.session.commands import Commands
from retarget.support.errors import RetargetError, did_you_mean
from retarget.support.text import first_line

if TYPE_CHECKING:
    from retarget.session.engine import Engine
    from retarget.session.trial.attempts import Attempts


class TrialSettings(Protocol):
    """The user's options that affect a trial."""

    @property
    def cases(self) -> tuple[str, ...]:
        """Names and globs of the cases to run; all if there are none."""

    @property
    def artifacts(self) -> Path | None:
        """The folder that artifacts are taken from; None where they are compiled."""

    @property
    def changed(self) -> bool:
        """Whether only targets that may have changed are run."""

    @property
    def reuses(self) -> bool:
        """Whether results of earlier runs are reused."""

    @property
    def update_expectations(self) -> bool:
        """Whether rules are written from what is observed."""


class TrialServices:
    """What the trials of one process share.

    `selected` are the node ids of all targets to try, `selected_compiles` those of compile targets among them: what
    fails there is reported there. `exhausted` has the flaky compiles that failed at every attempt, by node id: they are
    not tried for each run target. `in_full`: a failure shows all of its cases.
    """

    def __init__(
        self, *, engine: Engine, registry: Registry, commands: Commands, settings: TrialSettings, in_full: bool = False
    ) -> None:
        from retarget.session.references import ReferenceRuns  # needed only where targets run, as the engine is

        self.engine = engine
        self.registry = registry
        self.commands = commands
        self.settings = settings
        self.in_full = in_full
        self.locations = SourceLocations()
        self.references = ReferenceRuns(engine)
        self.selected: frozenset[str] = frozenset()
        self.selected_compiles: frozenset[str] = frozenset()
        self.exhausted: dict[str, Attempts] = {}

    def is_compile_needed(self, target: Target, compile_id: str, rules: RulesInForce) -> bool:
        """Return whether the module of a selected target is to be compiled ahead: not for one that will be skipped.

        `compile_id` is the node id of its compile target. Devices are opened only where that is not selected.
        """
        if rules.skipping is not None:
            return False
        try:
            self.engine.check_compiler(target.compiled.compiler)
            if not isinstance(target, RunTarget):
                return True
            if self.engine.host_mismatch(target.runtime) is not None:
                return False
            if compile_id not in self.selected_compiles:
                self.registry.driver(target.runtime.driver)
                self.engine.devices_of(target)
        except (UnavailableError, RetargetError):
            return False  # its own trial reports it
        return True

    def in_force(self, target: Target, rules: RulesInForce) -> RulesInForce:
        """Return the rules in force for a target on its devices. Raises as `Engine.traits` does, and `RetargetError`
        for rules that contradict each other there."""
        if not rules.asks_devices:
            return rules
        compiled = target.compiled
        of_compiled: tuple[DeviceTraits, ...] = ()
        if rules.compiled.possible:
            with suppress(UnavailableError):  # its compile reports it
                of_compiled = self.engine.traits(compiled)
        on = self.engine.traits(target) if target is not compiled and rules.rules.possible else of_compiled
        return replace(rules, rules=rules.rules.on(target, on), compiled=rules.compiled.on(compiled, of_compiled))

    def rules_ahead(self, target: RunTarget, rules: RulesInForce) -> TargetRules | None:
        """Return the rules for a run ahead of the target's turn; None where it may not have to run, or needs the
        results of other runs. Raises as `in_force` does."""
        if rules.skipping is not None or self.references.needed(target):
            return None
        found = self.in_force(target, rules)
        return found.rules if found.skipping is None else None

    def run(
        self,
        target: RunTarget,
        artifact: Artifact,
        others: Sequence[RunTarget] = (),
        *,
        record: Path | None = None,
        skipping: Sequence[tuple[str, bool]] = (),
        is_skipped: Callable[[RunTarget], bool] = lambda _: False,
    ) -> RunOutcome:
        """Run one target on its devices: the cases that are selected, and that `skipping` does not skip.

        `others` are the run targets of the same module, among which a case may find the config that it is to agree
        with; rules may say that one `is_skipped`. Outputs of the cases are written to the folder `record`, if there is
        one.
        """
        try:
            references = self.references.of(target, others, is_skipped)
        except RetargetError as error:
            failure = Failure(stage=Stage.LOAD, summary=first_line(str(error)), text=str(error))
            return RunOutcome(devices=(), failure=failure)
        return self.engine.run(target, artifact, record=record, references=references, skipping=skipping)

    def close(self) -> None:
        """Remove what was recorded, and end all workers."""
        self.references.close()
        self.engine.close()


_SHOWN = 8
"""How many cases are named where none is like what was requested."""


class SessionErrors:
    """The state of one session."""

    def __init__(self, selected: Sequence[str]) -> None:
        """`selected` are the cases of `--retarget-case`."""
        self._selected = selected
        self._names: dict[tuple[str, str], dict[str, None]] = {}
        self._uses: dict[CaseUse, None] = {}
        self._rules: dict[str, None] = {}
        self._blocked: dict[str, str] = {}
        self._failed: set[str] = set()

    def add_rules(self, errors: Iterable[str], uses: Iterable[CaseUse]) -> None:
        """Add errors of rules, and rules that name cases."""
        self._rules.update(dict.fromkeys(errors))
        self._uses.update(dict.fromkeys(uses))

    def add(self, record: TargetRecord, *, has_failed: bool, is_blocked: bool) -> None:
        """Add a target that was reported as failed, blocked or neither."""
        names = [case.name for case in record.cases] or record.unselected_cases
        if names:
            self._names.setdefault((record.suite, record.module), {}).update(dict.fromkeys(names))
        if is_blocked:
            self._blocked[record.nodeid] = record.blocked_by
        elif has_failed:
            self._failed.add(record.nodeid)

    def errors(self) -> list[str]:
        """Return what is wrong, once all targets were entered: a session with one fails."""
        cases = map(str, unknown_case_diagnostics(self._uses, self._names))
        blocked = (
            f"{nodeid}: blocked by {by}, which did not fail when it was tried itself; run both again"
            for nodeid, by in self._blocked.items()
            if by not in self._failed
        )
        return list(dict.fromkeys((*self._rules, *cases, *blocked)))

    def unselected(self) -> list[str]:
        """Return what `--retarget-case` asks for that no case is; nothing where no cases became known."""
        known = list(dict.fromkeys(name for names in self._names.values() for name in names))
        return [
            f"--retarget-case: found {one!r}, which matches no case of the modules that were run{_nearest(one, known)}"
            for one in self._selected
            if known and not any(is_one_of(name, (one,)) for name in known)
        ]


def _nearest(word: str, known: Sequence[str]) -> str:
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return did_you_mean(word, known) or f"; there is {', '.join(known[:_SHOWN])}{more}"
