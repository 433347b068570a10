"""Expectation and golden tables → rules: words and expressions that are known, keys that go together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from retarget.declare.named_configs import word_problems
from retarget.declare.schema import OUTCOMES, STAGES
from retarget.declare.schema.kept import Declared, FileTables
from retarget.model import Expectation, Golden, Origin
from retarget.model.metrics import Metric, parse_percent, parse_quantity
from retarget.model.outcomes import TIMEOUT
from retarget.support.toml import KeyPath, Problem, format_key_path
from retarget.targets.availability import word_error
from retarget.targets.selection import ExpressionError, Selector

if TYPE_CHECKING:
    from retarget.declare.schema.tables import ExpectationTable, GoldenTable

T = TypeVar("T", bound="ExpectationTable | GoldenTable")
R = TypeVar("R")


def build_expectations(tables: FileTables) -> tuple[tuple[Expectation, ...], tuple[Problem, ...]]:
    """Return the rules of one file in order, and what is wrong with the others."""
    return _built(tables, tables.expectations, _problems, _expectation)


def build_goldens(tables: FileTables) -> tuple[tuple[Golden, ...], tuple[Problem, ...]]:
    """Return the golden rules of one file in order, and what is wrong with the others."""
    return _built(tables, tables.goldens, _golden_problems, _golden)


def _built(
    tables: FileTables,
    entries: Iterable[Declared[T]],
    problems_of: Callable[[T, KeyPath], Iterable[Problem]],
    rule_of: Callable[..., R],
) -> tuple[tuple[R, ...], tuple[Problem, ...]]:
    rules: list[R] = []
    problems: list[Problem] = []
    for entry in entries:
        table, found = entry.table, tuple(problems_of(entry.table, entry.path))
        problems += found
        if not found:
            texts = {key: " ".join(getattr(table, key).split()) for key in ("reason", "issue")}
            origin = Origin(file=tables.file, key_path=format_key_path(entry.path))
            shared = {"match": tuple(table.match), "when": table.when.strip(), "until": table.until, "origin": origin}
            rules.append(rule_of(table, **shared, **texts))
    return tuple(rules), tuple(problems)


def _expectation(table: ExpectationTable, **shared: Any) -> Expectation:
    return Expectation(
        **shared,
        cases=tuple(table.case),
        stages=tuple(table.stage),
        signature=table.signature.strip(),
        outcome=table.outcome,
        retries=table.retries or 0,
    )


def _golden(table: GoldenTable, **shared: Any) -> Golden:
    metric = Metric(table.metric)
    return Golden(
        **shared,
        metric=metric,
        most=None if table.max is None else parse_quantity(metric, table.max),
        within=None if table.within is None else parse_percent(table.within),
    )


def _problems(table: ExpectationTable, path: KeyPath) -> Iterable[Problem]:
    yield from _repeated(table.match, (*path, "match"))
    yield from _repeated(table.stage, (*path, "stage"))
    yield from _case_problems(table, path)
    yield from word_problems(table.stage, (*path, "stage"), lambda stage: word_error(stage, STAGES))
    if diagnostic := word_error(table.outcome, OUTCOMES):
        yield Problem((*path, "outcome"), diagnostic)
    yield from _outcome_problems(table, path)
    if "\n" in table.signature.strip():
        yield Problem((*path, "signature"), "found several lines, expected the first diagnostic, which is one line")
    yield from _rule_problems(table, path, "found no reason, expected why the targets fail")


def _rule_problems(table: ExpectationTable | GoldenTable, path: KeyPath, without_reason: str) -> Iterable[Problem]:
    """Yield what is wrong with the reason and the expression of a rule. `without_reason` words the lack of one."""
    if not table.reason.strip():
        yield Problem((*path, "reason"), without_reason)
    try:
        Selector.of_rule(table.when)
    except ExpressionError as error:
        yield Problem((*path, "when"), f"found {table.when!r}: {error.diagnostic}")


def _outcome_problems(table: ExpectationTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what does not go together of stages, signature, outcome, retries and until."""
    if not table.stage and table.outcome != "skip":
        expected = f"expected where the targets fail: one or some of {', '.join(STAGES)}"
        yield Problem((*path, "stage"), f"found no stage, {expected}")
    if table.outcome == "skip":
        for key in ("stage", "signature"):
            if getattr(table, key):
                hint = 'when = "run" skips run targets alone' if key == "stage" else "nothing is tried"
                yield Problem((*path, key), f'found {key} with outcome "skip", expected none: {hint}')
    if table.stage == [TIMEOUT] and table.signature.strip():
        message = 'found signature with stage "timeout", expected none: what runs out of time gives no diagnostic'
        yield Problem((*path, "signature"), message)
    if table.outcome == "flaky" and table.retries is None:
        yield Problem((*path, "retries"), "found no retries, expected how often a flaky target is tried again")
    if table.outcome == "intermittent" and table.until is None:
        message = 'found no until, expected the last day of outcome = "intermittent", such as until = 2031-01-31'
        yield Problem((*path, "until"), message)
    if table.outcome != "flaky" and table.retries is not None:
        message = f'found retries with outcome "{table.outcome}", expected it with outcome = "flaky" only'
        yield Problem((*path, "retries"), message)


def _case_problems(table: ExpectationTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what is wrong with the cases that a rule names."""
    yield from _repeated(table.case, (*path, "case"))
    for index, case in enumerate(table.case):
        if not case.strip():
            yield Problem((*path, "case", index), "found an empty string, expected the name of a case or a glob")
    if table.case and "compile" in table.stage:
        message = (
            'found case with stage "compile", expected load, run, compare, crash or timeout: '
            "a module that does not compile has no cases; name them in a rule of their own"
        )
        yield Problem((*path, "case"), message)


def _repeated(words: Sequence[str], path: KeyPath) -> Iterable[Problem]:
    """Yield an error for each word that a list has before."""
    seen: set[str] = set()
    for index, word in enumerate(words):
        if word in seen:
            yield Problem((*path, index), f"found {word!r} a second time, expected it once")
        seen.add(word)


def _golden_problems(table: GoldenTable, path: KeyPath) -> Iterable[Problem]:
    yield from _repeated(table.match, (*path, "match"))
    yield from _rule_problems(table, path, "found no reason, expected why the metric is bounded")
    if diagnostic := word_error(table.metric, tuple(Metric)):
        yield Problem((*path, "metric"), diagnostic)
    elif table.max is not None:
        try:
            parse_quantity(Metric(table.metric), table.max)
        except ValueError as error:
            yield Problem((*path, "max"), f"found {table.max!r} for {table.metric}, {error}")
    if table.max is not None and table.within is not None:
        yield Problem((*path, "within"), "found max and within, expected one of them: a rule has one bound")
    if table.max is None and table.within is None:
        yield Problem(path, "found no bound, expected max or within, such as within = '10 %'")
    if table.within is not None:
        try:
            parse_percent(table.within)
        except ValueError as error:
            yield Problem((*path, "within"), f"found {table.within!r}, {error}")
