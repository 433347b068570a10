"""How often a program that passes is called again, and what its device's clock says."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from retarget.extension import Program
from retarget.worker.child import timing
from retarget.worker.child.timing import _samples, call_times
from retarget.worker.messages import Timing

if TYPE_CHECKING:
    from retarget.extension import Array


class Sleeping(Program):
    """Each call takes a millisecond and a little more, the device 2 s by its clock."""

    def __init__(self) -> None:
        self.asked = 0

    def call(self, function: str, inputs: Sequence[Array], check: object) -> Sequence[Array]:
        raise NotImplementedError

    def bind_call(self, function: str, inputs: Sequence[Array]) -> Callable[[], object]:
        return lambda: time.sleep(0.001)

    def device_seconds(self, function: str, inputs: Sequence[Array], calls: int, artifact: Path) -> Sequence[float]:
        self.asked = calls
        return [2.0] * calls


def test_the_clock_of_the_device_times_a_quarter_of_the_time_more() -> None:
    program = Sleeping()
    found = call_times(program, "f", (), Timing(seconds=0.02), 0.5)
    assert found.first == 0.5
    assert 0.001 <= found.median < 0.02
    assert program.asked == max(int(0.25 * 0.02 / found.median), 1)
    assert set(found.device) == {2.0}


def test_the_clock_of_the_device_times_at_least_one_call() -> None:
    program = Sleeping()
    call_times(program, "f", (), Timing(seconds=1e-6), 0.0)
    assert program.asked == 1


@pytest.mark.parametrize(
    ("seconds", "varies", "timed"),
    [(0.1, False, 64), (1.0, False, 153), (0.1, True, 29), (1.0, True, 242), (100.0, True, 5120)],
)
def test_calls_are_timed_until_their_median_is_certain_or_the_time_is_up(
    monkeypatch: pytest.MonkeyPatch, seconds: float, varies: bool, timed: int
) -> None:
    ends = [0.0]
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: ends[-1]))
    times = timing.timed(
        lambda: ends.append(ends[-1] + (len(ends) % 7 if varies else 1) / 1024), Timing(seconds=seconds)
    )
    assert len(times) == timed


@pytest.mark.parametrize(
    ("count", "samples"),
    [
        (1, [0.0]),
        (63, [float(at) for at in range(63)]),
        (64, [float(at) for at in range(0, 64, 2)]),
        (65, [float(at) for at in range(0, 64, 2)]),
        (100, [float(at) for at in range(0, 98, 3)]),
    ],
)
def test_samples_are_the_shortest_of_groups_that_are_equally_long(count: int, samples: list[float]) -> None:
    assert list(_samples([float(at) for at in range(count)])) == samples
