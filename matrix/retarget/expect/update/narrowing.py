"""Taking out of the rules what a run contradicts, and rules that concern nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from retarget.expect.matching import COMPILE_STAGES
from retarget.expect.update.edited_rules import (
    EditedRules,
    Key,
    Observations,
    cell_of,
    key_of,
    with_modules,
    without_modules,
)
from retarget.expect.verdict import Ruling, is_expired, judge
from retarget.model import CompileTarget, Expectation, Origin, Target
from retarget.support.errors import RetargetError
from retarget.targets.tag_expressions import exact_expression, shortest_expression

_SHOWN = 8


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
        msg = (
            f"the expectations could not be changed to fit {', '.join(names[:_SHOWN])}{', …' * (len(names) > _SHOWN)}; "
            "nothing was written: change their rules by hand"
        )
        raise RetargetError(msg)

    def _contradicts(self, rule: Expectation, key: Key) -> bool:
        if key not in self._seen:
            return self._rules.has_taken(rule, key)
        if rule.outcome != "xfail":
            return False
        seen = self._seen[key]
        if is_expired(rule):
            return seen is None
        if seen is None and key in self._rules.deferred:
            return False
        return judge(rule, seen).ruling in {Ruling.PASSED, Ruling.OTHERWISE}

    def _narrow(self, rule: Expectation, contradicted: set[Key]) -> None:
        """Take targets out of a rule. What remains of modules that lose only some becomes rules of their own."""
        statuses = {
            name: status_of(self._rules, self._seen, rule, targets, contradicted)
            for name, targets in self._rules.reach(rule).items()
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
        pieces = self._pieces({name: statuses[name] for name in sorted(partly)})
        if not match and pieces:
            (when, names), *pieces = pieces
            self._rules.replace(replace(rule, match=tuple(names), when=when))
        elif match:
            self._rules.replace(replace(rule, match=match))
        else:
            del self._rules.rules[rule.origin]
        for when, names in pieces:
            self._add_piece(replace(rule, match=tuple(names), when=when))

    def _add_piece(self, piece: Expectation) -> None:
        """Add what is left of a rule for some modules; to the rule that says the same of others, if there is one."""
        for rule in list(self._rules.rules.values()):
            is_equivalent = replace(piece, match=rule.match, origin=rule.origin) == rule
            if is_equivalent and rule.origin != piece.origin and rule.origin.file == piece.origin.file:
                self._rules.replace(replace(rule, match=with_modules(rule.match, piece.match)))
                return
        self._rules.add(piece, after=piece.origin)

    def _pieces(self, statuses: Mapping[str, Status]) -> list[tuple[str, list[str]]]:
        """Return an expression for what each module keeps, with the modules that share it, the largest group first."""
        groups: dict[frozenset[tuple[str, str, str]], list[str]] = {}
        for name, status in statuses.items():
            groups.setdefault(frozenset(map(cell_of, status.keep)), []).append(name)
        pieces: dict[str, list[str]] = {}
        for names in groups.values():
            keep = [target for name in names for target in statuses[name].keep]
            others = [target for name in names for target in statuses[name].others]
            when = shortest_expression(keep, others)
            if when is not None:
                pieces.setdefault(when, []).extend(names)
                continue
            for name in names:  # their modules' own words differ
                alone = exact_expression(statuses[name].keep, statuses[name].others)
                pieces.setdefault(alone, []).append(name)
        return sorted(((when, sorted(names)) for when, names in pieces.items()), key=lambda piece: -len(piece[1]))

    def drop_idle(self) -> None:
        """Drop rules and entries that concern no declared target, and words that are true of none, unless in doubt."""
        for rule in list(self._rules.rules.values()):
            effect = self._rules.effect(rule)
            match = tuple(entry for index, entry in enumerate(rule.match) if index in effect.matched)
            if not match:
                del self._rules.rules[rule.origin]
                continue
            if match != rule.match:
                self._rules.replace(replace(rule, match=match))
            if self._rules.has_idle_words(rule) and not self._rules.doubts.get(rule.origin.file):
                self._reword(self._rules.rules[rule.origin])
        self._rules.update_in_force()

    def _reword(self, rule: Expectation) -> None:
        reach = [target for targets in self._rules.reach(rule).values() for target in targets]
        chosen = [target for target in reach if self._rules.selects(rule, target)]
        when = shortest_expression(chosen, [target for target in reach if not self._rules.selects(rule, target)])
        if when is not None:
            self._rules.replace(replace(rule, when=when))


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
