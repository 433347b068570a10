"""The state of each target of a ladder: how far it comes in results, or why that is not known; on which devices.

Targets, digests, sessions and the ladder's lines in, states out. Read are files that references opened, nothing else.

A rung is of a device: another one may lack what a module needs, have less memory, or a driver with other defects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Expectation, Rung, RunTarget
from retarget.results import Outcome, Result, SessionResults, Sessions, State, TargetRecord
from retarget.session import Declared, DeclaredTarget, Engine, RuleSet, TargetRules
from retarget.support import Checkout, RetargetError, counted, first_line

from retarget_bringup.ladder.files import DIGITS, Ladder, Line


class Standing(StrEnum):
    """The state of a target."""

    REACHED = "reached"
    """It matches, in as many runs as were made."""
    BELOW = "below"
    """It is tried and does not match: for now."""
    PERMANENT = "permanent"
    """It cannot be: a rule skips it, or the device lacks what it requires."""
    UNSEEN = "unseen"
    """It is tried, and the ladder has no line of it."""
    NOT_TRIED = "not tried"
    """These results do not say how far it comes."""


class LadderTarget(Struct, frozen=True, kw_only=True):
    """A target that the ladder is about. `digest` (12 hex digits) is of what is tried today, empty where its files
    cannot be had on this machine, which `missing` says.

    With `checks_artifact` the module's kind runs nothing, and checks what the compiler made.

    `rules` are the expectations in force for it; `compile_rules` those for the compile target of a run target. With
    `asks_devices` they are those on one device, and others on another.
    """

    id: str
    digest: str
    missing: str = ""
    declared: DeclaredTarget
    checks_artifact: bool = False
    rules: TargetRules = field(default_factory=TargetRules)
    compile_rules: TargetRules = field(default_factory=TargetRules)
    asks_devices: bool = False

    def on(self, record: TargetRecord) -> LadderTarget:
        """Return the target with the rules that are in force on the devices of a record. A rule for cases that has all
        of today's skipped is one for the target."""
        found = self
        if self.rules.possible or self.compile_rules.possible:
            compiled = [one.traits for one in record.compile.devices] if record.compile is not None else []
            devices = [one.traits for one in record.devices] if self.runs else compiled
            rules = self.rules.on(self.declared.target, devices)
            compile_rules = self.compile_rules.on(self.declared.compiled, compiled)
            found = replace(self, rules=rules, compile_rules=compile_rules, asks_devices=True)
        if record.outcome is Outcome.SKIPPED and record.excused and record.trial_digest[:DIGITS] == self.digest:
            skips = (one.rule for one in found.rules.by_case if one.rule.outcome == "skip")
            found = replace(found, rules=replace(found.rules, whole=next(skips, found.rules.whole)))
        return found

    @property
    def all_rules(self) -> tuple[Expectation, ...]:
        """All of them, each once."""
        return tuple({rule.origin: rule for rule in (*self.compile_rules.all, *self.rules.all)}.values())

    @property
    def runs(self) -> bool:
        """Whether it is a run target."""
        return isinstance(self.declared.target, RunTarget)

    @property
    def compile_id(self) -> str:
        """The id of the compile target of a run target, empty for others."""
        return self.declared.compile_id if self.runs else ""

    @property
    def top(self) -> Rung:
        """The rung that one try takes it to at most."""
        return Rung.MATCHES if self.runs or self.checks_artifact else Rung.COMPILES

    @property
    def skipped_by(self) -> Expectation | None:
        """The rule that has it skipped today, None for none."""
        wholes = (self.rules.whole, self.compile_rules.whole)
        rules = (rule for rule in wholes if rule is not None and rule.outcome == "skip")
        return next((rule for rule in rules if not rule.is_expired), None)


class TargetState(Struct, frozen=True, kw_only=True):
    """How far a target comes: `rung`, None where that is not known, which `reason` says; a permanent one has no rung.
    With `only_compiled` it comes to `rung` at least, and what would run it is not there, which `reason` says.

    With `is_stale` it has a result, which is not of what is declared, compiled and checked out today: see `reason`.
    With `is_lost` it was to be tried, and was not: a device or its session came to an end before it; or it failed in a
    way that its rung does not show, such as in a teardown.

    `record` is the one that the rung is of: of the sessions that tried this build of it, one with the lowest rung.
    `compiled` is that of its compile target in the same session, and `verdict` the target's outcome there after all
    attempts. `failing` are the cases that do not match in one of these sessions. `line` is the ladder's.
    """

    target: LadderTarget
    line: Line | None = None
    rung: Rung | None = None
    record: TargetRecord | None = None
    compiled: TargetRecord | None = None
    verdict: Outcome = Outcome.NOT_RUN
    failing: tuple[str, ...] = ()
    is_permanent: bool = False
    only_compiled: bool = False
    is_stale: bool = False
    is_lost: bool = False
    reason: str = ""

    @property
    def id(self) -> str:
        """The target's id."""
        return self.target.id

    @property
    def is_changed(self) -> bool:
        """Whether its line is of another version of the module, its cases or how they are run, or of an older retarget,
        which did not write the cases that fail."""
        line = self.line
        names_none = line is not None and self.rung is line.rung and bool(self.failing) and not line.failing
        return names_none or (line is not None and line.digest != self.target.digest)

    @property
    def is_over(self) -> bool:
        """Whether it is permanent on each device, not only where it was tried."""
        return self.is_permanent and self.target.skipped_by is not None and not self.target.asks_devices

    @property
    def is_tried(self) -> bool:
        """Whether the rung is as far as it comes."""
        return self.rung is not None and not self.only_compiled

    @property
    def standing(self) -> Standing:
        """The state of the target."""
        if self.is_permanent:
            return Standing.PERMANENT
        if self.rung is None or self.only_compiled:
            return Standing.NOT_TRIED
        if self.line is None:
            return Standing.UNSEEN
        return Standing.REACHED if self.rung >= self.target.top else Standing.BELOW

    @property
    def failure(self) -> State | None:
        """How it fails, in the words of expectations: that of its compile target, where that is why it has no artifact.
        None where it does not."""
        for record in (self.record, self.compiled):
            if record is None or record.result is Result.PASSED:
                continue
            if (seen := record.observation) is not None:
                return State(record.outcome, seen.stage, seen.signature)
            if record.result is Result.FAILED or record.outcome in {Outcome.FAILED, Outcome.ERROR}:
                return State.of(record)
        return None


def ladder_targets(declared: Declared, engine: Engine) -> list[LadderTarget]:
    """Return the targets of a ladder among those declared: each run target, and each compile target that none runs.

    Modules are generated for it, where their kind does so. Raises `RetargetError` for invalid files.
    """
    run = {one.compile_id for one in declared.targets if isinstance(one.target, RunTarget)}
    rule_sets: dict[str, RuleSet] = {}
    found = []
    for one in declared.targets:
        if one.id in run:
            continue
        checks = declared.registry.artifact_checker(one.suite.kind) is not None
        if one.suite_id not in rule_sets:
            rule_sets[one.suite_id] = RuleSet.of(one.suite, declared.registry)
        of_run = isinstance(one.target, RunTarget)
        rules = rule_sets[one.suite_id]
        digest = missing = ""
        try:
            digest = _digest(one, engine)
        except (UnavailableError, RetargetError) as error:
            missing = f"it cannot be judged here: {first_line(str(error))}"
        found.append(
            LadderTarget(
                id=one.id,
                digest=digest,
                missing=missing,
                declared=one,
                checks_artifact=checks,
                rules=rules.rules_for(one.target),
                compile_rules=rules.rules_for(one.compiled) if of_run else TargetRules(),
            )
        )
    return found


def _digest(one: DeclaredTarget, engine: Engine) -> str:
    made = engine.generated(one.compiled)
    target = replace(one.target, compile=made) if isinstance(one.target, RunTarget) else made
    return engine.case_digests.trial(target)[:DIGITS]


def states(
    targets: Sequence[LadderTarget],
    sessions: Sequence[SessionResults],
    ladder: Ladder,
    *,
    stable: int,
    revision: str = "",
    host: str = "",
    key: Callable[[CompileTarget], str] = lambda _: "",
    root: Path = Path(),
) -> list[TargetState]:
    """Return the state of each target, in their order.

    Only results of today count: of the commit `revision`, of the target's digest, and of the compile key that `key`
    returns; where one of the two is not known, it is not compared, nor are keys of compiles on another machine than
    `host`: they cover its CPU. Nor does one count since whose run a file below `root` was edited that the references of
    its cases opened; what is not there is looked for only on the machine that ran it. Sessions count from the last such
    on each device back, as long as it was the same build of compiler and runtime. Over them the lowest rung counts;
    `stable` of them that all match make it stable, those apart in which it was unchanged (`--retarget-changed`).
    """
    lines = ladder.line_of({one.id: one.digest for one in targets})
    by_id = [session.by_target for session in sessions]
    results = Sessions(sessions).results
    targets = [one.on(results[one.id]) if one.id in results else one for one in targets]
    starts = {one.start.session: one.start for one in sessions}
    keys: dict[str, str] = {}
    opened: dict[str, str] = {}

    def stale(target: LadderTarget, one: _Try) -> str:
        has_digest = one.record.trial_digest or one.record.outcome is not Outcome.NOT_RUN
        if not target.digest or (has_digest and one.record.trial_digest[:DIGITS] != target.digest):
            return _STALE
        start = starts.get(one.record.session)
        ran_at = start.revision if start is not None else ""
        if ran_at and revision and ran_at.rstrip("+") != revision.rstrip("+"):
            at, now = Checkout.short(ran_at), Checkout.short(revision)
            return f"its result is of the commit {at}, and the checkout is at {now}: run it again"
        is_here, run = start is None or start.host == host, one.record.run
        if run is not None and (name := run.edited(root, opened, here=is_here)):
            return f"{name} was edited since its result, and its cases or its driver opened it: run it again"
        made = next(
            (of.compile for of in (one.record, one.compiled) if of is not None and of.compile is not None), None
        )
        declared = target.declared
        if made is None or made.returns_checks != declared.compiled.returns_checks:
            return ""
        if made.host or (start is not None and start.host != host):
            return ""
        if (name := declared.compile_id) not in keys:
            keys[name] = key(declared.compiled)
        return _OTHER_COMPILE if keys[name] and made.key and made.key != keys[name] else ""

    cut = any(not one.is_complete or _lost_some(one) for one in sessions)
    return [_state(one, lines.get(one.id), by_id, stable, stale, results=results, cut=cut) for one in targets]


class _Try(Struct, frozen=True):
    """A session's rung of a target: of several attempts the lowest. `verdict` is the outcome of the last attempt.
    `only_compiled` ones say no more than that."""

    rung: Rung
    record: TargetRecord
    compiled: TargetRecord | None
    verdict: Outcome
    only_compiled: bool = False

    @property
    def devices(self) -> tuple[str, ...]:
        """The models of its devices."""
        return tuple(f"{one.driver} {one.name} {one.host}" for one in self.record.devices)

    def is_of_build(self, other: _Try) -> bool:
        """Whether both are of the same artifact and runtime, as far as they say."""
        pairs = zip(_builds(self.record), _builds(other.record), strict=True)
        return all(not first or not second or first == second for first, second in pairs)


def _builds(record: TargetRecord) -> tuple[object, object]:
    """The builds of a record: its compile key, and the runtimes and drivers of its devices."""
    devices = [(one.runtime, one.driver_version) for one in record.devices]
    return record.compile.key if record.compile is not None else "", devices


def _state(
    target: LadderTarget,
    line: Line | None,
    sessions: Sequence[Mapping[str, list[TargetRecord]]],
    stable: int,
    stale: Callable[[LadderTarget, _Try], str],
    *,
    results: Mapping[str, TargetRecord],
    cut: bool,
) -> TargetState:
    if (rule := target.skipped_by) is not None:
        return TargetState(target=target, line=line, is_permanent=True, reason=rule.excuse)
    tries: list[_Try] = []
    last = results.get(target.id)
    why = ""
    for session in sessions:
        said = [(stale(target, one), one) for one in _tries(target, session)]
        why = next((reason for reason, _ in reversed(said) if reason), why)
        own = session.get(target.id, ())[-1:]
        if of_today := [one for reason, one in said if not reason]:
            tries.append(min(of_today, key=lambda one: (one.only_compiled, one.rung)))
        elif own and own[0].outcome.is_bad and (own[0] is last or not said):
            tries, why = [], why if said else ""  # what came before it stands no more
            if own[0] is last:  # nor does anything behind it
                break
    if not tries:
        permanent = last is not None and last.unsuitable
        reason = _why_untried(last) if last is not None else "it has no result"
        if last is None and cut:
            reason += ", and a session was interrupted or killed, failed, still runs, or has lost lines"
        return TargetState(
            target=target,
            line=line,
            record=last,
            is_permanent=permanent,
            is_stale=bool(why) and not target.missing,
            is_lost=not (why or permanent or target.missing) and (cut if last is None else _is_lost(last)),
            reason=target.missing or why or reason,
        )
    tries = [one for one in tries if not one.only_compiled] or tries[-1:]
    last_on = {one.devices: one for one in tries}
    tries = [one for one in tries if one.is_of_build(last_on[one.devices] if one.devices else tries[-1])]
    if any(one.verdict.is_bad for one in tries):  # what chance allows hides no failure
        tries = [one for one in tries if one.verdict not in {Outcome.FLAKY, Outcome.INTERMITTENT}]
    lowest = min(reversed(tries), key=lambda one: (one.rung, not one.verdict.is_bad))
    rung, record = lowest.rung, lowest.record
    if rung is Rung.MATCHES and sum(not one.record.unchanged for one in tries) >= stable:
        rung = Rung.STABLE
    only_compiled = lowest.only_compiled
    cases = [case for one in tries for case in one.record.cases]
    failing = {case.name for case in cases if case.stage or (case.outcome is Outcome.NOT_RUN and not case.excused)}
    besides = _fails_besides(last, results.get(target.compile_id))
    return TargetState(
        target=target,
        line=line,
        rung=rung,
        record=record,
        compiled=lowest.compiled,
        verdict=lowest.verdict,
        failing=tuple(sorted(failing)),
        only_compiled=only_compiled,
        is_lost=bool(besides) or (only_compiled and _is_lost(record)),
        reason=besides or (_why_untried(record) if only_compiled else ""),
    )


def _lost_some(one: SessionResults) -> bool:
    """Whether pytest's exit status says that targets may not have been collected, or not run: 2 to 4 do so, and 1 where
    more than targets failed."""
    return one.end is not None and one.end.status not in {0, 5} and (one.end.status > 1 or one.failed_otherwise)


_STALE = "its result is of another version of the module or its cases, or of an older retarget: run it again"
_OTHER_COMPILE = (
    "its result is of another compile than today's, such as with other flags, by another build or for another CPU: "
    "run it again"
)


def _is_lost(record: TargetRecord) -> bool:
    """Whether a target whose rung is not known was to be tried: pytest's exit status was not 0 for that."""
    return record.outcome.is_bad or record.outcome in {Outcome.NOT_RUN, Outcome.BLOCKED}


def _fails_besides(record: TargetRecord | None, compiled: TargetRecord | None) -> str:
    """Return how a target or its compile target failed, where that is not the failure that its rung shows: its
    teardown, its process or another plugin. Empty where there is none."""
    for one in (record, compiled):
        if one is None or one.outcome not in {Outcome.FAILED, Outcome.ERROR}:
            continue
        if one.outcome is Outcome.ERROR or (one.observation is None and one.result is not Result.FAILED):
            return f"{one.target} failed besides: {one.message}"
    return ""


def _why_untried(record: TargetRecord) -> str:
    """Return why a record says nothing of how far its target comes. It is never empty."""
    if record.reason or record.message:
        return record.reason or record.message
    if record.missing_cases:
        return "only some of its cases were run: run it without --retarget-case"
    return f"its result is {record.outcome}, without a reason: run it again"


def _tries(target: LadderTarget, session: Mapping[str, list[TargetRecord]]) -> Iterator[_Try]:
    compiled = session[target.compile_id][-1] if target.compile_id in session else None
    records = session.get(target.id, [])
    for record in records:
        verdict = records[-1].outcome
        if (rung := rung_of(record, compiled)) is not None:
            yield _Try(rung, record, compiled, verdict)
        elif record.unavailable or record.outcome is Outcome.NOT_RUN:  # compiling needs no device
            made = rung_of(compiled) if compiled is not None else None
            if made is not None:
                yield _Try(min(made, Rung.COMPILES), record, compiled, verdict, made >= Rung.COMPILES)


def rung_of(record: TargetRecord, compiled: TargetRecord | None = None) -> Rung | None:
    """Return how far a target came at one attempt, None where it was not tried or nothing says how far: what did not
    compile does not say its rung. `compiled` is the record of its compile target in the same session."""
    if record.outcome.is_incomplete:
        return None
    if (said := Rung.named(record.rung)) is not None:
        return said
    is_late = record.outcome in {Outcome.BLOCKED, Outcome.XFAILED, Outcome.INTERMITTENT, Outcome.FAILED}
    failed = compiled if record.observation is None and is_late else record
    is_compile = failed is not None and failed.observation is not None and failed.stage == "compile"
    return Rung.NONE if is_compile else None


_GIB = " GiB"
_MOST = 4
"""GiB of memory beyond which more makes no difference."""


def _worded(record: TargetRecord) -> Iterator[str]:
    """Yield each of its devices as `vulkan: NAME, driver VERSION, 2 GiB`: memory in powers of two, since some have what
    is free just now."""
    for device in record.devices:
        version = f", driver {device.driver_version}" if device.driver_version else ""
        step = 1 << (device.memory >> 30).bit_length() >> 1
        memory = "" if not device.memory or step >= _MOST else f", {step or 'below 1'}{_GIB}"
        yield " ".join(f"{device.driver}: {device.name}{version}{memory}".split())


def _is(device: str, recorded: str) -> bool:
    """Return whether a device is a recorded one. A `*` for any version does not stand for little memory."""
    return fnmatchcase(device, recorded) and device.endswith(_GIB) == recorded.endswith(_GIB)


class Devices:
    """The devices that targets ran on, and which of them a ladder was not recorded on: `recorded` are globs.

    `elsewhere` are the ids of the targets that ran on such a one.
    """

    def __init__(self, states: Sequence[TargetState], recorded: Sequence[str]) -> None:
        ran = [one.record for one in states if one.is_tried and one.record is not None]
        self._ran = Counter(text for record in ran for text in {*_worded(record)})
        self._recorded = recorded
        self.new = [text for text in sorted(self._ran) if not any(_is(text, one) for one in recorded)]
        self.elsewhere = {
            one.id
            for one in states
            if recorded and one.record is not None and any(text in self.new for text in _worded(one.record))
        }

    def notes(self, *, raises: bool) -> list[str]:
        """Return a note, to be read first, on each device that differs from the ladder's of its driver."""
        notes = []
        for text in self.new:
            if others := [one for one in self._recorded if one.partition(":")[0] == text.partition(":")[0]]:
                alone = "what only this one reaches fails --check on the other"
                follows = alone if raises else "their rungs may differ for that alone"
                ran = counted(self._ran[text], "target")
                notes.append(f"another device: {ran} ran on {text}; recorded on {' and '.join(others)}: {follows}")
        return notes

    def after(self, *, changed: bool) -> list[str]:
        """Return the devices of the ladder once it is raised: also those that raised it, or the first of a driver."""
        drivers = {one.partition(":")[0] for one in self._recorded}
        return [*self._recorded, *(escape(one) for one in self.new if changed or one.partition(":")[0] not in drivers)]
