"""The view of benchmarks: what was measured of each target, the slowest, the largest changes, the trend over runs.

Its data, `benchmarks`, is a list of `Row`s. Targets are numbers: those of `retarget_report.views.matrix.numbered`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from retarget.model import Metric
from retarget.results import History, Measurement

from retarget_report.read import Report
from retarget_report.views.matrix import numbered


class Row(Struct, frozen=True, kw_only=True):
    """One metric of a target, all its cases together: `now`, and what the runs of the history had, oldest first and
    this one last; None where it was not measured. Values are in the unit of `quantity`: seconds (`time`), bytes
    (`size`) or a number (`count`)."""

    target: int
    metric: str
    quantity: str
    now: float
    past: Sequence[float | None] = ()


def has_benchmarks(report: Report) -> bool:
    """Return whether any target of a report was timed."""
    return any(case.times is not None for one in report.targets if one.record for case in one.record.cases)


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the data of the view."""
    yield "benchmarks", rows(report)


def rows(report: Report) -> list[Row]:
    """Return what was measured of the targets of a report, in their order."""
    history = report.history or History()
    known: Sequence[Mapping[str, Mapping[str, float]]] = history.metrics
    found = []
    for number, target in enumerate(numbered(report)):
        if target.record is None:
            continue
        for metric, now in Measurement.totals(target.record).items():
            past = tuple(run.get(metric, {}).get(target.id) for run in known)
            row = Row(target=number, metric=metric, quantity=Metric(metric).quantity, now=now, past=past)
            found.append(row)
    return found
