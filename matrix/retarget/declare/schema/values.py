"""What tables with a model and tables without one have in common: words, and how values are frozen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from retarget.model.metrics import Metric

STAGES = ("compile", "load", "run", "compare", "crash", "timeout")
"""What an expectation can say of where a target fails."""

OUTCOMES = ("xfail", "skip", "flaky", "intermittent")
"""What an expectation can make of a failure."""


METRICS = tuple(metric.value for metric in Metric)
"""What a golden rule can bound."""


def fields_of(table: Iterable[tuple[str, Any]], record: type[Struct]) -> dict[str, Any]:
    """Return the values of a table's keys that a record has fields for too, with tuples for arrays and tables."""
    return {name: _frozen(value) for name, value in table if name in record.__struct_fields__}


def _frozen(value: Any) -> Any:
    return tuple(value.items() if isinstance(value, dict) else value) if isinstance(value, list | dict) else value
