"""The shortest tag expression that selects exactly some targets among others, as a person would write it.

Tried in this order, the first that is exact is taken; within a step the most telling words come first:

    nothing at all                  where there are no others
    word                            `vulkan`
    not word                        `not vmvx`
    two words                       `llvm-cpu or vmvx`, `llvm-cpu and local-task`, `cpu and not vmvx`
    several words                   `a or b or c`, `not (a or b or c)`, `cpu and (a or b)`, `(a and x) or (b and y)`
    keyword marks                   `compiler(name='vulkan') and runtime(name='mali')`

All of this is tried once more with the devices of targets, where these alone tell some apart: `on(driver='llvmpipe')`.
No device is negated: that would be about all that nobody has seen.

Names of configs are more telling than what was derived or declared as a tag; words of a platform, a device or a
suite come last, and words that only say something of the module are not used.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_

from msgspec import Struct

from retarget.model import RunTarget, Target
from retarget.model.devices import TRAITS, DeviceTraits, has_traits
from retarget.model.marks import Mark
from retarget.model.names import TARGET_SORTS
from retarget.support.errors import RetargetError

_COMPILER, _RUNTIME, _DRIVER, _SORT, _BACKEND, _DECLARED, _LAST, _DEVICE = range(8)

_NEGATED = 4
"""How much less telling a pair of words is for each negation in it."""

_MAX_PAIRED = 80
"""Words that are tried in pairs: the most telling ones."""


def shortest_expression(wanted: Iterable[Target], others: Iterable[Target]) -> str | None:
    """Return an expression for `-m` and `when` that selects all of `wanted` and none of `others`.

    An empty one selects everything. None if no expression distinguishes them, because two of them differ in their
    module only.
    """
    wanted, others = tuple(wanted), tuple(others)
    for with_devices in (False, True):
        wanted_kinds = {_Kind.of(target, with_devices=with_devices): target for target in wanted}
        other_kinds = {_Kind.of(target, with_devices=with_devices): target for target in others}
        if not wanted_kinds.keys() & other_kinds.keys():
            break
    else:
        return None
    if not other_kinds:
        return ""
    ranks = _ranks([*wanted_kinds.values(), *other_kinds.values()])
    space = _Space([*wanted_kinds, *other_kinds], len(wanted_kinds), ranks)
    options = (space.few_words, space.several_words, space.keyword_marks)
    return next((text for option in options if (text := option()) is not None), None)


def exact_expression(wanted: Sequence[Target], others: Sequence[Target]) -> str:
    """Return the shortest expression. Raises `RetargetError` if there is none."""
    expression = shortest_expression(wanted, others)
    if expression is None:
        msg = f"no tag expression separates {wanted[0].name} from all of {', '.join(target.name for target in others)}"
        raise RetargetError(msg)
    return expression


class _Kind(Struct, frozen=True):
    """All that an expression can see of a target."""

    tags: tuple[str, ...]
    marks: tuple[Mark, ...]
    devices: tuple[DeviceTraits, ...] = ()

    @classmethod
    def of(cls, target: Target, *, with_devices: bool) -> _Kind:
        return cls(target.tags, target.marks, (target.devices or ()) if with_devices else ())

    def has(self, word: str) -> bool:
        return word in self.tags or any(name == word for name, _ in self.marks)

    @property
    def traits(self) -> Iterator[tuple[str, str]]:
        """The devices' own words, without their type, which says little."""
        pairs = ((trait, getattr(one, trait)) for one in self.devices for trait in TRAITS if trait != "type")
        yield from (pair for pair in pairs if pair[1] and "\\" not in pair[1])


class _Term(Struct, frozen=True):
    """A part of an expression: what it reads like, which kinds it selects (a bit for each), how telling it is."""

    text: str
    bits: int
    rank: int

    @property
    def is_plain(self) -> bool:
        """Whether it is no device: `not` of a device is about all others."""
        return self.rank < _DEVICE


class _Space:
    """The kinds of targets to distinguish, the wanted ones first, and the words for it."""

    def __init__(self, kinds: Sequence[_Kind], wanted: int, ranks: dict[str, int]) -> None:
        self._kinds = kinds
        self._all = (1 << len(kinds)) - 1
        self._wanted = (1 << wanted) - 1
        words = dict.fromkeys(word for kind in kinds for word in kind.tags)
        terms = [_Term(word, _bits(kind.has(word) for kind in kinds), ranks[word]) for word in words if word in ranks]
        terms += map(self._condition, dict.fromkeys(pair for kind in kinds for pair in kind.traits))
        self._words = sorted((term for term in terms if term.bits != self._all), key=lambda term: term.rank)
        self._plain = [term for term in self._words if term.is_plain]

    def _condition(self, pair: tuple[str, str]) -> _Term:
        having = (any(has_traits(device, [pair]) for device in kind.devices) for kind in self._kinds)
        return _Term(f"on({pair[0]}={pair[1]!r})", _bits(having), _DEVICE + TRAITS.index(pair[0]))

    def few_words(self) -> str | None:
        """One word, else a negated one, else two words."""
        negated = (_Term(f"not {one.text}", self._all ^ one.bits, one.rank) for one in self._plain)
        pairs = itertools.combinations(self._words[:_MAX_PAIRED], 2)
        for terms in (self._words, negated, (term for pair in pairs for term in self._pairs(*pair))):
            if found := [term for term in terms if term.bits == self._wanted]:
                return min(found, key=lambda term: term.rank).text
        return None

    def _pairs(self, one: _Term, two: _Term) -> Iterator[_Term]:
        rank = one.rank + two.rank
        if one.text in TARGET_SORTS or two.text not in TARGET_SORTS:
            first, second = one, two
        else:
            first, second = two, one
        yield _Term(f"{one.text} or {two.text}", one.bits | two.bits, rank)
        yield _Term(f"{first.text} and {second.text}", one.bits & two.bits, rank)
        if two.is_plain:
            yield _Term(f"{one.text} and not {two.text}", one.bits & ~two.bits, rank + _NEGATED)
        if one.is_plain:
            yield _Term(f"{two.text} and not {one.text}", two.bits & ~one.bits, rank + _NEGATED)
        if one.is_plain and two.is_plain:
            yield _Term(f"not {one.text} and not {two.text}", self._all & ~(one.bits | two.bits), rank + 2 * _NEGATED)

    def several_words(self) -> str | None:
        """The way to list words that takes the fewest; of equally short ones the plainest, which come first here."""
        words = [term for term in self._words if term.text not in TARGET_SORTS]
        unwanted = self._all ^ self._wanted
        found: list[str] = []
        if (listed := _cover(words, self._wanted, self._wanted)) is not None:
            found.append(" or ".join(listed))
        for one in sorted(self._words, key=lambda term: term.text not in TARGET_SORTS):
            if not self._wanted & ~one.bits:
                within = self._within(words, one.bits)
                found += [f"{one.text} and {within}"] if within is not None else []
        both = self._conjunctions(words)
        if (paired := _cover(both, self._wanted, self._wanted) or self._on_devices(both)) is not None:
            found.append(_alternatives(paired))
        if (avoided := _cover([term for term in words if term.is_plain], unwanted, unwanted)) is not None:
            found.append(f"not ({' or '.join(avoided)})")
        joining = {"and", "or", "not"}
        return min(found, key=lambda text: sum(word not in joining for word in text.split()), default=None)

    def _within(self, words: Sequence[_Term], among: int) -> str | None:
        """The part after `run and` or `vmvx and`, where only the targets of that word need to be distinguished."""
        listed = _cover(words, self._wanted, self._wanted | (self._all & ~among))
        unwanted = among & ~self._wanted
        plain = [term for term in words if term.is_plain]
        avoided = _cover(plain, unwanted, unwanted | (self._all & ~among))
        if avoided is not None and (listed is None or len(avoided) < len(listed)):
            return f"not {avoided[0]}" if len(avoided) == 1 else f"not ({' or '.join(avoided)})"
        if listed is None:
            return None
        return listed[0] if len(listed) == 1 else f"({' or '.join(listed)})"

    def _conjunctions(self, words: Sequence[_Term]) -> list[_Term]:
        pairs = itertools.combinations(self._words[:_MAX_PAIRED], 2)
        both = [term for pair in pairs for term in self._pairs(*pair) if term.bits and " and " in term.text]
        plain = [term for term in both if "not " not in term.text]
        return [*words, *sorted(plain, key=lambda term: term.rank)]

    def _on_devices(self, both: Sequence[_Term]) -> list[str] | None:
        """The same with conjunctions of two words and a device: a config on one of the devices that several have."""
        devices = [term for term in self._words if not term.is_plain]
        pairs = [term for term in both if " and " in term.text and "on(" not in term.text]
        three = [_Term(f"{a.text} and {b.text}", a.bits & b.bits, a.rank + b.rank) for a in pairs for b in devices]
        return _cover([*both, *three], self._wanted, self._wanted) if three else None

    def keyword_marks(self) -> str | None:
        """Marks distinguish configs even where one config's name is another one's tag."""
        terms: list[_Term] = []
        for names in (("compiler",), ("runtime",), ("compiler", "runtime"), ("suite", "compiler", "runtime")):
            for sort in ("", *TARGET_SORTS):
                terms += self._marked(names, sort)
        found = _cover(terms, self._wanted, self._wanted)
        return None if found is None else _alternatives(found)

    def _marked(self, names: Sequence[str], sort: str) -> Iterator[_Term]:
        """The marks of these names, and `compile` or `run` where one is given, that each kind has."""
        facts = [
            {*kind.tags, *((name, value) for name, fields in kind.marks for _, value in fields)} for kind in self._kinds
        ]
        needed: dict[str, set[object]] = {}
        for kind in self._kinds:
            given = [(name, value) for name, fields in kind.marks for _, value in fields if name in names]
            if given and (not sort or sort in kind.tags):
                parts = [f"{name}(name='{value}')" for name, value in given]
                needed[" and ".join([sort, *parts] if sort else parts)] = {*given, *filter(None, [sort])}
        for text, wanted in needed.items():
            yield _Term(text, _bits(wanted <= has for has in facts), len(names))


def _bits(selected: Iterable[bool]) -> int:
    return sum(1 << at for at, is_one in enumerate(selected) if is_one)


def _cover(terms: Sequence[_Term], wanted: int, allowed: int) -> list[str] | None:
    """Return few terms that select all of `wanted` together and nothing outside `allowed`, the most telling first."""
    usable = [term for term in terms if term.bits & wanted and not term.bits & ~allowed]
    chosen: list[_Term] = []
    left = wanted
    while left:
        best = max(usable, key=lambda term: ((term.bits & left).bit_count(), -term.rank), default=None)
        if best is None or not best.bits & left:
            return None
        chosen.append(best)
        left &= ~best.bits
    needed = [term for term in chosen if _union(other for other in chosen if other is not term) & wanted != wanted]
    if _union(needed) & wanted == wanted:
        chosen = needed
    order = {id(term): at for at, term in enumerate(terms)}
    return [term.text for term in sorted(chosen, key=lambda term: order[id(term)])]


def _alternatives(texts: Sequence[str]) -> str:
    return " or ".join(f"({text})" if " and " in text and len(texts) > 1 else text for text in texts)


def _union(terms: Iterable[_Term]) -> int:
    return reduce(or_, (term.bits for term in terms), 0)


def _ranks(targets: Iterable[Target]) -> dict[str, int]:
    """How specific each word is, the most specific 0; words that only a module has are left out."""
    ranks: dict[str, int] = {}
    for target in targets:
        compiled = target.compile if isinstance(target, RunTarget) else target
        of_target = {compiled.suite: _LAST} | dict.fromkeys(TARGET_SORTS, _SORT)
        of_target |= dict.fromkeys(compiled.backends, _BACKEND)
        if isinstance(target, RunTarget):
            runtime = target.runtime
            of_target |= dict.fromkeys((*runtime.host_os, *runtime.host_arch, *runtime.devices), _LAST)
            of_target |= {**dict.fromkeys(runtime.drivers, _DRIVER), runtime.name: _RUNTIME}
        of_target[compiled.compiler.name] = _COMPILER
        for word in target.tags:
            if word in of_target or word not in compiled.module.tags:
                ranks[word] = min(ranks.get(word, _LAST), of_target.get(word, _DECLARED))
    return ranks
