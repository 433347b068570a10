"""Quantities as people write them."""

from __future__ import annotations

import re

import pytest
from retarget.model.metrics import Metric, parse_percent, parse_quantity


@pytest.mark.parametrize(
    ("metric", "text", "value"),
    [
        (Metric.LATENCY, "12.5 ms", 0.0125),
        (Metric.DEVICE_TIME, "3us", 3e-6),
        (Metric.COMPILE_TIME, "2 s", 2.0),
        (Metric.ARTIFACT_SIZE, "1.5 MiB", 1.5 * 2**20),
        (Metric.TRANSIENT_MEMORY, "0 B", 0.0),
        (Metric.TRANSIENT_MEMORY, "17 B", 17.0),
        (Metric.ARTIFACT_SIZE, "3 KiB", 3072.0),
        (Metric.ARTIFACT_SIZE, "2 GiB", 2.0 * 2**30),
        (Metric.FIRST_CALL, "5 ns", 5e-9),
        (Metric.FIRST_CALL, "5 µs", 5e-6),
        (Metric.FIRST_CALL, "1e3 s", 1000.0),
        (Metric.DISPATCHES, 0, 0.0),
        (Metric.DISPATCHES, 1343, 1343.0),
        (Metric.DISPATCHES, "7", 7.0),
    ],
)
def test_a_quantity_is_read_in_its_unit(metric: Metric, text: float | str, value: float) -> None:
    assert parse_quantity(metric, text) == pytest.approx(value)


TIME = "expected a time with its unit, such as '12.5 ms' (ns, us, ms, s)"
SIZE = "expected a size with its unit, such as '8 MiB' (B, KiB, MiB, GiB)"
COUNT = "expected a whole number, 0 or more"


@pytest.mark.parametrize(
    ("metric", "text", "message"),
    [
        (Metric.LATENCY, 12, TIME),
        (Metric.LATENCY, "12", TIME),
        (Metric.LATENCY, "fast", TIME),
        (Metric.LATENCY, "12 MS", f"{TIME}; did you mean 'ms'?"),
        (Metric.ARTIFACT_SIZE, "8 MB", f"{SIZE}; did you mean 'MiB'?"),
        (Metric.DISPATCHES, "3.5", COUNT),
        (Metric.DISPATCHES, "3 ms", COUNT),
        (Metric.DISPATCHES, -1, COUNT),
        (Metric.DISPATCHES, 0.5, COUNT),
        (Metric.ARTIFACT_SIZE, 1, SIZE),
    ],
)
def test_another_form_is_an_error_that_shows_the_right_one(metric: Metric, text: float | str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse_quantity(metric, text)


def test_percentages() -> None:
    assert parse_percent("10 %") == pytest.approx(0.1)
    assert parse_percent("2.5%") == pytest.approx(0.025)
    assert parse_percent("1000 %") == 10.0
    assert parse_percent("0.5 %") == 0.005
    for text in ("10", "0 %", "-1 %", "1001 %"):
        with pytest.raises(ValueError, match="expected a percentage above 0"):
            parse_percent(text)


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        (Metric.LATENCY, 0.0012344, "1.234 ms"),
        (Metric.LATENCY, 0.0, "0 ns"),
        (Metric.COMPILE_TIME, 75.0, "75 s"),
        (Metric.ARTIFACT_SIZE, 3 * 2**20, "3 MiB"),
        (Metric.ARTIFACT_SIZE, 1024, "1 KiB"),
        (Metric.ARTIFACT_SIZE, 1023, "1023 B"),
        (Metric.ARTIFACT_SIZE, 2**30, "1 GiB"),
        (Metric.FIRST_CALL, 1e-6, "1 us"),
        (Metric.DISPATCHES, 12.0, "12"),
    ],
)
def test_a_value_is_shown_with_a_unit_that_suits_it(metric: Metric, value: float, text: str) -> None:
    assert metric.text(value) == text


def test_what_the_compiler_decides_is_exact() -> None:
    exact = {Metric.ARTIFACT_SIZE, Metric.DISPATCHES, Metric.TRANSIENT_MEMORY}
    assert {metric for metric in Metric if metric.is_exact} == exact


def test_what_is_of_runs_and_what_is_exact() -> None:
    assert {one for one in Metric if one.is_of_runs} == {Metric.LATENCY, Metric.DEVICE_TIME, Metric.FIRST_CALL}
    assert {one for one in Metric if one.is_exact} == {Metric.ARTIFACT_SIZE, Metric.DISPATCHES, Metric.TRANSIENT_MEMORY}
