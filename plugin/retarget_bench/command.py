"""`retarget bench compare`: the measurements of two sets of results, the most significant change first."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from msgspec import Struct
from retarget.cli import input_path, record_filter
from retarget.model import Metric, parse_percent
from retarget.results import Measurement, Outcome, TargetRecord, baseline_of, read_results, results_of
from retarget.support import RetargetError, counted, shown

from retarget_bench.golden import LEVEL, Comparison, Finding, compare_series, compare_values

_Key = tuple[str, Metric, str]
"""A target's id, a metric and a case."""

_WITHIN = "5 %"
_WORDS = {
    Finding.LARGER: "larger",
    Finding.SMALLER: "smaller",
    Finding.NOISY: "too noisy to judge",
    Finding.FEW: "too few to judge",
    Finding.SAME: "unchanged",
}


_Measured = Mapping[_Key, Sequence[tuple[tuple[str, ...], Measurement]]]
"""Of each the machines and the measurements, oldest first."""


class _Row(Struct, frozen=True, kw_only=True):
    """A measurement in both results. `machines` are those of each, where B has others."""

    target: str
    metric: Metric
    case: str
    found: Comparison
    machines: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[int, float, float]:
        """Larger and smaller ones first, by significance, then by the size of the change."""
        is_judged = self.found.finding in {Finding.LARGER, Finding.SMALLER}
        return not is_judged, self.found.p, -abs(self.found.change)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    does = "compare the benchmarks in two sets of results; exit status 1 where something is larger, or in A alone"
    compare = actions.add_parser("compare", help=does, description=f"{does}.")
    compare.add_argument("before", type=input_path, metavar="A", help="folder or file of results: before")
    compare.add_argument("after", type=input_path, metavar="B", help="folder or file of results: after")
    compare.add_argument("-m", dest="mark", default="", metavar="EXPR", help="only what this selects, as in pytest")
    compare.add_argument(
        "--metric", action="append", default=[], choices=[str(one) for one in Metric], help="only this; repeatable"
    )
    does = f"a change this small is none ({_WITHIN}%)"
    compare.add_argument("--within", default=_WITHIN, metavar="PERCENT", help=does)
    compare.add_argument("--all", action="store_true", help="list what is unchanged, too")
    compare.add_argument("--format", choices=("text", "json"), default="text", help="how to print (text)")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison. Raises `RetargetError` for results that cannot be read or have no benchmark."""
    choose = record_filter(arguments)
    try:
        within = parse_percent(arguments.within)
    except ValueError as error:
        msg = f"--within: found {arguments.within!r}, {error}"
        raise argparse.ArgumentError(None, msg) from error
    before, _ = _measured(arguments.before, choose)
    after, bad = _measured(arguments.after, choose)
    after = {key: found for key, found in after.items() if key[0] not in bad}
    metrics = arguments.metric or list(Metric)
    rows = [_row(key, before[key], after[key], within=within) for key in after if key in before and key[1] in metrics]
    rows.sort(key=lambda row: (*row.order, row.target, row.metric, row.case))
    missing = len({key for key in before.keys() ^ after.keys() if key[1] in metrics})
    gone = [key for key in before if key not in after and key[1] in metrics]
    gone = [key for key in gone if key[1] is not Metric.COMPILE_TIME or key[0] in bad]  # the cache keeps artifacts
    lost = [*dict.fromkeys(f"{target} case {case!r}" if case else target for target, _, case in gone)]
    if not rows:
        wanted = f" of {', '.join(metrics)}" if arguments.metric else ""
        msg = (
            f"found no measurement{wanted} that both {arguments.before} and {arguments.after} have "
            f"({missing} in one of them only); `retarget results show` lists the targets of each"
        )
        raise RetargetError(msg)
    if arguments.format == "json":
        print(json.dumps(_content(rows, within, missing) | {"lost": lost}, indent=1))
    else:
        listed = [row for row in rows if arguments.all or row.found.finding is not Finding.SAME]
        print("\n".join(_text(listed, rows, within, missing, lost)))
    return 1 if lost or any(row.found.finding is Finding.LARGER for row in rows) else 0


def _measured(path: Path, choose: Callable[[TargetRecord], bool]) -> tuple[_Measured, Set[str]]:
    """Return the measurements of all sessions in results, oldest first, and the targets that fail by now."""
    sessions = read_results([path])
    known = baseline_of(sessions, last=0, choose=choose)
    if not known:
        command = "pytest --retarget-benchmark --retarget-results DIR"
        msg = f"{path}: found no benchmark in these results; `{command}` writes one"
        raise RetargetError(msg)
    return known, {
        one
        for one, record in results_of(sessions).items()
        if record.outcome.is_bad or record.outcome is Outcome.BLOCKED
    }


def _row(key: _Key, *found_in: Sequence[tuple[tuple[str, ...], Measurement]], within: float) -> _Row:
    target, metric, case = key
    first, second = ({where: ", ".join(filter(None, where)) for where, _ in found} for found in found_in)
    others = () if metric.is_exact or first.keys() == second.keys() else (first, second)
    machines = tuple(" and ".join(one.values()) or "an unknown one" for one in others)
    before, after = ([one for _, one in found] for found in found_in)
    if any(one.samples for one in after):
        series = [value for one in after for value in one.samples]
        found = compare_series([one.samples for one in before], series, within=within)
    else:
        values = [one.value for one in before]
        found = compare_values(values, after[-1].value, within=within, exact=metric.is_exact)
    return _Row(target=target, metric=metric, case=case, found=found, machines=machines)


def _text(
    listed: Sequence[_Row], rows: Sequence[_Row], within: float, missing: int, lost: Sequence[str]
) -> Iterator[str]:
    for row in listed:
        found = row.found
        before, after = (row.metric.text(value) for value in (found.before, found.after))
        case = f" case {row.case!r}" if row.case else ""
        details = [_WORDS[found.finding]]
        if found.noise:
            details.append(f"noise {100 * found.noise:.2g} %")
        if 0 < found.p < 1:
            details.append(f"p = {found.p:.1g}")
        change = f"{100 * found.change:+.1f} %" if math.isfinite(found.change) else "from 0"
        yield f"{change:>9}  {row.metric}  {before} → {after}  ({', '.join(details)})"
        yield f"           {shown(row.target)}{case}"
    yield from (f"not measured any more: {shown(one)}" for one in lost)
    for machines, count in Counter(row.machines for row in rows if row.machines).most_common():
        where = " → ".join(map(shown, machines))
        yield f"another machine: {counted(count, 'measurement')} on {where}: may differ for that"
    counts = [(finding, sum(row.found.finding is finding for row in rows)) for finding in _WORDS]
    words = [f"{count} {_WORDS[finding]}" for finding, count in counts if count]
    words += [f"{missing} in one of them only"] if missing else []
    yield f"{counted(len(rows), 'measurement')}: {', '.join(words)}"
    if any(row.metric in {Metric.LATENCY, Metric.DEVICE_TIME} for row in rows):
        yield "latency and device-time: medians of samples, each the shortest of some consecutive calls"
    yield f"bound {100 * within:g} %, rank test of Mann and Whitney at the level {LEVEL:g}"


def _content(rows: Sequence[_Row], within: float, missing: int) -> dict[str, object]:
    return {
        "within": within,
        "level": LEVEL,
        "only_in_one": missing,
        "measurements": [
            {
                "target": row.target,
                "metric": row.metric,
                "case": row.case,
                "finding": row.found.finding,
                "before": row.found.before,
                "after": row.found.after,
                "change": row.found.change if math.isfinite(row.found.change) else None,
                "p": row.found.p if 0 < row.found.p < 1 else None,
                "noise": row.found.noise,
                "machines": row.machines or None,
            }
            for row in rows
        ],
    }
