"""The golden values of iree-test-suites → `[[golden]]` rules.

    golden_times_ms                    (torch_ops) the time of each test, in ms
    golden_time_ms, golden_time        (torch_models, sharktank_models) the time of a model, in ms
    golden_dispatch, golden_size       its dispatches, and the bytes of its artifact; in torch_models
                                       golden_dispatch_count and golden_binary_size
    golden_time_tolerance_multiplier   what a time is multiplied with to be the bound

What sharktank_models has, and a tolerance, have a value for each chip (`{"mi300": 19.5}`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retarget.support.toml.write import toml_table

__all__ = ["GOLDEN_KEYS", "GoldenValue", "golden_errors", "golden_rules", "golden_values"]

_OF_TESTS = "golden_times_ms"
_TOLERANCE = "golden_time_tolerance_multiplier"
_METRICS = {
    "golden_time_ms": "latency",
    "golden_time": "latency",
    "golden_dispatch": "dispatches",
    "golden_dispatch_count": "dispatches",
    "golden_size": "artifact-size",
    "golden_binary_size": "artifact-size",
}
_BEYOND = 1e18
GOLDEN_KEYS = frozenset({_OF_TESTS, _TOLERANCE, *_METRICS})


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenValue:
    """A bound: of the config `config`, and there of the module `module` (empty: of all). `most` is a number, or a text
    with a unit."""

    config: str
    module: str = ""
    metric: str
    most: str | int
    source: str


def golden_values(
    file: Path, name: str, data: Mapping[str, Any], chip: str = ""
) -> tuple[tuple[GoldenValue, ...], tuple[str, ...]]:
    """Return the values of a file without `golden_errors`, those of one chip where there are several; and notes."""
    found = [
        GoldenValue(config=name, module=test, metric="latency", most=_time(value), source=f"{_OF_TESTS} of {name}")
        for test, value in data.get(_OF_TESTS, {}).items()
    ]
    other_chips: dict[str, None] = {}
    tolerance = _of_chip(data.get(_TOLERANCE), chip) or 1
    for key, metric in _METRICS.items():
        value = _of_chip(data.get(key), chip)
        if value is not None:
            most: str | int = _time(value * tolerance) if metric == "latency" else _size(value)
            most = math.ceil(value) if metric == "dispatches" else most
            source = f"{key} of {file.stem}{f', {chip}' if isinstance(data[key], dict) else ''}"
            found.append(GoldenValue(config=name, metric=metric, most=most, source=source))
        elif isinstance(data.get(key), dict):
            other_chips |= dict.fromkeys(data[key])
    notes = []
    if other_chips:
        notes.append(f"{file.name}: the golden values of {', '.join(other_chips)} are taken over with --chip")
    return tuple(found), tuple(notes)


def golden_errors(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key path, message) for each golden value that is no number above 0."""
    for key in sorted(GOLDEN_KEYS & data.keys()):
        values = data[key] if isinstance(data[key], dict) else {"": data[key]}
        if key == _OF_TESTS and not isinstance(data[key], dict):
            yield key, f"found {json.dumps(data[key])}, expected an object with a time for each test"
            continue
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _BEYOND:
                path = f"{key}.{name}" if name else key
                yield path, f"found {json.dumps(value)}, expected a number above 0 and below {_BEYOND:g}"


def golden_rules(values: Sequence[GoldenValue], configs: Collection[str]) -> list[str]:
    """Return the rules as TOML, those of one bound together. A value of no config is of the module with its name."""
    groups: dict[tuple[str, str, str | int, str], list[str]] = {}
    for value in values:
        when = value.config if value.config in configs else ""
        modules = groups.setdefault((when, value.metric, value.most, value.source), [])
        modules.append(value.module or ("*" if when else value.config))
    return [
        toml_table(
            "golden",
            match=modules[0] if len(modules) == 1 else sorted(modules),
            when=when or None,
            metric=metric,
            max=most,
            reason=f"taken over from {source}",
        )
        + "\n"
        for (when, metric, most, source), modules in groups.items()
    ]


def _of_chip(value: Any, chip: str) -> float | None:
    return value.get(chip) if isinstance(value, dict) else value


def _time(milliseconds: float) -> str:
    return f"{round(milliseconds, 6):.12g} ms"


def _size(number: float) -> str:
    return f"{number:.0f} B"
