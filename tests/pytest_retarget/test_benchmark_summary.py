"""What a benchmark shows at the end of a session."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.items.benchmark import Benchmark
from pytest_retarget.options import SETTINGS, Settings
from retarget.results import CaseRecord, Outcome, TargetRecord
from retarget.results.record import TimesRecord


def shown(slowness: list[int], unjudged: list[str], verbosity: int = 0, spread: float = 0.012) -> list[str]:
    config: Any = SimpleNamespace(stash=pytest.Stash())
    config.stash[SETTINGS] = Settings()
    benchmark = Benchmark(config)
    benchmark._unjudged += unjudged
    for number in slowness:
        times = TimesRecord(first=9.0, median=number / 1000, spread=spread, calls=20, samples=(number / 1000,) * 8)
        case = CaseRecord(name="f", outcome=Outcome.PASSED, times=times)
        record = TargetRecord(nodeid=f"t{number}", target="t", runtime="r", outcome=Outcome.PASSED, cases=(case,))
        benchmark._count(record)
    lines: list[str] = []
    reporter: Any = SimpleNamespace(section=lines.append, line=lines.append, verbosity=verbosity)
    benchmark.pytest_terminal_summary(reporter)
    return lines


def test_the_slowest_and_the_rules_that_were_not_judged_are_shown() -> None:
    head, of = "retarget benchmark", "(median of warm calls)"
    slow = [f"  {f'{number} ms -+ 1.2 %, 20 calls':<36} t{number} case 'f'" for number in range(11, 0, -1)]
    assert shown([], []) == []
    assert shown([2, 1], []) == [head, f"latency of 2 cases {of}:", *slow[-2:]]
    assert shown([1], [], spread=1.0)[-1] == f"  {'1 ms, 20 calls':<36} t1 case 'f'"
    assert shown([*range(1, 11)], []) == [head, f"latency of 10 cases {of}:", *slow[1:]]
    assert shown([*range(1, 12)], []) == [head, f"latency of 11 cases {of}, the slowest 10:", *slow[:10]]
    rules = [f"rule {number}" for number in range(11)]
    listed = [f"  {rule}" for rule in rules]
    none = [head, f"latency of 0 cases {of}:", "golden rules not judged: 11"]
    assert shown([], rules) == [*none, *listed[:10]]
    assert shown([], rules, verbosity=1) == [*none, *listed]
