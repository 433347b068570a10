"""`retarget history add|list|show`."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

from retarget.cli.results.command import add_paths, read_sessions
from retarget.cli.support import add_action, text_table
from retarget.model.metrics import Metric
from retarget.results.history import History, HistoryRun, Timeline, add_run, changes_between, timelines
from retarget.results.merge import check_agreement
from retarget.results.overview import Change
from retarget.support.checkout import Checkout
from retarget.support.errors import RetargetError, did_you_mean
from retarget.support.text import counted, shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    does = "add the results of one run, all its legs, to a history; adding them again changes nothing"
    add = add_action(actions, "add", _add, does)
    add_paths(add)
    add.add_argument("--to", dest="place", required=True, metavar="FOLDER|URL", help="where the history is kept")
    _add_source(add_action(actions, "list", _list, "list the runs, and what each broke and mended"))
    does = "show a target over all runs: since when it is as it is, regressions, how often chance decided"
    show = add_action(actions, "show", _show, does)
    show.add_argument("target", metavar="TARGET", help="its name, or its node id")
    _add_source(show)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="place", required=True, metavar="FOLDER|URL", help="where the history is kept")
    parser.add_argument("--last", type=int, default=0, metavar="N", help="only the last N runs (all)")


def _add(arguments: argparse.Namespace) -> int:
    sessions = read_sessions(arguments.paths)
    check_agreement(sessions)
    run, is_new = add_run(sessions, arguments.place)
    held = f"{counted(run.targets, 'target')} of {counted(len(run.sessions), 'session')}"
    notes = [*([] if run.complete else ["incomplete"]), *([] if is_new else ["it was there already"])]
    print(f"{arguments.place}: {run.name}: {', '.join([held, *notes])}")
    return 0


def _read(arguments: argparse.Namespace) -> History:
    if arguments.last < 0:
        msg = f"--last {arguments.last}: expected a number of runs, 0 for all"
        raise argparse.ArgumentError(None, msg)
    return History.read(arguments.place, last=arguments.last)


def _ended(history: History) -> int:
    """Name the files that could not be read; return the exit status."""
    for problem in history.damaged:
        print(shown(problem, 1000), file=sys.stderr)
    return 1 if history.damaged else 0


def _list(arguments: argparse.Namespace) -> int:
    history = _read(arguments)
    lines = [line for line in timelines(history) if line.regressions]
    rows = []
    for number, one in enumerate(history.runs):
        counts = [(history.states[cell], count) for cell, count in Counter(history.cells[number]).items()]
        good = sum(count for state, count in counts if state is not None and state.is_good)
        bad = sum(count for state, count in counts if state is not None and state.is_bad)
        found = Counter(changes_between(history, number - 1, number, lines).values()) if number else Counter[Change]()
        broken, mended = found[Change.BROKEN], found[Change.MENDED]
        rows.append((one, good, bad, one.targets - good - bad, broken, mended))
    open_now = [line for line in lines if line.is_open]
    header = ("run", "started", "good", "bad", "no verdict", "broken", "mended", "revision", "complete")
    texts = [
        (
            one.name,
            _when(one),
            *map(str, numbers),
            ", ".join(map(Checkout.short, one.revisions)) or "-",
            "yes" if one.complete else "no",
        )
        for one, *numbers in rows
    ]
    print(text_table(header, texts))
    if open_now:
        print(f"\nopen regressions: {len(open_now)}")
    for line in open_now:
        print(f"  {shown(line.id)}: {_state(line)}, since {_name(history, line.regressions[-1].opened)}")
    return _ended(history)


def _show(arguments: argparse.Namespace) -> int:
    history = _read(arguments)
    wanted: str = arguments.target
    names = [one for one in history.ids if one == wanted or one.rpartition("::")[2] == wanted]
    if not names:
        _ended(history)
        near = did_you_mean(wanted, {one.rpartition("::")[2] for one in history.ids})
        msg = f"found no target {wanted!r} in the {counted(len(history.runs), 'run')} of {arguments.place}{near}"
        raise RetargetError(msg)
    lines = [line for name in names if (line := history.timeline(name)) is not None]
    print("\n\n".join("\n".join(_text(history, line)) for line in lines))
    return _ended(history)


def _state(line: Timeline) -> str:
    is_silent = line.is_open and line.now is not None and line.now.is_good
    where = f" on {' or '.join(line.open_on)}" if line.open_on else ""
    return shown(f"{line.now or 'no result in the last run'}{f', which does not mend it{where}' if is_silent else ''}")


def _text(history: History, line: Timeline) -> Iterator[str]:
    yield shown(line.id)
    yield f"  now      {_state(line)}"
    if line.now is not None and line.since >= 0:
        runs = counted(len(history.runs) - line.since, "run")
        yield f"  since    {_name(history, line.since)} ({_when(history.runs[line.since])}, {runs})"
    last = f", the last time {counted(line.idle, 'run')} ago" if line.last_run >= 0 and line.idle else ""
    yield f"  ran      in {line.ran} of {counted(len(line.states), 'run')}{last}"
    if line.flaky:
        yield f"  flaky    in {line.flaky} of {line.ran}"
    for one in line.regressions:
        closed = f"closed {_name(history, one.closed)}" if one.closed is not None else "open"
        yield f"  broken   {_name(history, one.opened)}, {closed}"
    yield ""
    rows: list[tuple[str, ...]] = [
        (one.name, f"{taken / 1000:.3f}" if taken else "-", shown(str(state)) if state is not None else "-")
        for one, taken, state in zip(history.runs, line.milliseconds, line.states, strict=True)
    ]
    metrics = [metric for metric in Metric if any(line.id in run.get(metric, {}) for run in history.metrics)]
    for place, known in enumerate(history.metrics if metrics else ()):
        values = [(metric, known.get(metric, {}).get(line.id)) for metric in metrics]
        rows[place] += tuple("-" if value is None else metric.text(value) for metric, value in values)
    yield text_table(("run", "seconds", "state", *metrics), rows)


def _name(history: History, run: int | None) -> str | None:
    return history.runs[run].name if run is not None and run >= 0 else None


def _when(run: HistoryRun) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(run.started))
