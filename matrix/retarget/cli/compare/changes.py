"""What changed from one toolchain to another: data, and how it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from retarget.support.text import counted

__all__ = ["Change", "Compared", "Comparison", "Compiled"]

_MOST = 5
"""How many of the largest changes of size and time are printed as text."""


class Change(StrEnum):
    """What came of a target with the second toolchain, compared with the first; in the order of the report."""

    REGRESSED = "regressed"
    FIXED = "fixed"
    FAILS_OTHERWISE = "fails otherwise"
    VALUES = "different values"
    NONE = "same"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """An artifact: its SHA-256, its size in bytes, the seconds of its compile; `reused` where the cache had it."""

    digest: str
    size: int
    seconds: float
    reused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A target with both toolchains. `results` are its failures, empty where it passed; None where it was not tried.

    `artifacts` are there for a compile target that both compile, `values` is the first difference of the values of two
    runs that passed. `reason` says why it was not compared.
    """

    suite: str
    target: str
    results: tuple[str | None, str | None] = (None, None)
    artifacts: tuple[Compiled, Compiled] | None = None
    values: str = ""
    reason: str = ""

    @property
    def change(self) -> Change:
        """What changed."""
        before, after = self.results
        if before is None or after is None:
            return Change.NOT_COMPARED
        if before == after:
            return Change.VALUES if self.values else Change.NONE
        if before and after:
            return Change.FAILS_OTHERWISE
        return Change.REGRESSED if after else Change.FIXED


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All targets, in order. `builds` are those of each toolchain."""

    toolchains: tuple[str, str]
    builds: tuple[Sequence[str], Sequence[str]]
    targets: tuple[Compared, ...]

    @property
    def is_bad(self) -> bool:
        """Whether a target that passed fails, or nothing at all was compared."""
        changes = {one.change for one in self.targets}
        return Change.REGRESSED in changes or changes == {Change.NOT_COMPARED}

    def text(self) -> Iterator[str]:
        """Yield the lines of the report: what matters most first."""
        before, after = self.toolchains
        yield f"{before} → {after}: {counted(len(self.targets), 'target')}"
        for name, builds in zip(self.toolchains, self.builds, strict=True):
            yield from (f"  {name}: {build}" for build in builds)
        for change in Change:
            found = [one for one in self.targets if one.change is change]
            if change in {Change.NONE, Change.NOT_COMPARED} or not found:
                continue
            yield f"{change} ({len(found)}):"
            yield from (f"  {one.suite}::{one.target}  {_described(one)}" for one in found)
        same = Counter(bool(one.results[0]) for one in self.targets if one.change is Change.NONE)
        yield f"same: {same[False]} pass, {same[True]} fail"
        yield from self._artifacts()
        reasons = Counter(one.reason for one in self.targets if one.change is Change.NOT_COMPARED)
        if reasons:
            yield f"not compared ({reasons.total()}):"
            yield from (f"  {reason} ({counted(count, 'target')})" for reason, count in reasons.most_common())

    def json(self) -> Mapping[str, Any]:
        """Return all of it as plain data."""
        return {
            "toolchains": [
                {"name": name, "builds": list(builds)}
                for name, builds in zip(self.toolchains, self.builds, strict=True)
            ],
            "targets": [
                {
                    "suite": one.suite,
                    "target": one.target,
                    "change": one.change.value,
                    "results": [
                        None if text is None else {"passed": not text, "failure": text} for text in one.results
                    ],
                    "values": one.values,
                    "reason": one.reason,
                    "artifacts": [
                        {"digest": side.digest, "size": side.size, "seconds": side.seconds, "reused": side.reused}
                        for side in one.artifacts or ()
                    ],
                }
                for one in self.targets
            ],
        }

    def _artifacts(self) -> Iterator[str]:
        both = [(one, *one.artifacts) for one in self.targets if one.artifacts is not None]
        if not both:
            return
        identical = sum(before.digest == after.digest for _, before, after in both)
        yield f"artifacts: {identical} of {len(both)} byte-identical, {len(both) - identical} changed"
        yield from _amounts("size", both, lambda side: side.size, lambda value: f"{value:,.0f} bytes")
        yield from _amounts("compile time", both, lambda side: side.seconds, lambda value: f"{value:.2f} s")
        if reused := sum(before.reused or after.reused for _, before, after in both):
            yield f"  of {reused} from the cache, the times are those of when they were compiled"


def _described(one: Compared) -> str:
    before, after = (text or "passed" for text in one.results)
    return one.values if one.change is Change.VALUES else f"{before} → {after}"


def _amounts(
    title: str,
    both: Sequence[tuple[Compared, Compiled, Compiled]],
    amount: Callable[[Compiled], float],
    shown: Callable[[float], str],
) -> Iterator[str]:
    """Yield the sums, and the targets where most changed."""
    changes = [(one.target, amount(before), amount(after)) for one, before, after in both]
    old, new = sum(change[1] for change in changes), sum(change[2] for change in changes)
    yield f"  {title}: {shown(old)} → {shown(new)}{_percent(old, new)}"
    most = sorted(changes, key=lambda change: -abs(change[2] - change[1]))[:_MOST]
    yield from (f"    {name}  {shown(was)} → {shown(now)}{_percent(was, now)}" for name, was, now in most if was != now)


def _percent(before: float, after: float) -> str:
    return f" ({100 * (after - before) / before:+.1f} %)" if before else ""
