"""The history of a project's targets: one small file per run, and all runs in columns.

A run is what the sessions of one CI run found together. Its file is compressed JSON: the targets' ids, the states that
occur once each, and for each target the number of its state and how long it took. It is named by the run's start and a
digest of its content, and written atomically: any number of writers may add at once, adding a run twice changes
nothing, and no file is ever changed or removed here.
"""

from __future__ import annotations

import calendar
import gzip
import hashlib
import io
import operator
import statistics
import time
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from retarget.results.files import SessionResults, Sessions
from retarget.results.measurements import Measurement
from retarget.results.overview import Change, State, differences
from retarget.results.record import Outcome, TargetRecord, When
from retarget.support.errors import RetargetError, display_path, install_hint
from retarget.support.files import UNFINISHED, read_regular, user_path, write_atomically

VERSION = 1
"""Of the files of a history; incremented when a field changes its meaning."""

HISTORY_SUFFIX = ".history.json.gz"

_LARGEST, _RATIO = 64 * 1024**2, 100
"""Bytes that a file may have unpacked, and how many more for each of its own: those of real runs become 30."""


_WHEN = "%Y%m%dT%H%M%SZ"
_LONGEST_RUN = 86400.0
"""Seconds from the start of a run to that of its last session: so much earlier a file may begin that has all of
another one's sessions."""


class HistoryRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One run of a history, without its targets. `started` and `ended` are seconds since 1970, UTC.

    `name` is that of its file, without the suffix. `sessions` are the ids of its sessions, `plans` the digests of the
    plans that they answer to, `legs` the legs, `revisions` the commits, each sorted and once. It is incomplete where a
    session has a fault (`SessionResults.fault`): it was killed, or failed for more than targets. `targets` counts
    them.
    """

    name: str = ""
    started: When
    ended: When
    sessions: tuple[str, ...]
    plans: tuple[str, ...] = ()
    legs: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()
    complete: bool = True
    targets: int = 0


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run's file. `states` has a number for each target, into `of`; `milliseconds` are at least 1, 0 for unknown.

    `metrics` are those of a benchmark by name: (place of the target in `ids`, value) pairs.
    """

    version: int = VERSION
    run: HistoryRun
    of: list[State]
    ids: list[str]
    states: list[int]
    milliseconds: list[int]
    metrics: dict[str, list[tuple[int, float]]] | msgspec.UnsetType = msgspec.UNSET


class _Version(msgspec.Struct):
    version: int


class History(Struct, frozen=True, kw_only=True):
    """All runs, oldest first, in columns: `cells[run][target]` is a number of `states`, `milliseconds` likewise.

    `ids` are sorted: all targets that any run has. `states[0]` is None: the run does not have the target. Milliseconds
    are 0 where the target did not run. `metrics` has for each run what a benchmark measured: by metric, then by target,
    in seconds, bytes or a number. `damaged` says of each file that could not be read where and why.
    """

    runs: tuple[HistoryRun, ...] = ()
    ids: tuple[str, ...] = ()
    states: tuple[State | None, ...] = (None,)
    cells: tuple[array[int], ...] = ()
    milliseconds: tuple[array[int], ...] = ()
    metrics: tuple[Mapping[str, Mapping[str, float]], ...] = ()
    damaged: tuple[str, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The number of each target in `ids`."""

    def at(self, run: int) -> dict[str, State]:
        """Return the states of one run's targets, by id. `run` is its number, negative ones from the end."""
        known = zip(self.ids, self.cells[run], strict=True)
        return {name: state for name, number in known if (state := self.states[number]) is not None}

    def durations(self) -> dict[str, float]:
        """Return how long each target takes, in seconds: the median of its last five runs in which that is known."""
        rows = zip(*reversed(self.milliseconds), strict=True)
        known = ((name, [taken for taken in row if taken][:5]) for name, row in zip(self.ids, rows, strict=False))
        return {name: statistics.median(times) / 1000 for name, times in known if times}

    @classmethod
    def read(cls, place: str, *, last: int = 0, now: Sequence[SessionResults] = (), if_any: bool = False) -> History:
        """Read the history in `place`, a folder or a URL: its `last` runs, 0 for all.

        With `now`, the run that these sessions make is the last one, whether it was added or not; later ones are left
        out. A file that cannot be read is named in `damaged`, the others are read. Raises `RetargetError` where there
        is no such folder, or no run in it, but not with `if_any`.
        """
        folder = _opened(place)
        next_step = f"`retarget history add RESULTS --to {place}` writes one"
        try:
            files = (name for name in folder.names() if name.endswith(HISTORY_SUFFIX))
            names = sorted(name for name in files if not name.startswith(UNFINISHED))
        except Exception as error:  # as above
            msg = f"cannot read the history {place}: {_why(error)}"
            raise RetargetError(msg) from error
        if not names and not if_any:
            msg = f"{place}: found no history, expected files {'*' + HISTORY_SUFFIX!r}; {next_step}"
            raise RetargetError(msg)
        if not now:
            return unpack(_read(folder, _recent(names, last)), last=last)
        run, content = pack(now)
        until = [name for name in names if name.partition("-")[0] <= run.name.partition("-")[0]]
        return unpack([*_read(folder, _recent(until, last)), (run.name, "", content)], last=last and last + 1)

    def timeline(self, target: str) -> Timeline | None:
        """Return one target's; None where no run has it."""
        number = self.numbers.get(target)
        if number is None:
            return None
        cells = tuple(column[number] for column in self.cells)
        return _timeline(target, cells, tuple(column[number] for column in self.milliseconds), self.states)


def seconds_of(record: TargetRecord) -> float:
    """Return how long a target took by itself: the compile of a compile target (also where it was reused), the run of a
    run target without its compile and without waiting; 0 where that is unknown."""
    if record.runtime:
        run = record.run
        return run.load_seconds + run.run_seconds + run.compare_seconds if run is not None else 0.0
    return record.compile.seconds if record.compile is not None else 0.0


def pack(sessions: Sequence[SessionResults]) -> tuple[HistoryRun, bytes]:
    """Return the run that sessions make together, and its file's content: the same for the same sessions in any order.

    The sessions must agree (`retarget.results.merge.merged`). Raises `RetargetError` where there is no session.
    """
    if not sessions:
        msg = "found no session; a run of a history needs at least one"
        raise RetargetError(msg)
    starts = [one.start for one in sessions]
    together = Sessions(sorted(sessions, key=lambda one: (one.start.started, one.start.session)))
    read = sorted(together.states(State.by_case).items())
    found, states = {name: record for name, (record, _) in read}, {name: state for name, (_, state) in read}
    of = sorted(set(states.values()))
    numbers = {state: number for number, state in enumerate(of)}
    times = [one.started for one in starts]
    times += [one.end.ended for one in sessions if one.end] + [record.ended for record in found.values()]
    run = HistoryRun(
        started=min(one.started for one in starts),
        ended=max(times),
        sessions=_each(one.session for one in starts),
        plans=_each(one.plan for one in starts),
        legs=_each(one.leg for one in starts),
        revisions=_each(one.revision for one in starts),
        complete=not together.faulty,
        targets=len(states),
    )
    content = msgspec.json.encode(
        _File(
            run=run,
            of=of,
            ids=list(states),
            states=[numbers[state] for state in states.values()],
            milliseconds=[_milliseconds(found[name]) for name in states],
            metrics=_metrics([found[name] for name in states]) or msgspec.UNSET,
        )
    )
    when = time.strftime(_WHEN, time.gmtime(run.started))
    name = f"{when}-{hashlib.sha256(content).hexdigest()[:16]}"
    return replace(run, name=name), gzip.compress(content, compresslevel=6, mtime=0)


def _metrics(records: Sequence[TargetRecord]) -> dict[str, list[tuple[int, float]]]:
    metrics: dict[str, list[tuple[int, float]]] = {}
    for place, record in enumerate(records):
        for metric, value in Measurement.totals(record).items():
            metrics.setdefault(metric, []).append((place, value))
    return metrics


def _each(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({text for text in texts if text}))


def _milliseconds(record: TargetRecord) -> int:
    """Return how long a target took in its session, at least 1; 0 where it did not run."""
    seconds = 0.0 if record.reused is not None else seconds_of(record)
    return max(round(seconds * 1000), 1) if seconds > 0 else 0


def unpack(files: Iterable[tuple[str, str, bytes | str]], *, last: int = 0) -> History:
    """Return the history that files make: (name, where for people, content) each, in any order; the `last` runs, 0 for
    all.

    A content that is a text says why the file cannot be read. It, a damaged file and one of another version are left
    out and named in `damaged`. A run all of whose sessions are in a larger run counts as part of that.
    """
    damaged: list[str] = []
    read: list[_Columns] = []
    numbers: dict[str, int] = {}
    states: dict[State | None, int] = {None: 0}
    ids: list[str] = []
    places: list[int] = []
    for name, where, content in files:
        try:
            file = _decoded(content)
        except RetargetError as error:
            damaged.append(f"{where}: {error}")
            continue
        if file.ids != ids:  # most runs have the targets of the one before
            ids, places = file.ids, [numbers.setdefault(one, len(numbers)) for one in file.ids]
        of = [states.setdefault(state, len(states)) for state in file.of]
        cells = _column(places, map(of.__getitem__, file.states), len(numbers))
        milliseconds = _column(places, file.milliseconds, len(numbers))
        of_metrics = (file.metrics or {}).items()
        metrics = {metric: {file.ids[place]: value for place, value in values} for metric, values in of_metrics}
        read.append((replace(file.run, name=name), cells, milliseconds, metrics))
    kept = _without_parts(read)[-last:]
    for _, cells, milliseconds, _ in kept:
        cells.extend(_zeros(len(numbers) - len(cells)))
        milliseconds.extend(_zeros(len(numbers) - len(milliseconds)))
    names = sorted(numbers)
    if len(kept) < len(read):
        names = [name for name in names if any(cells[numbers[name]] for _, cells, _, _ in kept)]
    order = [numbers[name] for name in names]
    return History(
        runs=tuple(run for run, _, _, _ in kept),
        ids=tuple(names),
        states=tuple(states),
        cells=tuple(array("I", map(cells.__getitem__, order)) for _, cells, _, _ in kept),
        milliseconds=tuple(array("I", map(milliseconds.__getitem__, order)) for _, _, milliseconds, _ in kept),
        metrics=tuple(metrics for _, _, _, metrics in kept),
        damaged=tuple(damaged),
        numbers={name: number for number, name in enumerate(names)},
    )


_Columns = tuple[HistoryRun, "array[int]", "array[int]", Mapping[str, Mapping[str, float]]]


def _decompressed(content: bytes) -> bytes:
    """Return what is packed in a file. Raises `OSError`, `EOFError` and `zlib.error` for a damaged one."""
    most = _LARGEST + _RATIO * len(content)
    with gzip.open(io.BytesIO(content)) as stream:
        data = stream.read(most)
    if len(data) == most:
        msg = f"its {len(content)} bytes hold {most} or more"
        raise OSError(msg)
    return data


def _decoded(content: bytes | str) -> _File:
    if isinstance(content, str):
        raise RetargetError(content)
    data = b""
    try:
        data = _decompressed(content)
        file = msgspec.json.decode(data, type=_File)
    except (OSError, EOFError, zlib.error, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        msg = f"found a damaged file, expected a run of `retarget history add`: {error}"
        raise RetargetError(_other_version(data) or msg) from error
    if file.version != VERSION:
        raise RetargetError(_other_version(data))
    places = [place for values in (file.metrics or {}).values() for place, _ in values]
    faults = {
        "its columns do not have one row per target": not len(file.ids) == len(file.states) == len(file.milliseconds),
        "its targets are not sorted, or not each there once": any(map(operator.ge, file.ids, file.ids[1:])),
        "it has no such state as a target's": not _are_below(len(file.of), file.states),
        "a target's duration is impossible": not _are_below(2**32, file.milliseconds),
        "a metric is of no such target": not _are_below(len(file.ids), places),
    }
    for fault in (what for what, is_so in faults.items() if is_so):
        msg = f"found a damaged file: {fault}"
        raise RetargetError(msg)
    return file


def _are_below(limit: int, numbers: Sequence[int]) -> bool:
    return min(numbers, default=0) >= 0 and max(numbers, default=-1) < limit


def _other_version(data: bytes) -> str:
    """Return what to say of a run of another version; nothing where it is of this one, or says none."""
    try:
        version = msgspec.json.decode(data, type=_Version).version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        version = VERSION
    next_step = "read it with the retarget that wrote it"
    return f"found a run of version {version}, expected {VERSION}; {next_step}" if version != VERSION else ""


def _without_parts(read: Iterable[_Columns]) -> list[_Columns]:
    """Return the runs by their start, without those whose sessions are all in another that has more of them, or more
    targets of the same."""
    kept: list[_Columns] = []
    for one in sorted(read, key=lambda one: (-len(one[0].sessions), -one[0].targets, one[0].name)):
        if not any(set(one[0].sessions) <= set(run.sessions) for run, *_ in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: (one[0].started, one[0].ended, one[0].name))  # of a run, a leg may run again


def _column(places: Sequence[int], values: Iterable[int], count: int) -> array[int]:
    """Return a column of `count` rows, those at `places` with a value each, the others 0."""
    if len(places) == count and places[-1:] == [count - 1] and places == sorted(places):
        return array("I", values)
    column = _zeros(count)
    for place, value in zip(places, values, strict=True):
        column[place] = value
    return column


def _zeros(count: int) -> array[int]:
    return array("I", bytes(array("I").itemsize * count))


def add_run(sessions: Sequence[SessionResults], place: str) -> tuple[HistoryRun, bool]:
    """Add the run that `sessions` make to the history in `place`, a folder or a URL; return it, and whether it is new.

    Raises `RetargetError` where the place cannot be written.
    """
    run, content = pack(sessions)
    folder = _opened(place)
    name = f"{run.name}{HISTORY_SUFFIX}"
    try:
        if name in folder.names() and not unpack([(name, "", folder.read(name))]).damaged:
            return run, False
        folder.write(name, content)
    except Exception as error:  # each file system has its own
        msg = f"cannot write the history {place}: {_why(error)}; give a folder that you may write with --to"
        raise RetargetError(msg) from error
    return run, True


def _recent(names: Sequence[str], last: int) -> Sequence[str]:
    """Return the names, sorted, of the files that the `last` runs are in: a run may be in several, with fewer of its
    sessions in some."""
    try:
        first = calendar.timegm(time.strptime(names[-last:][0].partition("-")[0], _WHEN))
    except (IndexError, ValueError):
        return names
    since = time.strftime(_WHEN, time.gmtime(first - _LONGEST_RUN)) if last else ""
    return [name for name in names if name >= since]


def _read(folder: _Local | _Remote, names: Sequence[str]) -> Iterator[tuple[str, str, bytes | str]]:
    for name in names:
        content: bytes | str
        try:
            content = folder.read(name)
        except Exception as error:  # as above
            content = f"cannot read it: {_why(error)}"
        yield name.removesuffix(HISTORY_SUFFIX), folder.shown(name), content


def _why(error: Exception) -> str:
    strerror = getattr(error, "strerror", None)
    return str(strerror or error or type(error).__name__)


class _Local:
    """Names of files, without folders; none where the folder is not there yet."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> list[str]:
        try:
            return [path.name for path in self._path.iterdir()]
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        return read_regular(self._path / name)

    def write(self, name: str, content: bytes) -> None:
        write_atomically(self._path / name, content)

    def shown(self, name: str) -> str:
        return display_path(self._path / name)


class _Remote:
    """The same behind a URL."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            msg = f"the history {url} needs the package fsspec; {install_hint('history')}"
            raise RetargetError(msg) from error
        try:
            self._system: Any
            self._system, self._path = fsspec.core.url_to_fs(url)
        except Exception as error:  # no such protocol, a package of it is missing, or the URL is none of it
            msg = f"cannot open the history {url}: {error}; expected a folder, or a URL that fsspec can open"
            raise RetargetError(msg) from error
        self._url = url.rstrip("/")

    def names(self) -> list[str]:
        self._system.invalidate_cache()
        try:
            return [path.rpartition("/")[2] for path in self._system.ls(self._path, detail=False)]
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        content: bytes = self._system.cat_file(f"{self._path}/{name}")
        return content

    def write(self, name: str, content: bytes) -> None:
        self._system.makedirs(self._path, exist_ok=True)
        self._system.pipe_file(f"{self._path}/{name}", content)

    def shown(self, name: str) -> str:
        return f"{self._url}/{name}"


def _opened(place: str) -> _Local | _Remote:
    if not place:
        msg = "found an empty text, expected the folder or URL of a history"
        raise RetargetError(msg)
    scheme, separator, rest = place.partition("://")
    if separator and scheme != "file":
        return _Remote(place)
    return _Local(user_path(rest if separator else place))


_CHANCE = frozenset({Outcome.FLAKY, Outcome.INTERMITTENT})


class Regression(Struct, frozen=True, kw_only=True):
    """A target failed from the run `opened` on, until it was as expected in the run `closed`; None while it is open.

    A run that gives no verdict closes nothing, nor does one in other circumstances than it failed in, or one that
    judges no golden rule which it broke. One that is open from the target's first run on has no run before.
    """

    opened: int
    closed: int | None = None


class Timeline(Struct, frozen=True, kw_only=True):
    """One target over all runs of a history. Numbers of runs count from 0, the oldest; -1 is no run.

    `states` has an entry per run: None where the run does not have the target. `since` is the run since which it is as
    it is now, a `flaky` counted as `passed`; runs without it, or in which its session was killed before it, neither
    begin nor end anything. `ran` counts the runs with a verdict; in `flaky` of them chance decided: it passed at a
    further attempt, or its rule says intermittent. `open_on` are the circumstances in which it failed and was not as
    expected since. `last_run` is the last with a verdict, `idle` how many runs there were after it, all without one.
    """

    id: str
    states: tuple[State | None, ...]
    milliseconds: tuple[int, ...]
    since: int = -1
    regressions: tuple[Regression, ...] = ()
    ran: int = 0
    flaky: int = 0
    last_run: int = -1
    open_on: tuple[str, ...] = ()

    @property
    def idle(self) -> int:
        """How many runs have gone by without a verdict since the last one, or since the first run."""
        return len(self.states) - 1 - self.last_run

    @property
    def now(self) -> State | None:
        """The state in the last run; None where that does not have the target."""
        return self.states[-1] if self.states else None

    def was_mended(self, before: int, after: int) -> bool:
        """Whether it is as expected in the run `after`, and a regression that was open in `before` is closed."""
        now = self.states[after]
        closed = (one.closed for one in self.regressions if one.opened <= before and one.closed is not None)
        return now is not None and now.is_good and any(before < run <= after for run in closed)

    @property
    def is_open(self) -> bool:
        """Whether a regression is open."""
        return bool(self.regressions) and self.regressions[-1].closed is None


def timelines(history: History) -> Iterator[Timeline]:
    """Yield that of each target, sorted by id."""
    cells, milliseconds = zip(*history.cells, strict=True), zip(*history.milliseconds, strict=True)
    for name, row, taken in zip(history.ids, cells, milliseconds, strict=True):
        yield _timeline(name, row, taken, history.states)


def _timeline(
    target: str, cells: Sequence[int], milliseconds: tuple[int, ...], states: Sequence[State | None]
) -> Timeline:
    found = tuple([states[cell] for cell in cells])
    since = last_run = -1
    ran = flaky = 0
    regressions: list[Regression] = []
    known: State | None = None
    previous = 0
    failing: list[State] = []
    for run, (cell, state) in enumerate(zip(cells, found, strict=True)):
        if state is None or state.outcome is Outcome.NOT_RUN:
            continue
        if state.has_verdict:
            last_run, ran = run, ran + 1
            flaky += state.outcome in _CHANCE
        if cell == previous:
            continue
        previous, settled = cell, state.settled
        if settled.is_bad:
            if not failing:
                regressions.append(Regression(opened=run))
            said = [replace(settled, places=(place,), passed=()) for place in settled.places] or [settled]
            failing = [one for one in failing if one not in said and not settled.mends_besides(one)] + said
        elif settled.is_good and failing:
            failing = [one for one in failing if settled.silence_on(one)]
            if not failing:
                regressions[-1] = Regression(opened=regressions[-1].opened, closed=run)
        if settled.anywhere != known:
            since, known = run, settled.anywhere
    return Timeline(
        id=target,
        states=found,
        milliseconds=milliseconds,
        since=since,
        regressions=tuple(regressions),
        ran=ran,
        flaky=flaky,
        last_run=last_run,
        open_on=tuple(sorted({place for one in failing for place in one.places})),
    )


def changes_between(
    history: History, before: int, after: int = -1, lines: Iterable[Timeline] | None = None
) -> dict[str, Change]:
    """Return how each target's state in the run `after` differs from that in `before`, where it does; sorted by id.

    Mended is what had an open regression in `before` that was closed until `after`. A run in which a session was killed
    says nothing of the targets that it lacks. `flaky` counts as `passed`. Numbers count from 0, the oldest run;
    negative ones from the end. `lines` are all timelines, where they are known.
    """
    before, after = (run % len(history.runs) for run in (before, after))
    silent = {Change.GONE: history.runs[after], Change.NEW: history.runs[before]}
    unsaid = {change for change, run in silent.items() if not run.complete}
    table = [
        state.settled if state is not None and state.outcome is not Outcome.NOT_RUN else None
        for state in history.states
    ]
    cells = zip(history.ids, history.cells[before], history.cells[after], strict=True)
    states = ((name, table[old], table[new]) for name, old, new in cells if old != new)
    found = {one.target: one.change for one in differences(states) if one.change not in unsaid}
    closed = {line.id for line in (timelines(history) if lines is None else lines) if line.was_mended(before, after)}
    for target in [one for one, change in found.items() if change is Change.MENDED]:
        found[target] = Change.OTHER
    return dict(sorted((found | dict.fromkeys(closed, Change.MENDED)).items()))
