"""Benchmarks as pytest-benchmark saves them (`--benchmark-json`), for its command `pytest-benchmark compare`, and for
the services that read this form.
"""

from __future__ import annotations

import platform
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from retarget.results.files import SessionResults, results_of
from retarget.results.measurements import Measurement, measurements_of
from retarget.results.record import TargetRecord

_VERSION = "5.2.3"
"""The release of pytest-benchmark whose form this is."""


def pytest_benchmark(sessions: Sequence[SessionResults]) -> bytes:
    """Return the file: a benchmark for each series of a case, grouped by metric. Times are in seconds; a round is one
    sample, the shortest of some consecutive calls."""
    starts = [one.start for one in sessions]
    revisions = sorted({one.revision for one in starts if one.revision})
    hosts = sorted({one.host for one in starts if one.host})
    content = {
        "machine_info": {
            "node": ", ".join(hosts),
            "system": ", ".join(sorted({one.platform for one in starts if one.platform})),
            "cpu": {"count": max((one.cores for one in starts), default=0)},
            "python_version": platform.python_version(),
        },
        "commit_info": {
            "id": revisions[-1].removesuffix("+") if revisions else "unknown",
            "dirty": bool(revisions) and revisions[-1].endswith("+"),
        },
        "benchmarks": [
            _benchmark(record, one)
            for _, record in sorted(results_of(sessions).items())
            for one in measurements_of(record)
            if len(one.samples) > 1
        ],
        "datetime": datetime.fromtimestamp(max((one.started for one in starts), default=0.0), UTC).isoformat(),
        "version": _VERSION,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def _benchmark(record: TargetRecord, one: Measurement) -> dict[str, Any]:
    name = f"{record.target}[{one.case}]"
    return {
        "group": str(one.metric),
        "name": name,
        "fullname": f"{record.nodeid}[{one.case}]",
        "params": {"case": one.case},
        "param": one.case,
        "extra_info": {"calls": one.calls, "devices": [device.name for device in record.devices]},
        "options": {"disable_gc": True, "timer": "perf_counter", "min_rounds": 1, "warmup": True},
        "stats": _statistics(one),
    }


def _statistics(one: Measurement) -> dict[str, Any]:
    data = list(one.samples)
    low, median, high = statistics.quantiles(data, n=4, method="inclusive")
    mean, deviation, iqr = statistics.mean(data), statistics.stdev(data), high - low
    inside = [value for value in data if low - 1.5 * iqr <= value <= high + 1.5 * iqr]
    far = sum(abs(value - mean) > deviation for value in data)
    return {
        "min": min(data),
        "max": max(data),
        "mean": mean,
        "stddev": deviation,
        "rounds": len(data),
        "median": median,
        "iqr": iqr,
        "q1": low,
        "q3": high,
        "iqr_outliers": len(data) - len(inside),
        "stddev_outliers": far,
        "outliers": f"{far};{len(data) - len(inside)}",
        "ld15iqr": min(inside),
        "hd15iqr": max(inside),
        "ops": 1 / mean if mean else 0.0,
        "total": sum(data),
        "data": data,
        "iterations": max(one.calls // len(data), 1),
    }
