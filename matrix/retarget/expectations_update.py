"""From what a run showed to the rules that say so: which go, which are narrowed or widened, which are new.

A rule that still holds stays as it is. One that some of its targets belie loses these; what it says of targets that
this run did not observe stays, whatever device they need. Failures that no rule covers get new ones: as few as there
are different failures, each with the shortest expression that selects exactly its targets. Nothing is read or written
here; `retarget.expectations_text` turns the edits into text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .errors import RetargetError
from .expectations_covering import Covering
from .expectations_narrowing import Narrowing
from .expectations_rules import Key, Observations, RuleSet, SuiteTargets, key_of
from .expectations_text import NewRule, RuleChange
from .expectations_verdict import Ruling, judge
from .model import RunTarget, Target
from .outcomes import Observation

__all__ = ["FileEdit", "Kept", "SuiteTargets", "Update", "plan_update"]


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
    suites: Sequence[SuiteTargets], observations: Observations, *, day: date, doubt: Callable[[Path], str]
) -> Update:
    """Return what makes the rules true to what was observed.

    `suites` are all that the rules serve, observed or not. What was observed of a target holds as well for what another
    suite compiles and runs in just the same way, if this run left that out. `doubt` says of a file of rules why it
    cannot be told that what they name is gone; empty if it can. Raises `RetargetError` if the rules cannot be made to
    fit, which would be a fault of this function.
    """
    rules = RuleSet(suites, doubt)
    observed = _on_compile_targets(rules, observations)
    seen = {**observed, **_of_twins(rules, observed)}
    narrowing = Narrowing(rules, seen, day)
    narrowing.drop_idle()
    narrowing.narrow()
    Covering(rules, seen, day).cover()
    narrowing.narrow()
    narrowing.drop_idle()
    return _update(rules, observed, day)


def _update(rules: RuleSet, seen: Observations, day: date) -> Update:
    """Return the edits. Raises `RetargetError` if they would not make the rules fit."""
    excused: set[Key] = set()
    left: list[Key] = []
    targets: dict[Path, int] = {}
    for key, observation in seen.items():
        rule = rules.in_force(key)
        ruling = judge(rule, observation, day=day).ruling
        if observation is None:
            continue
        if rule is None or (ruling is Ruling.OTHERWISE and rule.outcome == "xfail"):
            msg = f"no expectation could be made to fit {key[1]} of suite {key[0]}; nothing was written"
            raise RetargetError(msg)
        if ruling in {Ruling.EXCUSED, Ruling.CHANCE, Ruling.PLAIN}:  # plain: it is skipped from now on
            excused.add(key)
            targets[rule.origin.file] = targets.get(rule.origin.file, 0) + 1
        else:
            left.append(key)
    edits = tuple(
        FileEdit(
            file=file,
            changes=changes,
            new=new,
            rules=rules.count(file),
            targets=targets.get(file, 0),
        )
        for file, (changes, new) in sorted(rules.edits().items())
    )
    return Update(edits=edits, excused=frozenset(excused), left=tuple(left), kept=_kept(rules))


def _kept(rules: RuleSet) -> tuple[Kept, ...]:
    by_file: dict[Path, dict[str, None]] = {}
    for origin, entries in rules.kept.items():
        by_file.setdefault(origin.file, {}).update(dict.fromkeys(entries))
    return tuple(
        Kept(file=file, entries=tuple(entries), doubt=rules.doubts[file]) for file, entries in sorted(by_file.items())
    )


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


def _of_twins(rules: RuleSet, observed: Observations) -> dict[Key, Observation | None]:
    """What was observed of targets that are alike in all but their suite, for those that were not observed."""
    if len({suite for suite, _ in rules.targets}) < 2:
        return {}
    twins = {_makings(rules.targets[key]): seen for key, seen in observed.items()}
    found: dict[Key, Observation | None] = {}
    for key, target in rules.targets.items():
        if key not in observed and (makings := _makings(target)) in twins:
            rule = rules.in_force(key)
            if rule is None or rule.outcome == "xfail":
                found[key] = twins[makings]
    return found


def _makings(target: Target) -> tuple[object, ...]:
    """What decides on a target's outcome, but for time limits. In one folder a name is one config's."""
    compiled = target.compile if isinstance(target, RunTarget) else target
    runtime = target.runtime.name if isinstance(target, RunTarget) else ""
    module = compiled.module
    return compiled.folder, compiled.kind, module.path, module.name, compiled.compiler.name, compiled.flags, runtime
