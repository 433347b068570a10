"""Results on disk: JSON Lines, one file per session, each line written as soon as it is known.

A file begins with a `SessionStart`, has a `TargetRecord` per target and attempt and an `Attribution` per failure that
the others explain, and ends with a `SessionEnd`. Without that end the session was killed: its results are incomplete.
The last line of such a file may be cut; any other line that is no record is an error. A merged file has the lines of
several sessions; a record says by `session` whose it is.
"""

from __future__ import annotations

import errno
import inspect
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, ClassVar, NamedTuple, Self, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from retarget.model.outcomes import Stage
from retarget.results.overview import SEPARATOR, State
from retarget.results.plan import digest_of_ids
from retarget.results.record import UNMEASURED, DeviceRecord, Outcome, Result, TargetRecord, When
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import files_below, irregular
from retarget.support.text import counted

VERSION = 1
"""Of the lines; incremented when a field changes its meaning."""


_ALIKE = ("file", "suite", "compiler", "runtime", "driver", "module", "tags", "devices", "siblings", "session")
"""Fields of which many records have the same value: it is kept once, which saves a third of the memory."""

_LONGEST_NAME = 80
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9.+-]+")
_SELECTS_NOTHING = re.compile(
    r"^(-[vqsxl]+|(-n|--(numprocesses|tb|durations|color|maxfail|retarget-results))(.+|\n.*))\n", re.MULTILINE
)
"""Options of pytest's command line, a word in a line, that change what is shown, or how fast: with their values."""
_NARROWS = re.compile(r"^(-[km]|--(deselect|ignore|ignore-glob))(.+|\n.*)\n", re.MULTILINE)
"""Options that leave targets out."""


class _Line(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"
):
    """Frozen; fields by name alone."""


class SessionStart(_Line, tag="session", frozen=True, kw_only=True):
    """A session of pytest, when its targets are known. `session` is its id, unique.

    `selected` targets are to run, whose ids have the digest `digest` (see `retarget.results.plan.digest_of_ids`).
    `started` is in seconds since 1970, UTC. `leg` and `plan` are those of the plan that it runs, empty without one.
    `revision` is the commit of the checkout, with `+` where it has changes, empty where it is none. `arguments` are
    pytest's, which was started in the folder `cwd` of the project, empty for the project's own. `cpu` is a digest of
    the system and the kind of CPU, the same on machines that are alike.
    """

    version: int
    session: str
    started: When
    selected: int
    digest: str
    leg: str = ""
    plan: str = ""
    revision: str = ""
    retarget: str = ""
    python: str = ""
    host: str = ""
    platform: str = ""
    cpu: str = ""
    cores: int = 0
    arguments: tuple[str, ...] = ()
    cwd: str = ""


class SessionEnd(_Line, tag="end", frozen=True, kw_only=True):
    """The end of a session: pytest's exit status, and how many target records were written.

    `other_failures` says that something else than a target failed: a file was not collected, a rule matched nothing,
    another test failed.
    """

    session: str
    ended: When
    status: int
    records: int
    other_failures: bool = False


class Attribution(_Line, tag="attribution", frozen=True, kw_only=True):
    """The attribution of a failed run target by the others of its module: one sentence, and the whole section."""

    session: str
    nodeid: str
    sentence: str
    section: str


ResultsLine = SessionStart | TargetRecord | Attribution | SessionEnd
"""One line of a file of results."""

_ENCODER = msgspec.json.Encoder()


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a line (draft 2020-12)."""
    title = f"A line of retarget's results, version {VERSION}"
    schema = msgspec.json.schema(ResultsLine)
    for table in schema["$defs"].values():
        table["description"] = inspect.cleandoc(table["description"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def new_session(**known: Any) -> SessionStart:
    """Return a session that starts now, with a new id."""
    return SessionStart(version=VERSION, session=uuid.uuid4().hex, started=time.time(), **known)


class ResultsWriter:
    """Writes the file of one session into a folder, line by line. Each line is in the file when `write` returns.

    Several sessions may write into one folder at a time: each has its own file.
    """

    def __init__(self, folder: Path, start: SessionStart) -> None:
        """Raises `RetargetError` if the file cannot be written."""
        self.start = start
        when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(start.started))
        name = _NOT_IN_NAMES.sub("-", start.leg)[:_LONGEST_NAME] or "session"
        self.path = folder / f"{name}-{when}-{start.session[:8]}{SessionResults.suffix}"
        self._records = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb", buffering=0)
        except OSError as error:
            raise self._failed(error) from error
        self.write(start)

    @classmethod
    def begin(cls, folder: Path, ids: Iterable[str], **known: Any) -> ResultsWriter:
        """Write that a session begins, of the targets with these ids. Raises `RetargetError`."""
        ids = list(ids)
        return cls(folder, new_session(selected=len(ids), digest=digest_of_ids(ids), **known))

    def write(self, line: ResultsLine) -> None:
        """Append a line. Raises `RetargetError` where that fails, such as on a full disk."""
        left = _encoded(line) + b"\n"
        try:
            while left:  # a disk that is almost full takes a part
                left = left[self._file.write(left) :]
        except OSError as error:
            raise self._failed(error) from error
        self._records += isinstance(line, TargetRecord)

    def conclude(self, nodeid: str, sentence: str, section: str) -> None:
        """Append what a failure points to. Raises as `write` does."""
        self.write(Attribution(session=self.start.session, nodeid=nodeid, sentence=sentence, section=section))

    def end(self, status: int, *, other_failures: bool = False) -> None:
        """Write the end, and close the file."""
        session, records = self.start.session, self._records
        self.write(
            SessionEnd(
                session=session, ended=time.time(), status=status, records=records, other_failures=other_failures
            )
        )
        self.close()

    def close(self) -> None:
        """Close the file, whatever it has."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _failed(self, error: OSError) -> RetargetError:
        return RetargetError(f"cannot write results to {display_path(self.path)}: {error.strerror or error}")


def _encoded(line: ResultsLine) -> bytes:
    """Return a line as JSON. Invalid Unicode, such as in the name of a file, is written as `\\udcff`."""
    try:
        return _ENCODER.encode(line)
    except UnicodeEncodeError:
        return _ENCODER.encode(_unicode(msgspec.to_builtins(line)))


def _unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _unicode(one) for key, one in value.items()}
    return [_unicode(one) for one in value] if isinstance(value, list | tuple) else value


class SessionResults(Struct, frozen=True, kw_only=True):
    """One session as it was found on disk: `records` in the order written, and the files that have lines of it.

    It is incomplete without an `end`: the session was killed, or still runs.
    """

    suffix: ClassVar = ".jsonl"
    """Of the files."""

    start: SessionStart
    records: tuple[TargetRecord, ...]
    attributions: tuple[Attribution, ...] = ()
    end: SessionEnd | None = None
    files: tuple[Path, ...] = ()

    @property
    def by_target(self) -> dict[str, list[TargetRecord]]:
        """The records of each target by its id, its result last: the last attempt; an error of it, if it has one."""
        found: dict[str, list[TargetRecord]] = {}
        for record in self.records:
            found.setdefault(record.nodeid, []).append(record)
        for own in found.values():
            own.sort(key=lambda one: (one.attempt, one.outcome is Outcome.ERROR))
        return found

    @property
    def latest(self) -> dict[str, TargetRecord]:
        """The result of each target, by its id."""
        return {target: own[-1] for target, own in self.by_target.items()}

    @property
    def is_complete(self) -> bool:
        """Whether the session came to its end, and all that it wrote is here."""
        return self.end is not None and self.end.records == len(self.records)

    @property
    def is_benchmark(self) -> bool:
        """Whether something was measured."""
        return any(
            record.goldens
            or (record.compile is not None and record.compile.dispatches is not None)
            or any(case.times is not None for case in record.cases)
            for record in self.records
        )

    @property
    def lacking(self) -> int:
        """How many of the targets that were to run have no result."""
        return max(self.start.selected - len(self.latest), 0)

    @property
    def failed_otherwise(self) -> bool:
        """Whether pytest failed for more than targets: a file was not collected, a rule matched nothing, another test
        failed."""
        return self.end is not None and self.end.status != 0 and (self.end.other_failures or not self._has_failed)

    @property
    def _has_failed(self) -> bool:
        return any(record.outcome.is_bad for record in self.latest.values())

    @property
    def fault_cause(self) -> str:
        """Why it `failed_otherwise`, in words."""
        return "not for its targets alone" if self._has_failed else "although no target failed"

    @property
    def fault(self) -> str:
        """What it says beside its targets: that it is not whole, or failed although they did not. Empty for neither."""
        rest = f"; {self.lacking} of {counted(self.start.selected, 'target')} have no result" if self.lacking else ""
        if self.end is None:
            return f"it was killed, or still runs{rest}"
        if not self.is_complete:
            return f"lines of it are lost{rest}"
        if self.failed_otherwise or rest:
            although = rest or f", {self.fault_cause}"
            return f"it ended with pytest's exit status {self.end.status}{although}"
        return ""


def result_files(paths: Iterable[Path], *, if_any: bool = False) -> list[Path]:
    """Return the files of results among `paths`, sorted: the files named, and all below the folders named.

    Raises `RetargetError` for a path that is not there, and for a folder without results, but not with `if_any`.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            below = sorted(path / name for name in files_below(path) if name.endswith(SessionResults.suffix))
            if not below and not if_any:
                command = f"pytest --retarget-results {display_path(path)}"
                what = f"found no results (*{SessionResults.suffix}) in this folder"
                msg = f"{display_path(path)}: {what}; write some with `{command}`"
                raise RetargetError(msg)
            found.update(dict.fromkeys(below))
        elif path.exists():
            found[path] = None
        elif not if_any:
            msg = f"{display_path(path)}: found no such file or folder, expected results of `pytest --retarget-results`"
            raise RetargetError(msg)
    return list(found)


_Border = TypeVar("_Border", SessionStart, SessionEnd)


def _once(known: dict[str, _Border], line: _Border, what: str, files: Mapping[str, Mapping[Path, None]]) -> None:
    if known.setdefault(line.session, line) != line:
        where = " and ".join(map(display_path, files[line.session]))
        found = f"found two of the {what} of the session {line.session!r}, which differ"
        msg = f"{where}: {found}; expected one: leave the copy out that was changed"
        raise RetargetError(msg)


class _Version(msgspec.Struct):
    type: str = ""
    version: int = VERSION


def _lines(file: Path) -> Iterator[ResultsLine]:
    """Yield the lines of a file. A last one without its end is left out."""
    decoder = msgspec.json.Decoder(ResultsLine)
    number = 0
    try:
        with _opened(file) as stream:
            for number, line in enumerate((line for line in stream if line.endswith(b"\n")), 1):
                yield _decoded(decoder, file, number, line)
    except OSError as error:
        msg = f"cannot read {display_path(file)}: {error.strerror or error}"
        raise RetargetError(msg) from error
    if not number:
        why = "found no whole line, expected results; its session was killed at once: remove it"
        msg = f"{display_path(file)}: {why}"
        raise RetargetError(msg)


def _opened(file: Path) -> BinaryIO:
    if what := irregular(file):  # a named pipe without a writer would be waited for without end
        raise OSError(errno.EINVAL, f"found {what}")
    return file.open("rb")


def _decoded(decoder: msgspec.json.Decoder[ResultsLine], file: Path, number: int, line: bytes) -> ResultsLine:
    damaged = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
    version = VERSION
    try:
        found = decoder.decode(line)
        if not isinstance(found, SessionStart) or found.version == VERSION:
            return found
        version = found.version
    except damaged as error:
        with suppress(*damaged):
            version = msgspec.json.decode(line, type=_Version).version
        if version == VERSION:
            msg = f"{display_path(file)}:{number}: found a damaged line, expected a record of results: {error}"
            raise RetargetError(msg) from error
    next_step = "read them with the retarget that wrote them"
    msg = f"{display_path(file)}:{number}: found results of version {version}, expected {VERSION}; {next_step}"
    raise RetargetError(msg)


class _Attempts(NamedTuple):
    """What a session has of a target: its records, the result last, and what that says of others, as a state."""

    records: Sequence[TargetRecord]
    state: State


def _states(session: SessionResults) -> Callable[[TargetRecord], State]:
    """Return what makes the state of a record of a session: its outcome, its circumstances, its golden rules.

    Of a failure the circumstances are what it may come from: its devices, for a compile the kind of host, and the
    toolchains. Without a device it is that of the others with its runtime config, if they had one, or else the host. Of
    any other result they are all that is known; without a device a run target is so everywhere, as by a rule, but for
    one that by chance was not compiled: it ran nowhere.
    """
    start, is_benchmark = session.start, session.is_benchmark
    known: dict[str, set[tuple[str, ...]]] = {}
    for record in session.records:
        if record.runtime and record.devices:
            known.setdefault(record.runtime, set()).add(_words(record.devices))

    def state(record: TargetRecord) -> State:
        is_bad = record.outcome.is_bad
        goldens = record.open_goldens if record.breaks_golden or not is_bad else ()
        goldens = goldens if is_bad or is_benchmark else (UNMEASURED,)
        is_chance = record.outcome is Outcome.INTERMITTENT and record.result is Result.UNKNOWN
        compiled_for = record.compile.devices if record.compile is not None else ()
        devices = _words(record.devices or compiled_for) if not is_chance else ()
        if not (devices or is_bad or is_chance or (record.outcome.is_good and not record.runtime)):
            return replace(State.of(record), goldens=goldens, left=record.open_cases)
        if is_bad and not devices and len(found := known.get(record.runtime, set())) == 1:
            (devices,) = found
        is_of_host = not (record.runtime and devices) or record.stage == Stage.COMPILE
        hosts = (start.cpu or start.host,) if is_bad and is_of_host else () if is_bad else (start.cpu, start.host)
        words = (*devices, *(f"the host {host}" for host in hosts if host))
        place = SEPARATOR.join((*words, *record.builds))
        return replace(State.of(record), places=(place,), goldens=goldens, left=record.open_cases)

    return state


def _words(devices: Sequence[DeviceRecord]) -> tuple[str, ...]:
    """Return the models of a target's devices as one word, and the kinds of CPU."""
    models = " + ".join(f"{one.driver} {one.name}" for one in devices)
    return (*filter(None, [models]), *sorted({f"the CPU {one.host}" for one in devices if one.host}))


class Sessions(tuple[SessionResults, ...]):
    """Sessions that are read together, by their start: what they say of each target, by its id."""

    @classmethod
    def read(cls, paths: Iterable[Path], *, if_any: bool = False) -> Sessions:
        """Read all results in files and folders: the sessions, by their start. Duplicates in several files count once.

        With `if_any` there may be none, such as of a plan of which no leg came to write some.

        Raises `RetargetError` for what `result_files` refuses, for a line that is no record (but a cut last one), for
        results of another version, for records of a session whose start is nowhere, and for a session with two starts
        or ends that differ.
        """
        starts: dict[str, SessionStart] = {}
        ends: dict[str, SessionEnd] = {}
        records: dict[str, dict[TargetRecord, None]] = {}
        attributions: dict[str, dict[Attribution, None]] = {}
        files: dict[str, dict[Path, None]] = {}
        alike: dict[object, object] = {}
        for file in result_files(paths, if_any=if_any):
            for line in _lines(file):
                files.setdefault(line.session, {})[file] = None
                if isinstance(line, TargetRecord):
                    for name in _ALIKE:
                        value = getattr(line, name)
                        force_setattr(line, name, alike.setdefault(value, value))
                    records.setdefault(line.session, {})[line] = None
                elif isinstance(line, Attribution):
                    attributions.setdefault(line.session, {})[line] = None
                elif isinstance(line, SessionEnd):
                    _once(ends, line, "end", files)
                else:
                    _once(starts, line, "first line", files)
        for session in records:
            if session not in starts:
                where = display_path(next(iter(files[session])))
                msg = f"{where}: found records of the session {session!r} without its first line; the file is damaged"
                raise RetargetError(msg)
        return cls(
            SessionResults(
                start=start,
                records=tuple(records.get(session, ())),
                attributions=tuple(attributions.get(session, ())),
                end=ends.get(session),
                files=tuple(files[session]),
            )
            for session, start in sorted(starts.items(), key=lambda one: (one[1].started, one[0]))
        )

    @cached_property
    def _standing(self) -> dict[str, list[_Attempts]]:
        """By target the failures that stand and the other results of other circumstances, the result last."""
        found: dict[str, list[_Attempts]] = {}
        for session in self:
            state_of = _states(session)
            for one, said in session.by_target.items():
                standing, last = found.get(one, []), said[-1]
                has_failed = any(own.state.is_bad for own in standing)
                if standing and (last.outcome.is_incomplete or (has_failed and _is_left_out(last))):
                    continue
                state = state_of(last)
                found[one] = [*(own for own in standing if state.silence_on(own.state)), _Attempts(said, state)]
        for standing in found.values():
            standing.sort(key=lambda own: own.state.is_bad)
        return found

    @property
    def attempts(self) -> dict[str, Sequence[TargetRecord]]:
        """The records of each target, its result last: those of the last session that came to it, and to all of its
        cases. A failure stands until a result in the same circumstances (`State.silence_on`), nor is it mended by a
        session that skips the target, unless a rule or a requirement has it skipped, or in which another one blocks
        it."""
        return {one: standing[-1].records for one, standing in self._standing.items()}

    @property
    def results(self) -> dict[str, TargetRecord]:
        """The result of each target: that of the last session that came to it."""
        return {target: records[-1] for target, records in self.attempts.items()}

    def states(self, state_of: Callable[[TargetRecord], State] = State.of) -> dict[str, tuple[TargetRecord, State]]:
        """Return the result of each target with its state in all circumstances in which it is like that."""
        found: dict[str, tuple[TargetRecord, State]] = {}
        for one, standing in self._standing.items():
            record, now = standing[-1].records[-1], standing[-1].state
            sort = now.is_good, now.is_bad, now.goldens
            like = [own.state for own in standing if (own.state.is_good, own.state.is_bad, own.state.goldens) == sort]
            places = tuple(sorted({place for state in like for place in state.places})) if now.places else ()
            left = tuple(sorted({name for state in like for name in state.left}))
            bad, good = ([own.state for own in standing if own.state.is_bad is is_bad] for is_bad in (True, False))
            whole = {place for state in good if bad and state.is_good and not state.left for place in state.places}
            besides = {
                place for place in whole if all(State(Outcome.PASSED, places=(place,)).silence_on(one) for one in bad)
            }
            passed = tuple(sorted(besides))
            known = {"places": places, "goldens": now.goldens, "left": left, "passed": passed}
            found[one] = record, replace(state_of(record), **known)
        return found

    @property
    def on_devices(self) -> dict[str, dict[tuple[str, ...], TargetRecord]]:
        """The result of each target on each of its devices, and with each toolchain there."""
        last = {one: [own.records[-1] for own in standing] for one, standing in self._standing.items()}
        return {one: {(*_words(own.devices), *own.builds): own for own in found} for one, found in last.items()}

    @property
    def faulty(self) -> list[SessionResults]:
        """The sessions with a fault; but not those that came to their end and of which later ones have all results,
        one of them, which ran as much, without a fault."""
        current = {record.session for record in self.results.values()}
        return [
            one
            for number, one in enumerate(self, start=1)
            if one.fault
            and (
                not one.is_complete
                or one.start.session in current
                or not any(not later.fault and _asks_no_more(later.start, one.start) for later in self[number:])
            )
        ]


def _is_left_out(record: TargetRecord) -> bool:
    """Whether a target is blocked, or was skipped by the machine or the options of a session, not by a declaration."""
    is_skipped = record.outcome is Outcome.SKIPPED and not (record.excused or record.unsuitable)
    return is_skipped or record.outcome is Outcome.BLOCKED


def _asks_no_more(session: SessionStart, other: SessionStart) -> bool:
    """Return whether a session selects at least what another did: by the same words of a command line but for those
    that leave targets out, or all of the project where the other had nothing but paths. An option may be needed for
    what it finds."""
    lines = ("".join(f"{word}\n" for word in one.arguments) for one in (session, other))
    asked, before = (_SELECTS_NOTHING.sub("", one) for one in lines)
    wide = _NARROWS.sub("", before)
    if not asked and not session.cwd:
        return not any(word.startswith("-") for word in wide.splitlines())
    return session.cwd == other.cwd and asked in {before, wide}
