"""Giving failures that no rule covers one: an existing one where that is exact, else few new ones.

Taking out of the rules what a run contradicts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from retarget.declare.sources import FileName
from retarget.expect.matching import COMPILE_STAGES
from retarget.expect.update.edited_rules import (
    EditedRules,
    Key,
    Observations,
    cell_of,
    key_of,
    module_of,
    with_modules,
    without_modules,
)
from retarget.expect.verdict import Ruling, judge
from retarget.model import CompileTarget, Expectation, Origin, RunTarget, Target
from retarget.model.outcomes import CRASH, TIMEOUT, Observation
from retarget.support.errors import RetargetError
from retarget.targets.tag_expressions import exact_expression, shortest_expression

_STAGES = ("compile", CRASH, TIMEOUT, "load", "run", "compare")
"""In which order new rules are written."""

_WITH_DIAGNOSTIC = frozenset({"compile", "load", "run"})

_AT_RUN = {
    "load": "the module or its data cannot be loaded",
    "run": "the call fails",
    "compare": "the results are not those expected",
    CRASH: "the run crashes",
    TIMEOUT: "the run takes longer than it may",
}
_AT_COMPILE = {
    "compile": "it does not compile",
    CRASH: "the compiler crashes",
    TIMEOUT: "the compile takes longer than it may",
}
_SHOWN = 3
"""How many ways in which cases fail a reason names."""


class _Failure(Struct, frozen=True):
    """How a module's targets failed, compile targets and run targets by themselves, in the suites of one folder."""

    folder: Path
    module: str
    seen: Observation
    is_compile: bool

    def is_content_of(self, rule: Expectation) -> bool:
        """Return whether the rule says exactly this."""
        stages, signature = _stages_and_signature(self.seen)
        return {*rule.stages} == {*stages} and rule.signature == signature

    def has_reason_of(self, rule: Expectation) -> bool:
        """Return whether the rule's reason, which may be that of a new rule, holds for this, too.

        A diagnostic has one cause. Values that differ, crashes and timeouts have many: what a person wrote on some of
        them says nothing of others.
        """
        if rule.signature and _WITH_DIAGNOSTIC.issuperset(rule.stages):
            return True
        return not rule.issue and rule.reason == _reason(self.seen, is_compile=self.is_compile)


def fit_rules(rules: EditedRules, seen: Observations) -> None:
    """Change the rules until they say what was observed.

    Raises `RetargetError` if that is impossible.
    """
    narrowing = Narrowing(rules, seen)
    narrowing.narrow()
    _Covering(rules, seen).cover()
    narrowing.narrow()


class _Covering:
    """Works on a `EditedRules`. `seen` is what was observed."""

    def __init__(self, rules: EditedRules, seen: Observations) -> None:
        self._rules = rules
        self._seen = seen

    def cover(self) -> None:
        """Give every failure that has no rule one: an existing one where that is exact, else a new one."""
        failures: dict[_Failure, list[Target]] = {}
        for key, seen in self._seen.items():
            if seen is not None and self._rules.in_force.get(key) is None:
                target = self._rules.targets[key]
                is_compile = isinstance(target, CompileTarget)
                failure = _Failure(self._rules.folder(key), module_of(target), _in_order(seen), is_compile)
                failures.setdefault(failure, []).append(target)
        self._join(failures)
        for rule in self._new_rules(failures):
            self._rules.add(rule)
        self._rules.update_in_force()

    def _join(self, failures: dict[_Failure, list[Target]]) -> None:
        """Put modules into a rule that says the same of others, where its expression selects just what fails."""
        for rule in list(self._rules.rules.values()):
            if rule.outcome != "xfail" or rule.is_expired:
                continue
            same = [failure for failure in failures if failure.is_content_of(rule) and failure.has_reason_of(rule)]
            joining = [failure for failure in same if self._selects_just(rule, failure.module, failures[failure])]
            names = {failure.module for failure in joining}
            for failure in joining:
                del failures[failure]
            if names:
                self._rules.rules[rule.origin] = replace(rule, match=with_modules(rule.match, names))
        self._rules.update_in_force()

    def _selects_just(self, rule: Expectation, module: str, targets: Iterable[Target]) -> bool:
        """Return whether a rule would select these targets of a module, and no other, if it named the module."""
        return self._rules.selected(rule, module) == {key_of(target) for target in targets}

    def _new_rules(self, failures: Mapping[_Failure, Sequence[Target]]) -> list[Expectation]:
        groups: dict[tuple[Path, Observation, bool, frozenset[tuple[str, str, str]]], list[_Failure]] = {}
        for failure, targets in failures.items():
            key = (failure.folder, failure.seen, failure.is_compile, frozenset(map(cell_of, targets)))
            groups.setdefault(key, []).append(failure)
        rules: dict[tuple[Path, Observation, bool, str], list[str]] = {}
        for (folder, seen, is_compile, _), found in groups.items():
            targets = [target for failure in found for target in failures[failure]]
            joint = shortest_expression(targets, self._others(folder, found, failures))
            for one in found:
                when = joint
                if when is None:  # their modules' own words differ
                    when = exact_expression(failures[one], self._others(folder, [one], failures))
                rules.setdefault((folder, seen, is_compile, when), []).append(one.module)
        created = [
            Expectation(
                match=tuple(sorted(names)),
                when=when,
                stages=_stages_and_signature(seen)[0],
                signature=_stages_and_signature(seen)[1],
                reason=_reason(seen, is_compile=is_compile),
                origin=Origin(file=folder / FileName.EXPECTATIONS, key_path=""),
            )
            for (folder, seen, is_compile, when), names in rules.items()
        ]
        return sorted(created, key=lambda rule: (_STAGES.index(rule.stages[0]), rule.signature, rule.when))

    def _others(
        self, folder: Path, failures: Iterable[_Failure], all_failures: Mapping[_Failure, Sequence[Target]]
    ) -> list[Target]:
        """The targets that a new rule for these failures must not select."""
        found = list(failures)
        seen = found[0].seen
        probe = Expectation(
            match=tuple(failure.module for failure in found),
            stages=_stages_and_signature(seen)[0],
            origin=Origin(file=folder / FileName.EXPECTATIONS, key_path=""),
        )
        wanted = {key_of(target) for failure in found for target in all_failures[failure]}
        reached = (one for targets in self._rules.reach(probe).values() for one in targets)
        return [target for target in reached if self._must_not(target, wanted)]

    def _must_not(self, target: Target, wanted: Container[Key]) -> bool:
        """Return whether a rule that selects the `wanted` ones must not select this target.

        What runs an artifact that the compiler crashes on has nothing to say on it, unless another rule has; nor has
        a device that was seen with other configs only.
        """
        key = key_of(target)
        is_open = self._rules.is_elsewhere(key) or (isinstance(target, RunTarget) and key_of(target.compile) in wanted)
        return key not in wanted and not (is_open and self._rules.in_force.get(key) is None)


def _in_order(seen: Observation) -> Observation:
    """Put the ways in which cases failed into the order of stages: which case came first does not matter."""
    first, *others = sorted(seen.distinct_failures, key=lambda way: (_STAGES.index(way.stage), way.signature))
    return dataclasses.replace(first, also=tuple(others))


def _stages_and_signature(seen: Observation) -> tuple[tuple[str, ...], str]:
    """Return the stages and the signature of the rule for what was seen; no signature where there are several."""
    signatures = {way.signature for way in seen.distinct_failures}
    stages = tuple(stage for stage in _STAGES if any(way.stage == stage for way in seen.distinct_failures))
    return stages, signatures.pop() if len(signatures) == 1 else ""


def _reason(seen: Observation, *, is_compile: bool) -> str:
    """Return one line: `it does not compile: failed to legalize operation 'foo.bar'`."""
    if seen.also:
        text = "; ".join(way.text for way in seen.distinct_failures[:_SHOWN])
        return f"its cases fail in different ways: {text}" + ("; …" if len(seen.distinct_failures) > _SHOWN else "")
    text = (_AT_COMPILE if is_compile else _AT_RUN).get(seen.stage, f"it fails at {seen.stage}")
    return f"{text}: {seen.signature}" if seen.signature else text


_SHOWN_TARGETS = 8


class Status(Struct):
    """What a rule says of a module's targets: those it keeps, those it must not select, those it is wrong of.

    `lost` means that it matches some for which a more specific rule is in force.
    """

    keep: list[Target]
    others: list[Target]
    contradicted: list[Target]
    lost: bool = False


class Narrowing:
    """Works on a `EditedRules`. `seen` is what was observed."""

    def __init__(self, rules: EditedRules, seen: Observations) -> None:
        self._rules = rules
        self._seen = seen

    def narrow(self) -> None:
        """Take out of the rules what contradicts them until nothing does; one may come into force when another goes."""
        contradicted: dict[Origin, set[Key]] = {}
        for _ in range(2 * len(self._seen) + 2):
            contradicted = {}
            for key in self._rules.targets:
                rule = self._rules.in_force.get(key)
                if rule is not None and self._contradicts(rule, key):
                    contradicted.setdefault(rule.origin, set()).add(key)
                    continue
                for loser in self._rules.conflicting.get(key, ()):
                    contradicted.setdefault(loser.origin, set()).add(key)
            if not contradicted:
                return
            for origin, keys in contradicted.items():
                self._narrow(self._rules.rules[origin], keys)
            self._rules.update_in_force()
        names = sorted({name for keys in contradicted.values() for _, name in keys})
        more = ", …" * (len(names) > _SHOWN_TARGETS)
        msg = (
            f"the expectations could not be changed to fit {', '.join(names[:_SHOWN_TARGETS])}{more}; "
            "nothing was written: change their rules by hand"
        )
        raise RetargetError(msg)

    def _contradicts(self, rule: Expectation, key: Key) -> bool:
        if key not in self._seen or rule.outcome != "xfail":
            return False
        seen = self._seen[key]
        if rule.is_expired:
            return seen is None
        if seen is None and key in self._rules.deferred:
            return False
        return judge(rule, seen).ruling in {Ruling.PASSED, Ruling.OTHERWISE}

    def _narrow(self, rule: Expectation, contradicted: set[Key]) -> None:
        """Take targets out of a rule. What remains of modules that lose only some becomes rules of their own."""
        statuses = {
            name: status_of(self._rules, self._seen, rule, targets, contradicted)
            for name, targets in self._rules.reach(rule).items()
            if any(self._rules.selects(rule, target) for target in targets)
        }
        gone = {name for name, status in statuses.items() if status.contradicted and not status.keep}
        partly = {name for name, status in statuses.items() if status.contradicted and status.keep}
        while True:
            match = without_modules(rule, statuses.keys() - gone - partly, gone | partly)
            # A name is more specific than the glob that it replaces: it must not take what another rule has.
            risen = {name for name in match if name not in rule.match and name in statuses and statuses[name].lost}
            if not risen:
                break
            partly |= {name for name in risen if statuses[name].keep}
            gone |= {name for name in risen if not statuses[name].keep}
        pieces = self._pieces(rule, {name: statuses[name] for name in sorted(partly)})
        if not match and pieces:
            (when, names), *pieces = pieces
            self._rules.rules[rule.origin] = replace(rule, match=tuple(names), when=when)
        elif match:
            self._rules.rules[rule.origin] = replace(rule, match=match)
        else:
            del self._rules.rules[rule.origin]
        for when, names in pieces:
            self._rules.add(replace(rule, match=tuple(names), when=when), after=rule.origin)

    def _pieces(self, rule: Expectation, statuses: Mapping[str, Status]) -> list[tuple[str, list[str]]]:
        """Return an expression for what each module keeps, with the modules that share it, the largest group first.

        It keeps the words of the rule where another rule would come into force in its place without them.
        """
        groups: dict[frozenset[tuple[str, str, str]], list[str]] = {}
        for name, status in statuses.items():
            groups.setdefault(frozenset(map(cell_of, status.keep)), []).append(name)
        pieces: dict[str, list[str]] = {}
        for names in groups.values():
            keep = [target for name in names for target in statuses[name].keep]
            others = [target for name in names for target in statuses[name].others]
            joint = shortest_expression(keep, others)
            for name in names:
                kept = statuses[name].keep
                when = exact_expression(kept, statuses[name].others) if joint is None else joint
                if self._rules.is_outranked(replace(rule, when=when), name, {*map(key_of, kept)}):
                    when = f"({rule.when}) and " + (f"({when})" if " or " in when else when)
                pieces.setdefault(when, []).append(name)
        return sorted(((when, sorted(names)) for when, names in pieces.items()), key=lambda piece: -len(piece[1]))


def status_of(
    rules: EditedRules, seen: Observations, rule: Expectation, targets: Iterable[Target], contradicted: set[Key]
) -> Status:
    """Return what a rule says of some targets, of which it is known to be wrong of those in `contradicted`."""
    status = Status([], [], [])
    for target in targets:
        key = key_of(target)
        in_force = rules.in_force.get(key)
        if key in contradicted:
            status.contradicted.append(target)
            status.others.append(target)
        elif rules.is_elsewhere(key) and (in_force is None or in_force.origin == rule.origin):
            pass  # may be selected or not
        elif not rules.selects(rule, target) or in_force is None:
            status.others.append(target)
        elif in_force.origin != rule.origin:
            status.others.append(target)
            status.lost = True
        elif key in seen and seen[key] is None and key in rules.deferred:
            pass  # may be selected or not: it is its run targets that the rule is about
        elif key not in seen and _fails_otherwise(rule, target, seen, contradicted):
            pass  # may be selected or not: the rule was about the compile
        else:
            status.keep.append(target)
    return status


def _fails_otherwise(rule: Expectation, target: Target, seen: Observations, contradicted: set[Key]) -> bool:
    """Return whether a rule about compiles is in force for a run target whose compile failed, and not as it says."""
    if isinstance(target, CompileTarget) or not COMPILE_STAGES.issuperset(rule.stages):
        return False
    compiled = key_of(target.compile)
    return compiled in contradicted and seen.get(compiled) is not None
