"""What is wrong with a rule of expectations, and with one that bounds a metric."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from retarget.declare.expectations import _golden_problems, _problems
from retarget.declare.schema.tables import ExpectationTable, GoldenTable


def expectation(**known: Any) -> list[tuple[str, str]]:
    given = {"match": ["m"], "stage": ["run"], "reason": "r"} | known
    table = ExpectationTable(**{key: value for key, value in given.items() if value is not None})
    return [(".".join(map(str, one.path)), one.message) for one in _problems(table, ("e",))]


def golden(**known: Any) -> list[tuple[str, str]]:
    table = GoldenTable(**{"match": ["m"], "metric": "latency", "max": "1 ms", "reason": "r"} | known)
    return [(".".join(map(str, one.path)), one.message) for one in _golden_problems(table, ("g",))]


@pytest.mark.parametrize(
    ("known", "path", "message"),
    [
        ({"match": ["m", "n", "m"]}, "e.match.2", "found 'm' a second time, expected it once"),
        ({"stage": ["run", "run"]}, "e.stage.1", "found 'run' a second time, expected it once"),
        ({"case": ["a", "a"]}, "e.case.1", "found 'a' a second time, expected it once"),
        ({"case": ["a", " "]}, "e.case.1", "found an empty string, expected the name of a case or a glob"),
        ({"case": ["a"], "stage": ["run", "compile"]}, "e.case", 'found case with stage "compile", expected load, run'),
        ({"stage": ["ran"]}, "e.stage.0", "found 'ran', expected one of compile, load, run, compare, crash, timeout"),
        ({"outcome": "xfial"}, "e.outcome", "found 'xfial', expected one of xfail, skip, flaky, intermittent; did you"),
        (
            {"stage": None},
            "e.stage",
            "found no stage, expected where the targets fail: one or some of compile, load, run",
        ),
        (
            {"outcome": "skip"},
            "e.stage",
            'found stage with outcome "skip", expected none: when = "run" skips run targe',
        ),
        (
            {"outcome": "skip", "stage": None, "signature": "x"},
            "e.signature",
            'found signature with outcome "skip", expected none: nothing is tried',
        ),
        (
            {"stage": ["timeout"], "signature": "x"},
            "e.signature",
            'found signature with stage "timeout", expected none',
        ),
        ({"outcome": "flaky"}, "e.retries", "found no retries, expected how often a flaky target is tried again"),
        ({"retries": 1}, "e.retries", 'found retries with outcome "xfail", expected it with outcome = "flaky" only'),
        (
            {"outcome": "intermittent", "retries": 1, "until": date(2031, 1, 31)},
            "e.retries",
            'found retries with outcome "intermittent", expected it with outcome = "flaky" only',
        ),
        ({"outcome": "intermittent"}, "e.until", 'found no until, expected the last day of outcome = "intermittent"'),
        ({"signature": "a\nb"}, "e.signature", "found several lines, expected the first diagnostic, which is one line"),
        ({"reason": " "}, "e.reason", "found no reason, expected why the targets fail"),
        ({"when": "a and"}, "e.when", "found 'a and': column 6: found the end of line, expected a word"),
    ],
)
def test_a_problem_of_a_rule_is_named_with_its_key(known: dict[str, Any], path: str, message: str) -> None:
    ((found, text),) = expectation(**known)
    assert (found, text[: len(message)]) == (path, message)


@pytest.mark.parametrize(
    ("known", "path", "message"),
    [
        ({"match": ["m", "m"]}, "g.match.1", "found 'm' a second time, expected it once"),
        ({"reason": ""}, "g.reason", "found no reason, expected why the metric is bounded"),
        ({"when": "("}, "g.when", "found '(': column 2: "),
        ({"metric": "latenzy"}, "g.metric", "found 'latenzy', expected one of latency, "),
        ({"max": "1 MiB"}, "g.max", "found '1 MiB' for latency, "),
        ({"metric": "dispatches", "max": "1 ms"}, "g.max", "found '1 ms' for dispatches, "),
        ({"within": "10 %"}, "g.within", "found max and within, expected one of them: a rule has one bound"),
        ({"max": None}, "g", "found no bound, expected max or within, such as within = '10 %'"),
        ({"max": 3}, "g.max", "found 3 for latency, expected a time with its unit, such as '12.5 ms' (ns, us, ms, s)"),
        ({"max": None, "within": "ten"}, "g.within", "found 'ten', expected a percentage above 0 and at most 1000 %"),
    ],
)
def test_a_problem_of_a_bound_is_named_with_its_key(known: dict[str, Any], path: str, message: str) -> None:
    ((found, text),) = golden(**known)
    assert (found, text[: len(message)]) == (path, message)
