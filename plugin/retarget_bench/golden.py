"""Golden rules for measurements: which of them a target breaks, and which cannot be judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from retarget.model import Golden, Metric, quantity_text
from retarget.results import GoldenRecord, Measurement, TargetRecord, measurements_of
from retarget.session import is_expired

from retarget_bench.statistics import LEVEL, Comparison, Finding, compare_series, compare_values

Baseline = Mapping[tuple[str, Metric, str], Sequence[tuple[tuple[str, ...], Measurement]]]
"""As `retarget.results.measurements.baseline_of` returns it."""

_WORDS = {
    Finding.LARGER: "broken",
    Finding.SMALLER: "kept",
    Finding.SAME: "kept",
    Finding.NOISY: "not judged",
    Finding.FEW: "not judged",
}


def judge_goldens(
    rules: Sequence[Golden], record: TargetRecord, baseline: Baseline, host: str
) -> Iterator[tuple[Golden, GoldenRecord]]:
    """Yield the verdict of each rule in force for a target on each case that has its metric. `host` is this
    session's. A target fails where it is `broken`."""
    found = tuple(measurements_of(record))
    for rule in rules:
        if is_expired(rule):
            yield _result(rule, "", "not judged", f"{rule.bound}: the rule is past its `until`, {rule.until}")
            continue
        of_metric = [one for one in found if one.metric is rule.metric]
        if not of_metric:
            is_stored = rule.metric is Metric.COMPILE_TIME and record.compile is not None and record.compile.reused
            why = ": the artifact is from the cache; --retarget-no-cache compiles" if is_stored else ""
            yield _result(rule, "", "not judged", f"{rule.metric} was not measured{why}")
        for one in of_metric:
            yield _result(rule, one.case, *_judged(rule, one, record, baseline, host))


def _judged(rule: Golden, one: Measurement, record: TargetRecord, baseline: Baseline, host: str) -> tuple[str, str]:
    """Return the verdict, and the text for people."""
    now = quantity_text(rule.metric, one.value)
    if rule.most is not None:
        most = quantity_text(rule.metric, rule.most)
        if one.value <= rule.most:
            return "kept", f"{rule.metric} {now}, expected at most {most}"
        margin = max(one.value * (1 - one.spread), min(one.samples, default=0.0))  # each call is above its shortest
        if margin <= rule.most:
            text = f"{rule.metric} {now} -+ {100 * one.spread:.2g} %, expected at most {most}: too close to judge"
            return "not judged", text
        return "broken", f"{rule.metric} {now}, expected at most {most}"
    within = rule.within or 0.0
    machine = record.machine(host)
    exact = rule.metric.is_exact
    before = [
        known for where, known in baseline.get((record.nodeid, rule.metric, one.case), ()) if exact or where == machine
    ]
    if one.samples:
        comparison = compare_series([known.samples for known in before], one.samples, within=within)
    else:
        comparison = compare_values([known.value for known in before], one.value, within=within, exact=exact)
    text = f"{rule.metric} {change_text(rule, comparison, within, len(before))}"
    return _WORDS[comparison.finding], text


def change_text(rule: Golden, found: Comparison, within: float, sessions: int) -> str:
    """Describe a comparison for people: `1.32 ms, 12 % more than 1.18 ms; expected at most 10 % more …`."""
    now, bound = quantity_text(rule.metric, found.after), f"{100 * within:g} %"
    if found.finding is Finding.FEW:
        return f"{now}; {sessions} earlier sessions of this host and device have it, which is too few to judge"
    before = quantity_text(rule.metric, found.before)
    direction = "more" if found.change >= 0 else "less"
    text = f"{now}, {abs(100 * found.change):.3g} % {direction} than {before}"
    if found.finding is Finding.NOISY:
        return f"{text}; its noise here, {100 * found.noise:.2g} %, is larger than the bound of {bound}: not judged"
    ranks = "" if found.p in {0.0, 1.0} else f"; Mann-Whitney p = {found.p:.1g}, level {LEVEL:g}"
    test = "" if rule.metric.is_exact else f" (noise {100 * found.noise:.2g} %{ranks})"
    return f"{text}{test}; expected at most {bound} more"


def _result(rule: Golden, case: str, verdict: str, text: str) -> tuple[Golden, GoldenRecord]:
    return rule, GoldenRecord(rule=rule.bound, case=case, verdict=verdict, text=text)
