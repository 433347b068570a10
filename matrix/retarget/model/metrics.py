"""The metrics of benchmarks: metrics with their units, and quantities as texts."""

from __future__ import annotations

import re
from enum import StrEnum

from retarget.support.errors import did_you_mean

_UNITS = {
    "time": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    "size": {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}
_FORMS = {
    "time": "a time with its unit, such as '12.5 ms' (ns, us, ms, s)",
    "size": "a size with its unit, such as '8 MiB' (B, KiB, MiB, GiB)",
    "count": "a whole number, 0 or more",
}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-zµ]*)")


class Metric(StrEnum):
    """A metric of a target. Times are in seconds, sizes in bytes."""

    LATENCY = "latency"
    """From the call of a function, its arguments on the device, to the end of its work there; warm."""
    DEVICE_TIME = "device-time"
    """The time that the kernels of one call took on the device, by the device's clock."""
    FIRST_CALL = "first-call"
    """The first call after loading, with its arguments copied to the device and its results back."""
    COMPILE_TIME = "compile-time"
    ARTIFACT_SIZE = "artifact-size"
    DISPATCHES = "dispatches"
    """How many dispatches the compiled program has."""
    TRANSIENT_MEMORY = "transient-memory"
    """The device memory that the compiled program allocates for the time of a call, as far as the compiler knows it."""

    @property
    def is_of_runs(self) -> bool:
        """Whether run targets have it; else compile targets do."""
        return self in {Metric.LATENCY, Metric.DEVICE_TIME, Metric.FIRST_CALL}

    @property
    def is_exact(self) -> bool:
        """Whether it is the same at each compile of the same module by the same compiler: there is no noise."""
        return self in {Metric.ARTIFACT_SIZE, Metric.DISPATCHES, Metric.TRANSIENT_MEMORY}

    @property
    def quantity(self) -> str:
        """`time` (seconds), `size` (bytes) or `count`."""
        if self in {Metric.ARTIFACT_SIZE, Metric.TRANSIENT_MEMORY}:
            return "size"
        return "count" if self is Metric.DISPATCHES else "time"

    def text(self, value: float) -> str:
        """Return a value of a metric for people, with four digits: `1.234 ms`, `8 MiB`, `17`."""
        units = _UNITS.get(self.quantity)
        if units is None:
            return f"{value:.0f}"
        unit, factor = max(
            ((unit, factor) for unit, factor in units.items() if factor <= value), default=None, key=lambda one: one[1]
        ) or next(iter(units.items()))
        return f"{value / factor:.4g} {unit}"


def parse_quantity(metric: Metric, value: float | str) -> float:
    """Return a bound of a metric, in seconds, bytes, or as a number. Raises `ValueError` with what was expected."""
    units = _UNITS.get(metric.quantity, {})
    expected = f"expected {_FORMS[metric.quantity]}"
    if not isinstance(value, str):
        if units or value != int(value) or value < 0:
            raise ValueError(expected)
        return float(value)
    found = _QUANTITY.fullmatch(value.strip())
    unit = found[2].replace("µ", "u") if found is not None else ""
    if found is not None and unit and unit not in units and units:
        msg = f"{expected}{did_you_mean(unit, units) or did_you_mean(unit.lower(), units)}"
        raise ValueError(msg)
    if found is None or bool(unit) != bool(units) or (not units and "." in found[1]):
        raise ValueError(expected)
    return float(found[1]) * units.get(unit, 1.0)


def parse_percent(text: str) -> float:
    """Return `10 %` as 0.1. Raises `ValueError` with what was expected."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text.strip())
    if found is None or not 0 < float(found[1]) <= 1000:
        msg = "expected a percentage above 0 and at most 1000 %, such as '10 %'"
        raise ValueError(msg)
    return float(found[1]) / 100
