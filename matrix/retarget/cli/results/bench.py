"""`retarget bench compare`: the measurements of two sets of results, the most significant change first."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec import Struct

from retarget.cli.results.command import select_records
from retarget.cli.support import input_path
from retarget.model.metrics import Metric, parse_percent
from retarget.results.comparison import LEVEL, Comparison, Finding, compare_measured
from retarget.results.files import Sessions
from retarget.results.golden import machine_text
from retarget.results.measurements import Baseline, Measurement
from retarget.results.record import Outcome
from retarget.support.errors import RetargetError
from retarget.support.text import counted, shown

_Key = tuple[str, Metric, str]
"""A target's id, a metric and a case."""
_ByMachine = Mapping[tuple[str, ...], Sequence[Measurement]]

_WITHIN = "5 %"
_WORDS = {
    Finding.LARGER: "larger",
    Finding.SMALLER: "smaller",
    Finding.NOISY: "too noisy to judge",
    Finding.FEW: "too few to judge",
    Finding.SAME: "unchanged",
}


class _Row(Struct, frozen=True, kw_only=True):
    """A measurement in both results, on the machine `on` of several; `machines` are those of each, where they share
    none."""

    key: _Key
    found: Comparison
    on: str = ""
    machines: tuple[str, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    does = "compare the benchmarks in two sets of results; exit status 1 where something is larger, or in A alone"
    compare = actions.add_parser("compare", help=does)
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
    try:
        within = parse_percent(arguments.within)
    except ValueError as error:
        msg = f"--within: found {arguments.within!r}, {error}"
        raise argparse.ArgumentError(None, msg) from error
    (in_a, earlier), (in_b, later) = _measured(arguments.before), _measured(arguments.after)
    now = later.results
    selected = select_records(arguments.mark, earlier.results | now).keys()
    bad = {one for one in now if now[one].outcome.is_bad or now[one].outcome is Outcome.BLOCKED}
    metrics = arguments.metric or list(Metric)  # compile times may be gone: the cache keeps artifacts
    in_a = {key: found for key, found in in_a.items() if key[0] in selected and key[1] in metrics}
    in_b = {key: found for key, found in in_b.items() if key[0] in selected - bad and key[1] in metrics}
    both = [key for key in in_b if key in in_a]
    rows = [row for key in both for row in _rows(key, in_a[key], in_b[key], within=within)]
    changed = {Finding.LARGER, Finding.SMALLER}
    rows.sort(key=lambda row: (row.found.finding not in changed, row.found.p, -abs(row.found.change), row.key, row.on))
    missing = len(in_a.keys() ^ in_b.keys())
    gone = [key for key in in_a if key not in in_b and (key[1] is not Metric.COMPILE_TIME or key[0] in bad)]
    failing = {(target, one.start.host) for one in later for target, own in one.latest.items() if own.outcome.is_bad}
    shared = [key for key in both if in_a[key].keys() & in_b[key].keys()]
    apart = [(key, one) for key in shared for one in in_a[key] if one not in in_b[key]]
    gone += [key for key, one in apart if (key[0], one[0]) in failing]
    lost = [*dict.fromkeys(f"{target} case {case!r}" if case else target for target, _, case in gone)]
    elsewhere = Counter(machine_text(one) for _, one in apart)
    notes = [f"not measured any more: {one}" for one in lost]
    notes += [f"A alone has {counted(count, 'measurement')} on {one}" for one, count in elsewhere.items()]
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
        print("\n".join(_text(listed, rows, within, missing, notes)))
    return 1 if lost or any(row.found.finding is Finding.LARGER for row in rows) else 0


def _measured(path: Path) -> tuple[Baseline, Sessions]:
    """Return all sessions in results and their measurements, oldest first."""
    sessions = Sessions.read([path])
    known = Measurement.baseline(sessions, last=0)
    if not known:
        command = "pytest --retarget-benchmark --retarget-results DIR"
        msg = f"{path}: found no benchmark in these results; `{command}` writes one"
        raise RetargetError(msg)
    return known, sessions


def _rows(key: _Key, before: _ByMachine, after: _ByMachine, *, within: float) -> Iterator[_Row]:
    """Yield a row for each machine that both have; where they share none, one for all together, for sizes of those that
    are alike."""
    for one in (shared := [one for one in after if one in before]):
        found = compare_measured(before[one], after[one], within=within)
        yield _Row(key=key, found=found, on=machine_text(one) if len({*before, *after}) > 1 else "")
    if not shared:
        alike = {one[1:] for one in before} & {one[1:] for one in after} if key[1].is_exact else set()
        old, new = ([one for one in side if not alike or one[1:] in alike] for side in (before, after))
        series = ([*chain(*map(side.__getitem__, chosen))] for side, chosen in ((before, old), (after, new)))
        machines = () if alike else tuple(" and ".join(map(machine_text, one)) for one in (old, new))
        found = compare_measured(*series, within=within)
        yield _Row(key=key, found=found, machines=machines)


def _text(
    listed: Sequence[_Row], rows: Sequence[_Row], within: float, missing: int, notes: Sequence[str]
) -> Iterator[str]:
    for row in listed:
        (target, metric, case), found = row.key, row.found
        before, after = (metric.text(value) for value in (found.before, found.after))
        details = [_WORDS[found.finding]] + [f"noise {100 * found.noise:.2g} %"] * bool(found.noise)
        details += [f"p = {found.p:.1g}"] * (0 < found.p < 1)
        change = f"{100 * found.change:+.1f} %" if math.isfinite(found.change) else "from 0"
        yield f"{change:>9}  {metric}  {before} → {after}  ({', '.join(details)})"
        more = (f" case {case!r}" if case else "") + (f" on {row.on}" if row.on else "")
        yield f"           {shown(target + more)}"
    yield from map(shown, notes)
    for machines, count in Counter(row.machines for row in rows if row.machines).most_common():
        where = " → ".join(map(shown, machines))
        yield f"another machine: {counted(count, 'measurement')} on {where}: may differ for that"
    counts = Counter(row.found.finding for row in rows)
    words = [f"{counts[finding]} {word}" for finding, word in _WORDS.items() if counts[finding]]
    words += [f"{missing} in one of them only"] if missing else []
    yield f"{counted(len(rows), 'measurement')}: {', '.join(words)}"
    if any(row.key[1] in {Metric.LATENCY, Metric.DEVICE_TIME} for row in rows):
        yield "latency and device-time: medians of samples, each the shortest of some consecutive calls"
    yield f"bound {100 * within:g} %, rank test of Mann and Whitney at the level {LEVEL:g}"


def _content(rows: Sequence[_Row], within: float, missing: int) -> dict[str, object]:
    return {
        "within": within,
        "level": LEVEL,
        "only_in_one": missing,
        "measurements": [
            {
                "target": row.key[0],
                "metric": row.key[1],
                "case": row.key[2],
                "machine": row.on or None,
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
