"""Whether one series of measurements is larger than another by more than noise explains.

The test is that of Mann and Whitney (Annals of Mathematical Statistics 18, 1947), one-sided, in its normal form with
the correction for ties and that for continuity: it asks of ranks alone, so that it needs no distribution of times.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from retarget.results.measurements import Measurement

LEVEL = 0.001
"""The level of the rank test: what a series of equal noise would show by chance once in a thousand comparisons."""

FEWEST = 8
"""Samples of a series: of fewer the medians are compared, as values that are measured once."""

_FAR = 2.0
"""How many times as long as ever before every call must take where ranks say nothing."""

_FEWEST_VALUES = 3
"""Earlier values of what is measured once in a session, such as a compile: of fewer nothing is judged."""


class Finding(StrEnum):
    """The result of a comparison."""

    LARGER = "larger"
    SMALLER = "smaller"
    SAME = "same"
    """The change is within the bound, or noise explains it."""
    NOISY = "noisy"
    """The noise is larger than the bound, and the calls do not take `_FAR` times as long."""
    FEW = "few"
    """There are too few measurements, and the calls do not take `_FAR` times as long."""


class Comparison(Struct, frozen=True, kw_only=True):
    """`before` and `after` are medians, in the unit of the metric; `p` is the probability of such ranks by chance, in
    the direction of the change; `noise` the larger of both series', as a share."""

    finding: Finding
    before: float
    after: float
    p: float = 1.0
    noise: float = 0.0

    @property
    def change(self) -> float:
        """The change as a share of `before`: 0.1 for 10 % more."""
        if self.before:
            return self.after / self.before - 1
        return math.inf if self.after else 0.0


def p_larger(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the probability that `after` has ranks as high as these by chance (one-sided)."""
    first, second = len(before), len(after)
    total = first + second
    if not first or not second:
        return 1.0
    counts = Counter((*before, *after))
    rank, ranks = 0.0, {}
    for value in sorted(counts):
        ranks[value] = rank + (counts[value] + 1) / 2
        rank += counts[value]
    larger = sum(ranks[value] for value in after) - second * (second + 1) / 2
    ties = sum(count**3 - count for count in counts.values())
    variance = first * second / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    return 0.5 * math.erfc((larger - first * second / 2 - 0.5) / math.sqrt(2 * variance))


def noise_of(samples: Sequence[float]) -> float:
    """Return half the range between the quartiles, as a share of the median."""
    if len(samples) < 2:
        return 0.0
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / (2 * median) if median else 0.0


def compare_series(before: Sequence[Sequence[float]], after: Sequence[float], *, within: float) -> Comparison:
    """Compare a series with those of sessions before, of which the last that was faster than those before it is the
    first that counts; a change of at most the share `within` is none.

    The noise is the largest of: that of each series, and half the range of the medians of the sessions before; those
    with more than the bound are left out where others are there. The lowest deciles must differ by more than that share
    as well: other processes make some calls longer, a slower kernel makes all of them so. Where there is too much
    noise, or too few samples, as of calls that became so slow, only a series is larger whose shortest call takes more
    than `_FAR` times the longest before, and the share. Medians of too few samples are compared as single values.
    """
    since: list[Sequence[float]] = []
    for one in before:
        if _compared(since, one, within).finding is Finding.SMALLER:
            since.clear()
        since.append(one)
    return _compared(since, after, within)


def _compared(before: Sequence[Sequence[float]], after: Sequence[float], within: float) -> Comparison:
    series = [one for one in before if len(one) >= FEWEST]
    series = [one for one in series if noise_of(one) <= within] or series
    known = [value for one in before for value in one]
    is_far = bool(known and after) and min(after) > _FAR * (1 + within) * max(known)
    if not series or len(after) < FEWEST:
        found = compare_values([_median(one) for one in before if one], _median(after), within=within, exact=False)
        return replace(found, finding=Finding.LARGER) if is_far else found
    pooled = [value for one in series for value in one]
    medians = [statistics.median(one) for one in series]
    middle, now = statistics.median(medians), statistics.median(after)
    between = (max(medians) - min(medians)) / (2 * middle) if middle else 0.0
    noise = max(between, noise_of(after), *map(noise_of, series))
    is_larger = now >= middle
    p = p_larger(pooled, after) if is_larger else p_larger(after, pooled)
    found = Comparison(finding=Finding.SAME, before=middle, after=now, p=p, noise=noise)
    if noise > within:
        return replace(found, finding=Finding.LARGER if is_far else Finding.NOISY)
    low = statistics.median(map(_low, series))
    low_change = _low(after) / low - 1 if low else 0.0
    sign = 1 if is_larger else -1
    if p >= LEVEL or min(sign * found.change, sign * low_change) <= within:
        return found
    return replace(found, finding=Finding.LARGER if is_larger else Finding.SMALLER)


def compare_values(before: Sequence[float], after: float, *, within: float, exact: bool) -> Comparison:
    """Compare what has one value in a session. Where it is not `exact`, it must be beyond all values before, of which
    there must be three, by more than `within`; their range is the noise. Where the last three or more are smaller than
    all those before them, these do not count."""
    if not before or (not exact and len(before) < _FEWEST_VALUES):
        return Comparison(finding=Finding.FEW, before=_median(before), after=after)
    cuts = range(len(before) - _FEWEST_VALUES, 0, -1)
    smaller = (cut for cut in cuts if max(before[cut:]) < min(before[:cut]) * (1 - within))
    before = before[-1:] if exact else before[next(smaller, 0) :]
    middle = statistics.median(before)
    noise = (max(before) - min(before)) / (2 * middle) if middle else 0.0
    found = Comparison(finding=Finding.SAME, before=middle, after=after, p=0.0 if exact else 1.0, noise=noise)
    if noise > within:
        return replace(found, finding=Finding.NOISY)
    if after > max(before) * (1 + within):
        return replace(found, finding=Finding.LARGER)
    return replace(found, finding=Finding.SMALLER) if after < min(before) * (1 - within) else found


def compare_measured(before: Sequence[Measurement], after: Sequence[Measurement], *, within: float) -> Comparison:
    """Compare what sessions before measured, oldest first, with all calls, or the one value, of those after."""
    if samples := [value for one in after for value in one.samples]:
        return compare_series([one.samples for one in before], samples, within=within)
    now, exact = after[-1].value, after[-1].metric.is_exact
    return compare_values([one.value for one in before], now, within=within, exact=exact)


def _low(samples: Sequence[float]) -> float:
    return statistics.quantiles(samples, n=10, method="inclusive")[0]


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0
