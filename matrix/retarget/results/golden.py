"""Golden rules for measurements: which of them a target breaks, and which cannot be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from retarget.expect.matching import GoldenAssignment
from retarget.model import Golden, Origin, RunTarget, Suite, Target
from retarget.model.metrics import Metric
from retarget.results.comparison import LEVEL, Comparison, Finding, compare_measured
from retarget.results.files import SessionResults
from retarget.results.measurements import Baseline, Measurement
from retarget.results.record import GoldenRecord, TargetRecord


class GoldenRules:
    """The golden rules of suites, as a session on `host` with the kind of CPU `cpu` judges its targets by them.
    `earlier` reads the results of sessions before it, once a rule is about a change."""

    def __init__(self, host: str, cpu: str, earlier: Callable[[], Sequence[SessionResults]]) -> None:
        self._host = host, cpu
        self._earlier = earlier
        self._assignments: dict[Origin, GoldenAssignment] = {}

    @cached_property
    def _baseline(self) -> Baseline:
        return Measurement.baseline(self._earlier())

    def judge(
        self, suite: Suite, targets: Sequence[Target], target: Target, record: TargetRecord, *, passes: bool
    ) -> list[tuple[Golden, GoldenRecord]]:
        """Return the verdicts on one of the `targets` of a suite. Raises `RetargetError` for rules that contradict each
        other on its devices, and for results that cannot be read."""
        if suite.origin not in self._assignments:
            self._assignments[suite.origin] = GoldenAssignment.assign(suite.goldens, targets if suite.goldens else ())
        compiled = record.compile.devices if record.compile is not None else ()
        devices = record.devices if isinstance(target, RunTarget) else compiled
        rules = self._assignments[suite.origin].of(target, [device.traits for device in devices])
        baseline = self._baseline if any(rule.within is not None for rule in rules) else {}
        return [*judge_goldens(rules, record, baseline, *self._host, passes=passes)]


_VERDICTS = {Finding.LARGER: "broken", Finding.NOISY: "not judged", Finding.FEW: "not judged"}


def judge_goldens(
    rules: Sequence[Golden], record: TargetRecord, baseline: Baseline, host: str, cpu: str, *, passes: bool = True
) -> Iterator[tuple[Golden, GoldenRecord]]:
    """Yield the verdict of each rule in force for a target on each case that has its metric. `host` and `cpu`
    are this session's. A target fails where it is `broken`."""
    found = tuple(Measurement.of(record))
    for rule in rules:
        if not passes or rule.is_expired:
            why = f"the rule is past its `until`, {rule.until}" if passes else "the target fails, as is expected"
            yield _result(rule, "", "not judged", f"{rule.bound}: {why}")
            continue
        of_metric = [one for one in found if one.metric is rule.metric]
        if not of_metric:
            is_stored = rule.metric is Metric.COMPILE_TIME and record.compile is not None and record.compile.reused
            why = ": the artifact is from the cache; --retarget-no-cache compiles" if is_stored else ""
            yield _result(rule, "", "not judged", f"{rule.metric} was not measured{why}")
        for one in of_metric:
            machines = baseline.get((record.nodeid, one.metric, one.case), {})
            yield _result(rule, one.case, *_judged(rule, one, machines, record.machine(host, cpu)))


def _judged(
    rule: Golden, one: Measurement, machines: Mapping[tuple[str, ...], Sequence[Measurement]], own: tuple[str, ...]
) -> tuple[str, str]:
    """Return the verdict, and the text for people. `machines` have earlier measurements, `own` is this one."""
    now = rule.metric.text(one.value)
    if rule.most is not None:
        most = rule.metric.text(rule.most)
        if one.value <= rule.most:
            return "kept", f"{rule.metric} {now}, expected at most {most}"
        margin = max(one.value * (1 - one.spread), min(one.samples, default=0.0))  # each call is above its shortest
        if margin <= rule.most:
            text = f"{rule.metric} {now} -+ {100 * one.spread:.2g} %, expected at most {most}: too close to judge"
            return "not judged", text
        return "broken", f"{rule.metric} {now}, expected at most {most}"
    within = rule.within or 0.0
    machine = own
    if own not in machines and machines and rule.metric.is_exact:
        machine = [*([known for known in machines if known[1:] == own[1:]] or machines)][-1]
    before = machines.get(machine, ())
    comparison = compare_measured(before, [one], within=within)
    text = f"{rule.metric} {change_text(rule, comparison, within, len(before))}"
    text += "" if machine[1:] == own[1:] else f"; of another machine: {machine_text(machine)}"
    return _VERDICTS.get(comparison.finding, "kept"), text


def machine_text(machine: tuple[str, ...]) -> str:
    """Name a machine of a baseline for people."""
    return ", ".join(filter(None, machine)) or "an unknown one"


def change_text(rule: Golden, found: Comparison, within: float, sessions: int) -> str:
    """Describe a comparison for people: `1.32 ms, 12 % more than 1.18 ms; expected at most 10 % more …`."""
    now, bound = rule.metric.text(found.after), f"{100 * within:g} %"
    if found.finding is Finding.FEW:
        return f"{now}; {sessions} earlier sessions of this host and device have it, which is too few to judge"
    before = rule.metric.text(found.before)
    direction = "more" if found.change >= 0 else "less"
    text = f"{now}, {abs(100 * found.change):.3g} % {direction} than {before}"
    if found.finding is Finding.NOISY:
        return f"{text}; its noise here, {100 * found.noise:.2g} %, is larger than the bound of {bound}: not judged"
    ranks = "" if found.p == 1.0 else f"; Mann-Whitney p = {found.p:.1g}, level {LEVEL:g}"
    test = "" if rule.metric.is_exact else f" (noise {100 * found.noise:.2g} %{ranks})"
    return f"{text}{test}; expected at most {bound} more"


def _result(rule: Golden, case: str, verdict: str, text: str) -> tuple[Golden, GoldenRecord]:
    return rule, GoldenRecord(rule=rule.bound, case=case, verdict=verdict, text=text)
