"""From a run's observations on each device to the rules for them: which go, which change, which are new.

A rule that still holds stays as it is. One that some of its targets contradict loses these; what it says of targets
that this run did not observe stays, whatever device they need. Failures that no rule covers get new ones: as few as
there are different failures, each with the shortest expression that selects exactly its targets. Nothing is read or
written here; `retarget.expect.update.text` turns the edits into text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from retarget.expect.matching import RuleSet
from retarget.expect.update.by_case import CasesSeen, CaseUpdate, plan_cases, without_cases
from retarget.expect.update.covering import fit_rules
from retarget.expect.update.edited_rules import EditedRules, Key, Observations, SuiteTargets, cell_of, index_of, key_of
from retarget.expect.update.text import RuleChange
from retarget.expect.verdict import Ruling, TargetRules, judge
from retarget.model import CompileTarget, Expectation, RunTarget, Target
from retarget.model.devices import DeviceTraits, has_traits
from retarget.model.outcomes import Observation
from retarget.support.errors import RetargetError, display_path
from retarget.targets.selection import Selector


class FileEdit(Struct, frozen=True, kw_only=True):
    """The edits of one file. `rules` counts those it holds then, `targets` the observed failures they excuse."""

    file: Path
    changes: tuple[RuleChange, ...]
    new: tuple[tuple[int | None, Expectation], ...]
    rules: int
    targets: int

    @property
    def removed(self) -> int:
        """How many rules go."""
        return sum(not change.match for change in self.changes)


class Update(Struct, frozen=True, kw_only=True):
    """The edits to write, and which observed failures the rules excuse then, and which not.

    Failures are left where a flaky, an intermittent or an expired rule is in force and does not excuse them: only a
    person can say what is to become of these.
    """

    edits: tuple[FileEdit, ...]
    excused: frozenset[Key]
    left: tuple[Key, ...] = ()


def plan_update(
    suites: Sequence[SuiteTargets], observations: Observations, *, cases: Mapping[Key, CasesSeen] | None = None
) -> Update:
    """Return the changes that make the rules match what was observed.

    `suites` are all that the rules serve, observed or not. What was observed of a target holds as well for what another
    suite compiles and runs in just the same way, if this run left that out. `cases` are those of the targets of which
    they are known; without them a target is observed as a whole. Raises `RetargetError` if the rules cannot be changed
    to fit: lists of cases that overlap in part, or rules that another one hid, may be too much for this function.
    Nothing is to be written then.
    """
    everything = EditedRules(suites, added="added")
    observed = _on_compile_targets(everything, observations)
    by_case = {key: one for key, one in (cases or {}).items() if key in observed}
    equivalents = _equivalents(everything, observed)
    seen = observed | {key: observed[equivalent] for key, equivalent in equivalents.items()}
    all_cases = by_case | {key: by_case[equivalent] for key, equivalent in equivalents.items() if equivalent in by_case}
    for number in range(_ROUNDS):
        now, before = everything.suites(), dict(everything.rules)
        of_cases = plan_cases(now, seen, all_cases)
        if number or any(rule.cases for rule in before.values()):
            plain = EditedRules(without_cases(now))
            fit_rules(plain, of_cases.plain)
            everything.take_over(plain)
        else:
            fit_rules(everything, of_cases.plain)
        _take_over_cases(everything, of_cases)
        # A rule may come into force where another with `case` goes.
        if everything.rules == before or not of_cases.names_cases:
            break
    now = everything.suites()
    _refuse_contradictions(now)
    excused, left, targets = _judged(now, observed, by_case)
    return Update(edits=_file_edits(everything, targets), excused=excused, left=left)


def _take_over_cases(rules: EditedRules, of_cases: CaseUpdate) -> None:
    for origin, rule in of_cases.changed.items():
        if rule is None:
            rules.rules.pop(origin, None)
        else:
            rules.rules[origin] = rule
    for added, source in of_cases.new:
        if source is not None and source.origin not in rules.rules:
            rules.rules[source.origin] = replace(added, origin=source.origin)  # in place of the removed one
        else:
            rules.add(added, after=source.origin if source is not None else None)


def _refuse_contradictions(suites: Sequence[SuiteTargets]) -> None:
    """Raise `RetargetError` if two of the rules that were worked out are as specific and say different things: of a
    target on its devices, or, as the next collection looks at them, on any device that a rule names."""
    for one in suites:
        book = RuleSet(one.suite.expectations, checks_artifacts=one.checks_artifacts)
        for target in one.targets:
            book.rules_for(target)
            if target.devices:
                book.rules_for(replace(target, devices=None))
        for found in book.contradictions:
            file = display_path(found.rules[1].origin.file)
            first, second = (f'match = {list(rule.match)}, when = "{rule.when}"' for rule in found.rules)
            msg = (
                f"{file}: the rules for {found.target} cannot be changed to fit this run: two would be as specific "
                f"and say different things ({first}; {second}); nothing was written. "
                "Next: name what they share, cases or devices, in one of them"
            )
            raise RetargetError(msg)


_ROUNDS = 20
"""How often rules with `case` and rules without are worked out anew; each time some go that kept others from force."""


def _file_edits(rules: EditedRules, targets: Mapping[Path, int]) -> tuple[FileEdit, ...]:
    """Return what changes in each file. `targets` counts the observed failures that the rules of each excuse."""
    changes: dict[Path, list[RuleChange]] = {}
    new: dict[Path, list[tuple[int | None, Expectation]]] = {}
    for origin, rule in rules.original.items():
        now = rules.rules.get(origin)
        if now != rule:
            says = (now.match, now.when, now.cases) if now is not None else ((), "", ())
            change = RuleChange(index=index_of(origin), match=says[0], when=says[1], cases=says[2])
            changes.setdefault(origin.file, []).append(change)
    for rule in rules.rules.values():
        if rule.origin not in rules.original:
            after = rules.part_of(rule)
            new.setdefault(rule.origin.file, []).append((index_of(after) if after in rules.original else None, rule))
    edits = []
    for file in sorted(changes.keys() | new.keys()):
        changed, added = tuple(changes.get(file, ())), tuple(new.get(file, ()))
        count = sum(origin.file == file for origin in rules.original) + len(added)
        count -= sum(not change.match for change in changed)
        edits.append(FileEdit(file=file, changes=changed, new=added, rules=count, targets=targets.get(file, 0)))
    return tuple(edits)


def _judged(
    suites: Sequence[SuiteTargets], seen: Observations, cases: Mapping[Key, CasesSeen]
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
            ruling = judge(rule, way).ruling
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
    """Yield the observations of a target, by the rules to be written for them."""
    if cases is None:
        yield rules.whole, observation
        return
    for name, way in cases.seen.items():
        yield rules.of(name) or rules.whole, way


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
            rule = rules.in_force.get(key)
            if rule is None or rule.outcome == "xfail":
                found[key] = equivalents[identity]
    return found


def _identity(target: Target) -> tuple[object, ...]:
    """What decides on a target's outcome, but for time limits. In one folder a name is one config's."""
    compiled = target.compiled
    runtime = target.runtime.name if isinstance(target, RunTarget) else ""
    module = compiled.module
    said = compiled.folder, compiled.kind, module.path, module.name, compiled.compiler.name, compiled.flags, runtime
    return *said, target.devices


Devices = tuple[DeviceTraits, ...]


def on_devices(
    suites: Sequence[SuiteTargets], seen: Iterable[tuple[Key, Devices]]
) -> tuple[Sequence[SuiteTargets], Mapping[tuple[Key, Devices], Key]]:
    """Return the suites with a target for each device, and by what name each target goes that was `seen` on devices.

    They are as they were where nothing needs to tell devices apart.
    """
    targets = {key_of(target): target for one in suites for target in one.targets}
    known = [(key, devices) for key, devices in seen if key in targets]
    by_cell: dict[tuple[str, str, str], dict[Devices, None]] = {}
    for key, devices in known:
        by_cell.setdefault(cell_of(targets[key]), {})[devices] = None
    rules = {rule.when for one in suites for rule in one.suite.expectations}
    wanted = [term.traits for when in sorted(rules) for term in Selector.of_rule(when).terms if term.traits]
    if not wanted and all(len(devices) == 1 for devices in by_cell.values()):
        return suites, {(key, devices): key for key, devices in known}
    places = _Places(by_cell, wanted)
    names: dict[tuple[Key, Devices], Key] = {}
    placed = []
    for one in suites:
        found: list[Target] = []
        elsewhere: set[str] = set()
        for target in one.targets:
            for devices in places.devices(target):
                found.append(places.on(target, devices))
                names[key_of(target), devices] = key_of(found[-1])
                if places.is_elsewhere(target, devices):
                    elsewhere.add(found[-1].name)
        placed.append(replace(one, targets=tuple(found), elsewhere=frozenset(elsewhere)))
    return placed, {place: names[place] for place in known}


class _Places:
    """The devices of targets: those that were `seen` with their cell or with others, and those that rules want."""

    def __init__(
        self,
        seen: Mapping[tuple[str, str, str], Mapping[Devices, None]],
        wanted: Iterable[Iterable[tuple[str, object]]],
    ) -> None:
        self._seen = seen
        self._with_any = dict.fromkeys(devices for of_cell in seen.values() for devices in of_cell if devices)
        self._unseen: dict[Devices, None] = {}
        for traits in wanted:
            known = (one for devices in (*self._with_any, *self._unseen) for one in devices)
            if not any(has_traits(one, traits) for one in known):
                self._unseen[(DeviceTraits(**{name: str(text) for name, text in traits}),)] = None

    def devices(self, target: Target) -> tuple[Devices, ...]:
        """Return what a target stands there once for; without any, once for all devices that no rule is about."""
        of_cell = self._seen.get(cell_of(target)) or {(): None}
        if isinstance(target, CompileTarget) and not target.may_ask_devices:
            return tuple(of_cell)
        return tuple({**of_cell, **self._with_any, **self._unseen})

    def is_elsewhere(self, target: Target, devices: Devices) -> bool:
        """Return whether sessions had these devices, and this target's cell, but not together."""
        return devices in self._with_any and devices not in self._seen.get(cell_of(target), (devices,))

    def on(self, target: Target, devices: Devices) -> Target:
        """Return a target on one of its devices, of which its name tells where it has several."""
        if isinstance(target, CompileTarget):
            return self._compiled(target, devices)
        of_compile = self.devices(target.compile)
        compiled = self._compiled(target.compile, devices if devices in of_compile else of_compile[0])
        return replace(target, name=self._name(target, devices), compile=compiled, devices=devices)

    def _compiled(self, target: CompileTarget, devices: Devices) -> CompileTarget:
        return replace(target, name=self._name(target, devices), devices=devices)

    def _name(self, target: Target, devices: Devices) -> str:
        return target.name if len(self.devices(target)) == 1 else " ".join((target.name, *map(str, devices)))
