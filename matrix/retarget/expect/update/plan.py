"""From what a run showed to the rules that say so: which go, which are narrowed or widened, which are new.

A rule that still holds stays as it is. One that some of its targets contradict loses these; what it says of targets
that this run did not observe stays, whatever device they need. Failures that no rule covers get new ones: as few as
there are different failures, each with the shortest expression that selects exactly its targets. Nothing is read or
written here; `retarget.expect.update.text` turns the edits into text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from retarget.expect.cases import TargetRules
from retarget.expect.matching import RuleSet
from retarget.expect.update.by_case import CasesSeen, CaseUpdate, plan_cases, without_cases
from retarget.expect.update.covering import fit_rules
from retarget.expect.update.edited_rules import EditedRules, Edits, Key, Observations, SuiteTargets, index_of, key_of
from retarget.expect.update.text import RuleChange
from retarget.expect.verdict import Ruling, judge
from retarget.model import Expectation, Origin, RunTarget, Target
from retarget.model.outcomes import Observation
from retarget.support.errors import RetargetError, display_path

__all__ = ["CasesSeen", "FileEdit", "Kept", "SuiteTargets", "Update", "plan_update"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """What becomes of one file. `rules` counts those it holds then, `targets` the observed failures they excuse."""

    file: Path
    changes: tuple[RuleChange, ...]
    new: tuple[tuple[int | None, Expectation], ...]
    rules: int
    targets: int

    @property
    def removed(self) -> int:
        """How many rules go."""
        return sum(not change.match for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Entries of the `match` of a file's rules that match nothing and stay, because of a `doubt`."""

    file: Path
    entries: tuple[str, ...]
    doubt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What is to be written, which observed failures the rules excuse then, and which they do not.

    Failures are left where a flaky, an intermittent or an expired rule is in force and does not excuse them: only a
    person can say what is to become of these.
    """

    edits: tuple[FileEdit, ...]
    excused: frozenset[Key]
    left: tuple[Key, ...] = ()
    kept: tuple[Kept, ...] = ()


def plan_update(
    suites: Sequence[SuiteTargets],
    observations: Observations,
    *,
    day: date,
    doubt: Callable[[Path], str],
    cases: Mapping[Key, CasesSeen] | None = None,
) -> Update:
    """Return the changes that make the rules match what was observed.

    `suites` are all that the rules serve, observed or not. What was observed of a target holds as well for what another
    suite compiles and runs in just the same way, if this run left that out. `cases` are those of the targets of which
    they are known; without them a target is observed as a whole. `doubt` says of a file of rules why it is unknown
    that what they name is gone; empty if it can. Raises `RetargetError` if the rules cannot be changed to fit: lists of
    cases that overlap in part may be too much for this function. Nothing is to be written then.
    """
    everything = EditedRules(suites, doubt)
    observed = _on_compile_targets(everything, observations)
    by_case = {key: one for key, one in (cases or {}).items() if key in observed}
    equivalents = _equivalents(everything, observed)
    seen = observed | {key: observed[equivalent] for key, equivalent in equivalents.items()}
    all_cases = by_case | {key: by_case[equivalent] for key, equivalent in equivalents.items() if equivalent in by_case}
    edits = _Edits(suites, everything)
    now_is_read = True
    for _ in range(_ROUNDS):
        now = edits.suites()
        of_cases = plan_cases(now, seen, all_cases, day, doubt)
        is_first = now_is_read and not any(rule.cases for one in now for rule in one.suite.expectations)
        rules = everything if is_first else EditedRules(without_cases(now), doubt)
        now_is_read = False
        fit_rules(rules, of_cases.plain, day)
        is_changed = edits.apply(rules, of_cases)
        if not is_changed or not of_cases.names_cases:  # a rule may come into force where another with `case` goes
            break
    _refuse_contradictions(edits.suites())
    excused, left, targets = _judged(edits.suites(), observed, by_case, day)
    files = tuple(
        FileEdit(file=file, changes=changes, new=new, rules=edits.count(file), targets=targets.get(file, 0))
        for file, (changes, new) in sorted(edits.by_file().items())
    )
    return Update(edits=files, excused=excused, left=left, kept=_kept(everything))


def _refuse_contradictions(suites: Sequence[SuiteTargets]) -> None:
    """Raise `RetargetError` if two of the rules that were worked out are as specific and say different things."""
    for one in suites:
        book = RuleSet(one.suite.expectations, checks_artifacts=one.checks_artifacts)
        for target in one.targets:
            book.rules_for(target)
        for found in book.contradictions:
            file = display_path(found.rules[1].origin.file)
            msg = (
                f"{file}: the rules for {found.target} cannot be changed to fit this run: their cases overlap in "
                "part, and two would say different things; nothing was written. Next: name these cases in one rule"
            )
            raise RetargetError(msg)


_ROUNDS = 20
"""How often rules with `case` and rules without are worked out anew; each time some go that kept others from force."""


class _Edits:
    """The rules while they are worked out, and what changed of those that were read."""

    def __init__(self, suites: Sequence[SuiteTargets], read: EditedRules) -> None:
        """`read` are the rules of `suites` as they were read, less the entries that it keeps."""
        self._suites = suites
        self._original = {rule.origin: rule for one in suites for rule in one.suite.expectations}
        self._rules = {rule.origin: rule for rule in read.all()}
        self._kept = read.kept
        self._after: dict[Origin, Origin] = {}
        self._made = 0

    def apply(self, plain: EditedRules, of_cases: CaseUpdate) -> bool:
        """Take over what became of the rules without `case`, and of those with it. Return whether anything did."""
        before = dict(self._rules)
        found = {rule.origin: rule for rule in plain.all()}
        changed: dict[Origin, Expectation | None] = dict(of_cases.changed)
        changed |= {origin: found.get(origin) for origin, rule in before.items() if not rule.cases}
        for origin, rule in changed.items():
            if rule is None:
                self._rules.pop(origin, None)
            else:
                self._rules[origin] = rule
        for origin, rule in found.items():
            if origin not in before:
                self._add(rule, plain.part_of(rule))
        for new, source in of_cases.new:
            if source is not None and source.origin not in self._rules:
                self._rules[source.origin] = replace(new, origin=source.origin)  # in place of the removed one
            else:
                self._add(new, source.origin if source is not None else None)
        return self._rules != before

    def _add(self, rule: Expectation, after: Origin | None) -> None:
        self._made += 1
        origin = Origin(file=rule.origin.file, key_path=f"added[{self._made}]")
        self._rules[origin] = replace(rule, origin=origin)
        if after is not None:
            self._after[origin] = self._after.get(after, after)

    def count(self, file: Path) -> int:
        """How many rules a file holds then."""
        changes, new = self.by_file().get(file, ((), ()))
        before = sum(origin.file == file for origin in self._original)
        return before - sum(not change.match for change in changes) + len(new)

    def suites(self) -> list[SuiteTargets]:
        """The suites with the rules that serve them now."""
        return [replace(one, suite=replace(one.suite, expectations=tuple(self._serving(one)))) for one in self._suites]

    def _serving(self, one: SuiteTargets) -> Iterator[Expectation]:
        own = {rule.origin for rule in one.suite.expectations}
        for origin, rule in self._rules.items():
            first = self._after.get(origin, origin)
            is_below = first not in self._original and one.suite.folder.is_relative_to(origin.file.parent)
            if first in own or is_below:
                yield rule

    def by_file(self) -> dict[Path, Edits]:
        """What changes in each file."""
        changes: dict[Path, list[RuleChange]] = {}
        new: dict[Path, list[tuple[int | None, Expectation]]] = {}
        for origin, rule in self._original.items():
            now = self._rules.get(origin)
            kept = self._kept.get(origin, ())
            if kept and (now is None or (now.when, now.cases) != (rule.when, rule.cases)):
                if now is not None:
                    new.setdefault(origin.file, []).append((index_of(origin), now))
                now = replace(rule, match=kept)
            elif now is not None and kept:
                order = {entry: index for index, entry in enumerate(rule.match)}
                match = sorted((*now.match, *kept), key=lambda entry: order.get(entry, len(order)))
                now = replace(now, match=tuple(match))
            if now is None:
                changes.setdefault(origin.file, []).append(RuleChange(index=index_of(origin), match=(), when=""))
            elif now != rule:
                change = RuleChange(index=index_of(origin), match=now.match, when=now.when, cases=now.cases)
                changes.setdefault(origin.file, []).append(change)
        for origin, rule in self._rules.items():
            if origin not in self._original:
                after = self._after.get(origin)
                new.setdefault(origin.file, []).append((index_of(after) if after else None, rule))
        return {
            file: (tuple(changes.get(file, ())), tuple(new.get(file, ()))) for file in dict.fromkeys([*changes, *new])
        }


def _judged(
    suites: Sequence[SuiteTargets], seen: Observations, cases: Mapping[Key, CasesSeen], day: date
) -> tuple[frozenset[Key], tuple[Key, ...], dict[Path, int]]:
    """Return which failures rules excuse, which are left, and how many targets the rules of each file excuse.

    Raises `RetargetError` if the rules do not fit.
    """
    rules: dict[Key, TargetRules] = {}
    for one in suites:
        book = RuleSet(one.suite.expectations, checks_artifacts=one.checks_artifacts)
        rules |= {key: book.rules_for(target) for target in one.targets if (key := key_of(target)) in seen}
    excused: set[Key] = set()
    left: list[Key] = []
    targets: dict[Path, int] = {}
    for key, observation in seen.items():
        files: set[Path] = set()
        is_left = False
        for rule, way in _parts(rules[key], observation, cases.get(key)):
            ruling = judge(rule, way, day=day).ruling
            if way is None:
                continue
            if rule is None or (ruling is Ruling.OTHERWISE and rule.outcome == "xfail"):
                msg = f"no expectation could be changed to fit {key[1]} of suite {key[0]}; nothing was written"
                raise RetargetError(msg)
            is_left = is_left or ruling not in {Ruling.EXCUSED, Ruling.CHANCE, Ruling.PLAIN}  # plain: skipped from now
            files.add(rule.origin.file)
        if is_left:
            left.append(key)
        elif files:
            excused.add(key)
            for file in files:
                targets[file] = targets.get(file, 0) + 1
    return frozenset(excused), tuple(left), targets


def _parts(
    rules: TargetRules, observation: Observation | None, cases: CasesSeen | None
) -> Iterator[tuple[Expectation | None, Observation | None]]:
    """Yield what was observed of a target, by the rules that are to say so."""
    if cases is None:
        yield rules.whole, observation
        return
    for name, way in cases.seen.items():
        yield rules.of(name) or rules.whole, way


def _kept(rules: EditedRules) -> tuple[Kept, ...]:
    by_file: dict[Path, dict[str, None]] = {}
    for origin, entries in rules.kept.items():
        by_file.setdefault(origin.file, {}).update(dict.fromkeys(entries))
    return tuple(
        Kept(file=file, entries=tuple(entries), doubt=rules.doubts[file]) for file, entries in sorted(by_file.items())
    )


def _on_compile_targets(rules: EditedRules, observations: Observations) -> dict[Key, Observation | None]:
    """Where the compile target was not observed, its failure is one that a run target reported."""
    seen: dict[Key, Observation | None] = {}
    for key, observation in observations.items():
        target = rules.targets.get(key)
        if target is None:
            continue
        if observation is not None and observation.stage == "compile" and isinstance(target, RunTarget):
            seen.setdefault(key_of(target.compile), observation)
        else:
            seen[key] = observation
    return seen


def _equivalents(rules: EditedRules, observed: Observations) -> dict[Key, Key]:
    """The targets that were not observed, and one that was and is alike in all but its suite."""
    if len({suite for suite, _ in rules.targets}) < 2:
        return {}
    equivalents = {_identity(rules.targets[key]): key for key in observed}
    found: dict[Key, Key] = {}
    for key, target in rules.targets.items():
        if key not in observed and (identity := _identity(target)) in equivalents:
            rule = rules.in_force(key)
            if rule is None or rule.outcome == "xfail":
                found[key] = equivalents[identity]
    return found


def _identity(target: Target) -> tuple[object, ...]:
    """What decides on a target's outcome, but for time limits. In one folder a name is one config's."""
    compiled = target.compile if isinstance(target, RunTarget) else target
    runtime = target.runtime.name if isinstance(target, RunTarget) else ""
    module = compiled.module
    return compiled.folder, compiled.kind, module.path, module.name, compiled.compiler.name, compiled.flags, runtime
