"""From what a run showed to the rules that say so: which go, which are narrowed or widened, which are new.

A rule that still holds stays as it is. One that some of its targets belie loses these; what it says of targets that
this run did not observe stays, whatever device they need. Failures that no rule covers get new ones: as few as there
are different failures, each with the shortest expression that selects exactly its targets. Nothing is read or written
here; `retarget.expectations_text` turns the edits into text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from .declarations import EXPECTATIONS_FILE
from .errors import RetargetError
from .expectations import specificity
from .expectations_reasons import reason
from .expectations_rules import Key, RuleSet, SuiteTargets, key_of, module_of, names_module
from .expectations_text import NewRule, RuleChange
from .expectations_verdict import Ruling, is_expired, judge
from .model import CompileTarget, Expectation, Origin, RunTarget, Target
from .outcomes import Observation
from .signatures import CRASH, TIMEOUT, contains_signature
from .tag_expressions import shortest_expression

__all__ = ["FileEdit", "SuiteTargets", "Update", "plan_update"]

Observations = Mapping[Key, Observation | None]
"""What was observed, by names of suite and target: how it failed, None if it passed. Others were not observed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """What becomes of one file. `rules` counts those it holds then, `targets` the observed failures they excuse."""

    file: Path
    changes: tuple[RuleChange, ...]
    new: tuple[tuple[int | None, NewRule], ...]
    rules: int
    targets: int

    @property
    def removed(self) -> int:
        """How many rules go."""
        return sum(not change.match for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What is to be written, which observed failures the rules excuse then, and which they do not.

    Failures are left where a flaky or an expired rule is in force: only a person can say what is to become of these.
    """

    edits: tuple[FileEdit, ...]
    excused: frozenset[Key]
    left: tuple[Key, ...] = ()


def plan_update(suites: Sequence[SuiteTargets], observations: Observations, *, day: date) -> Update:
    """Return what makes the rules true to what was observed.

    `suites` are all that the rules serve, observed or not. Raises `RetargetError` if the rules cannot be made to fit,
    which would be a fault of this function.
    """
    planner = _Planner(suites, observations, day)
    planner.drop_idle()
    planner.narrow()
    planner.cover()
    planner.narrow()
    planner.drop_idle()
    return planner.update()


@dataclass(slots=True)
class _Stand:
    """How a rule stands to a module's targets: those it keeps, those it must not select, those it is wrong of.

    `lost` tells that it matches some for which a more specific rule is in force.
    """

    keep: list[Target]
    others: list[Target]
    belied: list[Target]
    lost: bool = False


class _Planner:
    """Works on a `RuleSet`, step by step."""

    def __init__(self, suites: Sequence[SuiteTargets], observations: Observations, day: date) -> None:
        self._rules = RuleSet(suites)
        self._day = day
        self._seen = _on_compile_targets(self._rules, observations)

    # ------------------------------------------------------------ rules that do not hold

    def narrow(self) -> None:
        """Take out of the rules what belies them, until none is left; a rule may come into force when another goes."""
        for _ in range(2 * len(self._seen) + 2):
            belied: dict[Origin, set[Key]] = {}
            for key in self._rules.targets:
                rule = self._rules.in_force(key)
                if rule is not None and self._belies(rule, key):
                    belied.setdefault(rule.origin, set()).add(key)
                for rival in self._rules.rivals(key):
                    belied.setdefault(rival.origin, set()).add(key)
            if not belied:
                return
            for origin, keys in belied.items():
                self._narrow(self._rules[origin], keys)
            self._rules.settle()
        msg = "the expectations could not be made to fit what was observed; nothing was written"
        raise RetargetError(msg)

    def _belies(self, rule: Expectation, key: Key) -> bool:
        if rule.outcome != "xfail" or key not in self._seen:
            return False
        seen = self._seen[key]
        if is_expired(rule, self._day):
            return seen is None
        if seen is None and self._rules.is_deferred(key):
            return False
        return judge(rule, seen, day=self._day).ruling in {Ruling.PASSED, Ruling.OTHERWISE}

    def _narrow(self, rule: Expectation, belied: set[Key]) -> None:
        """Take targets out of a rule. What remains of modules that lose only some becomes rules of their own."""
        stands = {name: self._stand(rule, targets, belied) for name, targets in self._rules.reach(rule).items()}
        gone = {name for name, stand in stands.items() if stand.belied and not stand.keep}
        partly = {name for name, stand in stands.items() if stand.belied and stand.keep}
        while True:
            match = _without(rule, stands.keys() - gone - partly, gone | partly)
            # A name is more specific than the glob that it stood for: it must not take what another rule has.
            risen = {name for name in match if name not in rule.match and name in stands and stands[name].lost}
            if not risen:
                break
            partly |= {name for name in risen if stands[name].keep}
            gone |= {name for name in risen if not stands[name].keep}
        pieces = self._pieces({name: stands[name] for name in sorted(partly)})
        if not match and pieces:
            (when, names), *pieces = pieces
            self._rules.replace(replace(rule, match=tuple(names), when=when))
        elif match:
            self._rules.replace(replace(rule, match=match))
        else:
            self._rules.remove(rule)
        for when, names in pieces:
            self._rules.add(replace(rule, match=tuple(names), when=when), after=rule.origin)

    def _stand(self, rule: Expectation, targets: Iterable[Target], belied: set[Key]) -> _Stand:
        stand = _Stand([], [], [])
        for target in targets:
            key = key_of(target)
            in_force = self._rules.in_force(key)
            if key in belied:
                stand.belied.append(target)
                stand.others.append(target)
            elif not self._rules.selects(rule, target) or in_force is None:
                stand.others.append(target)
            elif in_force.origin != rule.origin:
                stand.others.append(target)
                stand.lost = True
            elif key in self._seen and self._seen[key] is None and self._rules.is_deferred(key):
                continue  # may be selected or not: it is its run targets that the rule is about
            else:
                stand.keep.append(target)
        return stand

    def _pieces(self, stands: Mapping[str, _Stand]) -> list[tuple[str, list[str]]]:
        """Return an expression for what each module keeps, with the modules that share it, the largest group first."""
        groups: dict[frozenset[tuple[str, str, str]], list[str]] = {}
        for name, stand in stands.items():
            groups.setdefault(frozenset(map(_cell, stand.keep)), []).append(name)
        pieces: dict[str, list[str]] = {}
        for names in groups.values():
            keep = [target for name in names for target in stands[name].keep]
            others = [target for name in names for target in stands[name].others]
            when = shortest_expression(keep, others)
            if when is not None:
                pieces.setdefault(when, []).extend(names)
                continue
            for name in names:  # their modules' own words differ
                alone = _exact(stands[name].keep, stands[name].others)
                pieces.setdefault(alone, []).append(name)
        return sorted(((when, sorted(names)) for when, names in pieces.items()), key=lambda piece: -len(piece[1]))

    # ------------------------------------------------------------ rules without effect

    def drop_idle(self) -> None:
        """Drop rules and entries that concern no declared target, and words that are true of none."""
        for rule in self._rules.all():
            effect = self._rules.effect(rule)
            match = tuple(entry for index, entry in enumerate(rule.match) if index in effect.matched)
            if not match:
                self._rules.remove(rule)
                continue
            if match != rule.match:
                self._rules.replace(replace(rule, match=match))
            if self._rules.has_idle_words(rule):
                self._reword(self._rules[rule.origin])
        self._rules.settle()

    def _reword(self, rule: Expectation) -> None:
        reach = [target for targets in self._rules.reach(rule).values() for target in targets]
        chosen = [target for target in reach if self._rules.selects(rule, target)]
        when = shortest_expression(chosen, [target for target in reach if not self._rules.selects(rule, target)])
        if when is not None:
            self._rules.replace(replace(rule, when=when))

    # ------------------------------------------------------------ failures without a rule

    def cover(self) -> None:
        """Give every failure that has no rule one: an existing one where that is exact, else a new one."""
        failures: dict[_Failure, list[Target]] = {}
        for key, seen in self._seen.items():
            if seen is not None and self._rules.in_force(key) is None:
                target = self._rules.targets[key]
                failure = _Failure(self._rules.folder(key), module_of(target), seen, isinstance(target, CompileTarget))
                failures.setdefault(failure, []).append(target)
        self._widen(failures)
        self._join(failures)
        for rule in self._new_rules(failures):
            self._rules.add(rule)
        self._rules.settle()

    def _widen(self, failures: dict[_Failure, list[Target]]) -> None:
        """Widen the expression of a rule all of whose modules fail in the same way on more configs."""
        for rule in self._rules.all():
            if rule.outcome != "xfail" or not rule.when or is_expired(rule, self._day):
                continue
            reach = self._rules.reach(rule)
            more = {
                name: [failure for failure in failures if failure.module == name and failure.is_covered_by(rule)]
                for name in reach
            }
            if not reach or not all(more.values()):
                continue
            extra = {key_of(target) for found in more.values() for failure in found for target in failures[failure]}
            reached = {key_of(target) for targets in reach.values() for target in targets}
            if not extra <= reached:
                continue
            stands = {name: self._stand(rule, targets, set()) for name, targets in reach.items()}
            keep = [target for stand in stands.values() for target in stand.keep]
            keep += [self._rules.targets[key] for key in sorted(extra)]
            others = [t for stand in stands.values() for t in stand.others if key_of(t) not in extra]
            when = shortest_expression(keep, others)
            if when is None:
                continue
            self._rules.replace(replace(rule, when=when))
            for found in more.values():
                for failure in found:
                    del failures[failure]
        self._rules.settle()

    def _join(self, failures: dict[_Failure, list[Target]]) -> None:
        """Put modules into a rule that says the same of others, where its expression selects just what fails."""
        for rule in self._rules.all():
            if rule.outcome != "xfail" or is_expired(rule, self._day):
                continue
            said = [failure for failure in failures if failure.is_said_by(rule)]
            reach = self._rules.reach(rule) if said else {}
            joining = [
                failure
                for failure in said
                if failure.module not in reach and self._selects_just(rule, failure.module, failures[failure])
            ]
            names = {failure.module for failure in joining}
            for failure in joining:
                del failures[failure]
            if names:
                known = list(rule.match)
                match = sorted({*known, *names}) if known == sorted(known) else [*known, *sorted(names)]
                self._rules.replace(replace(rule, match=tuple(match)))
        self._rules.settle()

    def _selects_just(self, rule: Expectation, module: str, targets: Iterable[Target]) -> bool:
        """Tell whether a rule would select these targets of a module, and no other, if it named the module."""
        named = self._rules.reach(replace(rule, match=(module,))).get(module, [])
        chosen = {key_of(target) for target in named if self._rules.selects(rule, target)}
        return chosen == {key_of(target) for target in targets}

    def _new_rules(self, failures: Mapping[_Failure, Sequence[Target]]) -> list[Expectation]:
        groups: dict[tuple[Path, Observation, bool, frozenset[tuple[str, str, str]]], list[_Failure]] = {}
        for failure, targets in failures.items():
            key = (failure.folder, failure.seen, failure.is_compile, frozenset(map(_cell, targets)))
            groups.setdefault(key, []).append(failure)
        rules: dict[tuple[Path, Observation, bool, str], tuple[list[str], list[Target]]] = {}
        for (folder, seen, is_compile, _), found in groups.items():
            targets = [target for failure in found for target in failures[failure]]
            when = shortest_expression(targets, self._others(folder, found, failures))
            if when is not None:
                parts = [(when, found)]
            else:  # their modules' own words differ
                alone = ((one, self._others(folder, [one], failures)) for one in found)
                parts = [(_exact(failures[one], others), [one]) for one, others in alone]
            for text, some in parts:
                names, members = rules.setdefault((folder, seen, is_compile, text), ([], []))
                names += [failure.module for failure in some]
                members += [target for failure in some for target in failures[failure]]
        made = [
            Expectation(
                match=tuple(sorted(names)),
                when=when,
                stages=(seen.stage,),
                signature=seen.signature,
                reason=reason(seen, members),
                origin=Origin(file=folder / EXPECTATIONS_FILE, key_path=""),
            )
            for (folder, seen, _, when), (names, members) in rules.items()
        ]
        return sorted(made, key=lambda rule: (_STAGES.index(rule.stages[0]), rule.signature, rule.when))

    def _others(
        self, folder: Path, failures: Iterable[_Failure], all_failures: Mapping[_Failure, Sequence[Target]]
    ) -> list[Target]:
        """What a new rule for these failures must not select, of all that it could be judged at."""
        found = list(failures)
        seen = found[0].seen
        probe = Expectation(
            match=tuple(failure.module for failure in found),
            stages=(seen.stage,),
            origin=Origin(file=folder / EXPECTATIONS_FILE, key_path=""),
        )
        wanted = {key_of(target) for failure in found for target in all_failures[failure]}
        others = []
        for target in (one for targets in self._rules.reach(probe).values() for one in targets):
            # What runs an artifact that the compiler crashes on has nothing to say on it, unless another rule has.
            is_open = isinstance(target, RunTarget) and key_of(target.compile) in wanted
            if key_of(target) not in wanted and not (is_open and self._rules.in_force(key_of(target)) is None):
                others.append(target)
        return others

    # ------------------------------------------------------------ what came of it

    def update(self) -> Update:
        """Return the edits. Raises `RetargetError` if they would not make the rules fit."""
        excused: set[Key] = set()
        left: list[Key] = []
        targets: dict[Path, int] = {}
        for key, seen in self._seen.items():
            rule = self._rules.in_force(key)
            ruling = judge(rule, seen, day=self._day).ruling
            if seen is None:
                continue
            if rule is None or (ruling is Ruling.OTHERWISE and rule.outcome == "xfail"):
                msg = f"no expectation could be made to fit {key[1]} of suite {key[0]}; nothing was written"
                raise RetargetError(msg)
            if ruling in {Ruling.EXCUSED, Ruling.PLAIN}:  # plain: it is skipped from now on
                excused.add(key)
                targets[rule.origin.file] = targets.get(rule.origin.file, 0) + 1
            else:
                left.append(key)
        edits = tuple(
            FileEdit(
                file=file,
                changes=changes,
                new=new,
                rules=sum(rule.origin.file == file for rule in self._rules.all()),
                targets=targets.get(file, 0),
            )
            for file, (changes, new) in sorted(self._rules.edits().items())
        )
        return Update(edits=edits, excused=frozenset(excused), left=tuple(left))


_STAGES = ("compile", CRASH, TIMEOUT, "load", "run", "compare")
"""In which order new rules are written."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """How a module's targets failed, compile targets and run targets by themselves, in the suites of one folder."""

    folder: Path
    module: str
    seen: Observation
    is_compile: bool

    def is_covered_by(self, rule: Expectation) -> bool:
        """Tell whether the rule would excuse it, and not only because it says nothing of how they fail."""
        if not rule.signature and self.seen.signature:
            return False
        return self.seen.stage in rule.stages and contains_signature(self.seen.signature, rule.signature)

    def is_said_by(self, rule: Expectation) -> bool:
        """Tell whether the rule says exactly this."""
        return rule.stages == (self.seen.stage,) and rule.signature == self.seen.signature


def _on_compile_targets(rules: RuleSet, observations: Observations) -> dict[Key, Observation | None]:
    """Where the compile target was not observed, its failure is one that a run target told."""
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


def _cell(target: Target) -> tuple[str, str, str]:
    if isinstance(target, CompileTarget):
        return target.suite, target.compiler.name, ""
    return target.compile.suite, target.compile.compiler.name, target.runtime.name


def _exact(wanted: Sequence[Target], others: Sequence[Target]) -> str:
    when = shortest_expression(wanted, others)
    if when is None:
        msg = f"no expression tells {wanted[0].name} from {others[0].name}; nothing was written"
        raise RetargetError(msg)
    return when


def _without(rule: Expectation, kept: Iterable[str], dropped: Iterable[str]) -> tuple[str, ...]:
    """Return what a rule's `match` is for the kept modules alone.

    A glob that names a dropped module too gives way to names; so does one that would be less specific than before.
    """
    kept_names, dropped_names = sorted(kept), set(dropped)
    entries = [entry for entry in rule.match if not any(names_module(entry, name) for name in dropped_names)]
    entries = [entry for entry in entries if any(names_module(entry, name) for name in kept_names)]
    for name in kept_names:
        naming = [entry for entry in rule.match if names_module(entry, name)]
        if max(naming, key=lambda entry: specificity(rule, entry)) not in entries:
            entries.append(name)
    return tuple(dict.fromkeys(entries))
