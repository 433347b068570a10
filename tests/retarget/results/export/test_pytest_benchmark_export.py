"""Benchmarks in the form of pytest-benchmark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from retarget.results.export import pytest_benchmark
from retarget.results.record import CaseRecord, Outcome, TimesRecord
from sample_results import passed, session

TIMES = TimesRecord(
    first=1.0, median=0.003, spread=0.01, calls=40, samples=(0.001, 0.002, 0.003, 0.004), device=(0.0005, 0.0007)
)


def exported() -> dict[str, Any]:
    case = CaseRecord(name="f", outcome=Outcome.PASSED, times=TIMES)
    plain = CaseRecord(name="g", outcome=Outcome.PASSED)
    record = passed("s.toml::s::m_c_r", cases=(case, plain))
    found: dict[str, Any] = json.loads(pytest_benchmark([session("s1", record, revision="abc+")]))
    return found


def test_statistics_are_those_of_the_samples() -> None:
    stats = exported()["benchmarks"][0]["stats"]
    assert (stats["min"], stats["max"], stats["rounds"], stats["iterations"]) == (0.001, 0.004, 4, 10)
    assert (stats["median"], stats["q1"], stats["q3"]) == pytest.approx((0.0025, 0.00175, 0.00325))
    assert stats["ops"] == pytest.approx(400)
    assert stats["outliers"] == "2;0"
