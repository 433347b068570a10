"""A failure that many targets share is shown once, with a line for each of the others.

This happens where failures are shown, after all have run, so that it is the same under xdist; whatever else reads
reports, the junit file among them, gets each failure whole. Failures are alike if stage and signature are the same. Of
a crash the first line counts too, which names where. Where values differ, or there is no signature, the text counts,
but for the commands, and for what differs from run to run: addresses and durations.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from typing import Any

import pytest
from retarget.model import Stage
from retarget.results import Result
from retarget.session import Commands
from retarget.support import strip_colour

from pytest_retarget.internals import ReprEntryNative, ReprExceptionInfo
from pytest_retarget.record import record_of

_CATEGORIES = ("failed", "error")

_CHANCE = re.compile(r"\b0x[0-9a-fA-F]{6,}\b|\b\d+\.\d+ s\b")
"""Addresses in stack dumps, and durations such as those that tools print."""


class FoldAlike:
    """Takes failures that are like an earlier one out of what pytest shows, and puts them back."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folded: dict[str, list[Any]] = {}
        """The reports of pytest's terminal, by category, where some were removed."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None]:
        """Fold; pytest shows failures next, in a wrapper of its own."""
        if self._config.get_verbosity() <= 1 and self._config.getoption("tbstyle", "auto") not in {"line", "no"}:
            for category in _CATEGORIES:
                reports = terminalreporter.stats.get(category, [])
                shown = _folded(reports)
                if len(shown) < len(reports):
                    self._folded[category] = reports
                    terminalreporter.stats[category] = shown
        return (yield)

    @pytest.hookimpl(tryfirst=True, specname="pytest_terminal_summary")
    def pytest_after_failures(self, terminalreporter: Any) -> None:
        """Restore what was removed, before the short summary: all of it counts."""
        terminalreporter.stats.update(self._folded)


def _folded(reports: Iterable[Any]) -> list[Any]:
    """Return the first of those that are alike; each lists the others."""
    groups: dict[object, list[Any]] = {}
    for report in reports:
        groups.setdefault(_key(report) or id(report), []).append(report)
    for first, *rest in groups.values():
        # every worker of xdist collects, and reports the same
        if others := list(dict.fromkeys(name for report in rest if (name := _name(report)) != _name(first))):
            first.longrepr.addsection(f"{len(others)} more failed alike (-vv shows all in full)", "\n".join(others))
    return [first for first, *_ in groups.values()]


def _key(report: Any) -> object:
    """The parts that are equal for like failures; None for what is not ours."""
    text = _text(report.longrepr)
    if text is None:
        return None
    if isinstance(report, pytest.CollectReport):
        return text.replace(report.nodeid.partition("::")[0] or "\0", "…")
    if (record := record_of(report)) is None:
        return None
    seen = record.observation if record.result is Result.FAILED else None
    alike = _CHANCE.sub("…", text)
    if seen is not None and seen.signature and seen.stage != Stage.COMPARE:
        alike = alike.partition("\n")[0] if seen.is_crash else ""
    return report.when, seen and (seen.stage, seen.signature), alike


def _text(longrepr: object) -> str | None:
    """The text of a failure that is worded by us, without the commands that reproduce it."""
    if not isinstance(longrepr, ReprExceptionInfo):
        return None
    entries = longrepr.reprtraceback.reprentries
    if not all(isinstance(entry, ReprEntryNative) for entry in entries):
        return None
    text = "".join(line for entry in entries for line in entry.lines)
    return strip_colour(text.partition(Commands.heading)[0])


def _name(report: Any) -> str:
    return report.nodeid if isinstance(report, pytest.CollectReport) else report.head_line
