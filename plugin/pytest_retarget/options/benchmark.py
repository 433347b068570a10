"""The options of `--retarget-benchmark`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec import Struct

from pytest_retarget.options.reading import SECONDS, parse_seconds, path_of_option, value_of_option

_SPREAD, _MOST_SECONDS = 0.02, 2.0


def add_benchmark_options(group: pytest.OptionGroup) -> None:
    """Declare the options."""
    group.addoption(
        "--retarget-benchmark",
        action="store_true",
        help="call what passes again and again, record how long it takes, and hold it against [[golden]] rules "
        "(docs/measurements/benchmarks.md)",
    )
    group.addoption(
        "--retarget-benchmark-spread",
        metavar="PERCENT",
        help="call until the median of a case is known this well: half its 95%% confidence interval (2 %%)",
    )
    group.addoption(
        "--retarget-benchmark-time", metavar="SECONDS", help="call the cases of a target for this long at most (2)"
    )
    group.addoption(
        "--retarget-benchmark-baseline",
        metavar="DIR",
        help="hold golden rules against these results (default: earlier sessions in that of --retarget-results)",
    )


class BenchmarkSettings(Struct, frozen=True, kw_only=True):
    """How well medians are to be known, as a share; seconds for a target at most; the results that golden rules are
    held against, None for earlier sessions in the folder of `--retarget-results`."""

    spread: float = _SPREAD
    seconds: float = _MOST_SECONDS
    baseline: Path | None = None

    @classmethod
    def of(cls, config: pytest.Config) -> BenchmarkSettings | None:
        """Return None where nothing is timed. Raises `pytest.UsageError`."""
        if not _is_requested(config):
            return None
        return cls(
            spread=value_of_option(config, "benchmark_spread", _percent, "a percentage, such as '2 %'", _SPREAD),
            seconds=value_of_option(config, "benchmark_time", parse_seconds, SECONDS, _MOST_SECONDS),
            baseline=_baseline(config),
        )


def _is_requested(config: pytest.Config) -> bool:
    """Whether targets are timed. Raises `pytest.UsageError` for what goes with it only, or does not go with it."""
    if not config.getoption("retarget_benchmark"):
        for option in ("spread", "time", "baseline"):
            if config.getoption(f"retarget_benchmark_{option}") is not None:
                name = f"--retarget-benchmark-{option}"
                msg = f"{name} was given without --retarget-benchmark; expected both"
                raise pytest.UsageError(msg)
        return False
    others = {
        "numprocesses": ("-n", "what runs at the same time disturbs what is timed"),
        "retarget_cluster": ("--retarget-cluster", "a cluster's machines are not timed"),
        "retarget_changed": ("--retarget-changed", "results of earlier runs are not timed"),
        "retarget_reuse_results": ("--retarget-reuse-results", "results of earlier runs are not timed"),
    }
    for name, (option, why) in others.items():
        if config.getoption(name, None):
            msg = f"--retarget-benchmark and {option} were both given; expected one of them: {why}"
            raise pytest.UsageError(msg)
    return True


def _baseline(config: pytest.Config) -> Path | None:
    path = path_of_option(config, "benchmark_baseline", "a folder or file of results")
    if path is not None and not os.path.exists(path):  # noqa: PTH110  (Path.exists raises OSError for a long name)
        msg = (
            f"--retarget-benchmark-baseline: found no file or folder {path}; expected results that "
            "`pytest --retarget-benchmark --retarget-results DIR` wrote"
        )
        raise pytest.UsageError(msg)
    return path


def _percent(text: str) -> float:
    from retarget.model.metrics import parse_percent  # a project without matrix files must not import the model

    return parse_percent(text)
