"""Targets that would be deselected at once never become items: a session of ten targets of 100,000 starts soon.

    by node ids       where the command line names targets of a suite, only those are made
    by expressions    where `-m`, `-k` or the leg of a plan leaves targets out, they are counted and not made; the first
                      target of a suite is made in any case, so that pytest judges each expression by itself

pytest's own matchers evaluate the expressions, once for all targets that are alike to them. Nothing can look at an item
that is not made: where a plugin or a `conftest.py` other than those known here sees what is collected or deselected,
all items are made; for one that comes while pytest collects, they are made before its `pytest_collection_modifyitems`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from retarget.model import Target
from retarget.session import ExpressionError, Selector

from pytest_retarget.internals import Expression, KeywordMatcher, MarkMatcher, count_collected

_REPORTED = ("pytest_make_collect_report", "pytest_collectreport")
_SEEN = (*_REPORTED, "pytest_itemcollected", "pytest_collection_modifyitems", "pytest_deselected")
"""The hooks by which a plugin sees what is made of node ids, and what is made by expressions."""

_INDIFFERENT = ("_pytest.", "xdist.", "_hypothesis_pytestplugin", "anyio.", "pytest_retarget.")
_LOOKING = ("_pytest.stepwise", "pytest_retarget.collect.requirements", "pytest_retarget.collect.selecting")
"""How the modules of plugins begin to which an item that is deselected means nothing, and which of them count or judge
such items all the same."""

Indices = Sequence[int]
Names = frozenset[str]
_Keeps = Callable[[Target], bool]
_MarksOf = Callable[[Target], list[pytest.Mark]]
"""The marks of a target: one list for all targets that have the same."""
_Complete = Callable[[Iterable[pytest.Item], Indices], list[pytest.Item]]
"""Returns the items of the targets with these indices; those that are given are there already."""


class Preselection:
    """The targets that become items in one session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._left_out: dict[pytest.Collector, tuple[Indices, int, _Complete]] = {}
        leg = config.pluginmanager.get_plugin("retarget-plan")
        self._leg: Names | None = frozenset(leg.leg.ids) if leg is not None else None
        self._mark, self._keyword = config.option.markexpr, config.option.keyword.lstrip()
        self._words = _words(self._keyword)
        is_sound = self._words is not None and _words(self._mark, arguments=True) is not None
        self._selects = is_sound and not config.getoption("keepduplicates")

    def choose(
        self,
        suite: pytest.Collector,
        targets: Sequence[Target],
        indices: Indices,
        *,
        marks: _MarksOf,
        complete: _Complete,
    ) -> Indices:
        """Return which of the targets with these indices become items when a suite is collected."""
        if (names := self._named(suite)) is not None:
            return indices if self._is_seen(_REPORTED) else [at for at in indices if targets[at].name in names]
        tests = list(self._tests(suite, marks)) if self._selects and not self._is_seen(_SEEN) else []
        if not tests or not indices:
            return indices
        chosen = indices
        for test in tests:
            chosen = [at for at in chosen if test(targets[at])]
        if indices[0] not in chosen[:1]:
            chosen = [indices[0], *chosen]
        self._left_out[suite] = indices, len(indices) - len(chosen), complete
        return chosen

    def complete_items(self, items: list[pytest.Item], *, make: bool) -> None:
        """Deselect the items that were left out; or make them, with `make` or if a plugin looks at items by now."""
        make = make or self._is_seen(_SEEN)
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        for suite, (_, count, _) in self._left_out.items() if reporter is not None else ():
            count_collected(reporter, count)  # pytest counts only what it is given
            reporter.stats.setdefault("deselected", []).extend([] if make else [suite] * count)
        if make:
            made: dict[object, list[pytest.Item]] = {suite: [] for suite in self._left_out}
            for item in items:
                made.get(item.parent, []).append(item)
            full: dict[object, list[pytest.Item]] = {
                suite: complete(made[suite], indices) for suite, (indices, _, complete) in self._left_out.items()
            }
            items[:] = [one for item in items for one in (full.pop(item.parent, []) if item.parent in made else [item])]
        self._left_out.clear()

    def _is_seen(self, hooks: Sequence[str]) -> bool:
        found = (one for hook in hooks for one in getattr(self._config.hook, hook).get_hookimpls())
        modules = {one.function.__module__ for one in found}
        return any(not one.startswith(_INDIFFERENT) or one.startswith(_LOOKING) for one in modules)

    # ------------------------------------------------------------ by node ids

    def _named(self, suite: pytest.Collector) -> Names | None:
        """The targets of a suite that the command line names; None where it asks for all, or in another way."""
        names: set[str] = set()
        for argument in self._config.args:
            path, *parts = str(argument).split("::")
            asked = Path(os.path.abspath(self._config.invocation_params.dir / path))  # noqa: PTH100  links stay
            if asked == suite.path and len(parts) == 2 and "[" not in parts[1]:
                names.update(parts[1:] if parts[0] == suite.name else ())
            elif suite.path.is_relative_to(asked) and (not parts or parts[0] == suite.name):
                return None
        return frozenset(names) if names and not self._config.option.pyargs else None

    # ------------------------------------------------------------ by expressions

    def _tests(self, suite: pytest.Collector, marks: _MarksOf) -> Iterator[_Keeps]:
        """Yield what a target of a suite must pass, each as pytest evaluates it of an item."""
        if (ids := self._leg) is not None:
            prefix = f"{suite.nodeid}::"
            yield lambda target: prefix + target.name in ids
        if self._mark:
            by_mark, above = Expression.compile(self._mark), [*suite.iter_markers()]
            marked: dict[int, bool] = {}

            def is_marked(target: Target) -> bool:
                own = marks(target)
                known = marked.get(id(own))
                if known is None:
                    known = marked[id(own)] = by_mark.evaluate(MarkMatcher.from_markers([*own, *above]))
                return known

            yield is_marked
        if self._keyword:
            named: dict[int, Callable[[str], bool]] = {}

            def is_named(target: Target) -> bool:
                own = marks(target)
                known = named.get(id(own))
                if known is None:
                    known = named[id(own)] = self._by_keyword(suite, own)
                return known(target.name.lower())

            yield is_named

    def _by_keyword(self, suite: pytest.Collector, marks: Sequence[pytest.Mark]) -> Callable[[str], bool]:
        """Return what decides by the lower-case name of a target, given its marks."""
        expression, above = Expression.compile(self._keyword), KeywordMatcher.from_item(suite)  # type: ignore[arg-type]
        holds = {
            word: above(word) or any(word.lower() in mark.name.lower() for mark in marks) for word in self._words or ()
        }
        of_name = [word for word, known in holds.items() if not known]

        @cache
        def keeps(found: tuple[bool, ...]) -> bool:
            truth = holds | dict(zip(of_name, found, strict=True))
            return expression.evaluate(lambda word, /, **_: truth[word])

        lowered = [word.lower() for word in of_name]
        return lambda name: keeps(tuple([word in name for word in lowered]))


def _words(expression: str, *, arguments: bool = False) -> tuple[str, ...] | None:
    """Return the words of an expression; None where pytest will refuse it, as `-k` does words with arguments."""
    try:
        found = [term.text.partition("(") for term in Selector(expression).terms]
        Expression.compile(expression)
    except (ExpressionError, SyntaxError, pytest.UsageError):
        return None
    if not arguments and any(given for _, given, _ in found):
        return None
    return tuple(dict.fromkeys(word.rstrip() for word, _, _ in found))


_PRESELECTION = pytest.StashKey[Preselection]()


def preselection(config: pytest.Config) -> Preselection:
    """The session's preselection, created on first use."""
    if _PRESELECTION not in config.stash:
        config.stash[_PRESELECTION] = Preselection(config)
    return config.stash[_PRESELECTION]
