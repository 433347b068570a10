"""`ci.toml`: what may be written in it, as pydantic models (the docstring below a key is its description for editors),
and how it is read, with every error of the file, each with file, line and key path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from retarget.model import Origin, name_error
from retarget.profiles import Profile
from retarget.session import ExpressionError, Glob, Platform, Selector, model_schema, schema_problems
from retarget.support import (
    DiagnosticsError,
    KeyPath,
    Problem,
    RetargetError,
    below_error,
    did_you_mean,
    format_key_path,
    read_toml,
)

from retarget_ci import CI_FILE

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(r"\s*(?:\d+(?:\.\d+)?\s*(?:s|min|h)\s*)+")
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|h)")


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as `1 h 30 min`; 0 for what is none."""
    parts = _PART.findall(text) if _DURATION.fullmatch(text) else []
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RunnerTable(_Table):
    """A sort of machine that legs run on."""

    name: str = Field(examples=["linux-nvidia"])
    """Unique. A letter or digit, then letters, digits and any of `.` `_` `+` `-`. Legs are named after it."""

    labels: list[str] = Field(min_length=1, examples=[["self-hosted", "gpu-nvidia"]])
    """What the CI system finds such a machine by: `runs-on` of GitHub, `tags` of GitLab. Each must be among the
    `labels` at the top of the file."""

    os: str = Field(default="linux", examples=["macos"])
    """Its operating system, as in `host_os` of a runtime config."""

    arch: str = Field(default="x86_64", examples=["arm64"])
    """Its architecture, as in `host_arch` of a runtime config."""

    builds: bool = False
    """Whether it compiles for the other runners. Artifacts are compiled once, by the first runner that can."""

    drivers: list[str] = Field(default=[], examples=[["local-sync", "local-task"], ["cuda", "cuda"]])
    """The drivers that it has a device of. One that it has several devices of is written several times."""

    devices: list[str] = Field(default=[], examples=[["vulkan-lavapipe"], ["profiles/a100.toml"]])
    """Its devices, each as a profile (a profile file, which ends in `.toml`, relative to this file; or the name of a
    shipped one), or as the URI that runtime configs name it by. It has their drivers too, and what targets require is
    held against the profiles."""

    tools: list[str] = Field(default=[], examples=[["qemu-aarch64"]])
    """The commands of `run_under` that it has."""

    hosts: list[Glob] = Field(default=[], examples=[["pi5"]])
    """Names of [hosts](machines.md#remote-hosts) that it reaches, globs allowed: it takes what runs on them."""

    toolchains: list[Glob] = Field(default=[], examples=[["iree-3.12.0"], ["*"]])
    """The toolchains that it has, by name; globs allowed. `setup` installs them."""

    capacity: int = Field(default=1, ge=1, examples=[4])
    """At most this many legs of a sort (compile, run, compile and run) of one event."""

    compiles: int = Field(default=1, ge=1, examples=[4])
    """How many compiles run at a time on it, for predicted durations: its cores."""

    setup: list[str] = Field(default=[], examples=[["make toolchains"]])
    """Shell commands that a leg begins with, after those at the top of the file."""

    env: dict[str, str] = Field(default={}, examples=[{"VK_LOADER_LAYERS_ENABLE": "*validation"}])
    """Environment variables of its legs."""

    pytest: list[str] = Field(default=[], examples=[["--retarget-compile-timeout=600"]])
    """Further arguments of pytest in its legs."""


class EventTable(_Table):
    """What starts a run of the CI, and which targets that run has."""

    name: str = Field(examples=["pr", "nightly"])
    """Unique. A letter or digit, then letters, digits and any of `.` `_` `+` `-`."""

    on: list[Literal["pull_request", "merge_queue", "push", "manual"]] = Field(
        default=[], examples=[["pull_request", "manual"]]
    )
    """What starts it. An event needs this or a `schedule`."""

    branches: list[str] = Field(default=[], examples=[["main", "release/*"]])
    """The branches that `push` and `pull_request` mean; globs allowed. Without it, all of them."""

    schedule: list[str] = Field(default=[], examples=[["0 3 * * *"]])
    """When it starts by itself: minute, hour, day of month, month, day of week, as cron has them, in UTC."""

    select: str = Field(default="", examples=["not slow", "cuda or vulkan"])
    """Which targets it has, in the language of `-m`. Without it, all. What a selected run target needs compiled is
    compiled, selected or not."""

    budget: str = Field(examples=["20 min", "1 h 30 min"])
    """How long one leg may take, as predicted: legs are cut to it. Hours (`h`), minutes (`min`) and seconds (`s`)."""

    timeout: str | None = Field(default=None, examples=["60 min"])
    """When a leg is stopped. Without it, when the CI system stops it."""

    pytest: list[str] = Field(default=[], examples=[["-vv"]])
    """Further arguments of pytest in all its legs, after those of the runner."""

    verify: list[str] = Field(default=[], examples=[['retarget bringup vulkan --check --results "$RETARGET_RESULTS"']])
    """Further shell commands of the job that verifies. `RETARGET_RESULTS` is the folder with the results of all
    legs; a command that fails fails the job."""

    @property
    def budget_seconds(self) -> float:
        """The budget in seconds."""
        return seconds_of(self.budget)


class WaiverTable(_Table):
    """Targets that may stay without a runner for some time. A target that a runner can take is run all the same."""

    select: str = Field(examples=["cuda"])
    """Which targets, in the language of `-m`."""

    reason: str = Field(examples=["no machine with CUDA yet"])
    """Why no runner takes them."""

    issue: str = Field(default="", examples=["https://example.org/issues/7"])
    """Where that is followed, such as a link."""

    until: date = Field(examples=[date(2031, 1, 31)])
    """The last day on which it waives anything."""


class CiFileTable(_Table):
    """What the CI of a repository runs where. The file is in the folder that pytest is started in, its root folder."""

    paths: list[str] = Field(default=["."], min_length=1, examples=[["suites"]])
    """What pytest is given: folders and files, relative to this file."""

    labels: list[str] = Field(examples=[["ubuntu-24.04", "gpu-nvidia"]])
    """All labels that machines of this project have. A runner with another one is an error, and so is one without a
    runner."""

    setup: list[str] = Field(default=[], examples=[["python3 -m pip install -e .[all]"]])
    """Shell commands that every leg begins with."""

    env: dict[str, str] = Field(default={}, examples=[{"PIP_CACHE_DIR": ".cache/pip"}])
    """Environment variables of all legs. Those of a runner win."""

    emit: list[Literal["github", "gitlab"]] = Field(default=[], examples=[["github"]])
    """The CI systems that `retarget ci emit` writes a workflow for, and whose files `retarget ci verify` checks."""

    history: str = Field(default="", examples=["retarget-ci/history", "s3://bucket/history"])
    """Where the durations are kept that legs are cut by: a folder, which the CI system caches from run to run, or a URL
    that fsspec knows. Each event has a folder in it, to which its runs are added but for those of pull requests."""

    runners: list[RunnerTable] = Field(alias="runner", min_length=1)
    """The machines. A target goes to the first of them that can take it."""

    events: list[EventTable] = Field(alias="event", min_length=1)
    """What starts a run, and what it runs."""

    waivers: list[WaiverTable] = Field(alias="waiver", default=[])
    """Targets that may stay without a runner."""


class CiConfig(CiFileTable):
    """A `ci.toml`, and where it is. The devices of runners that are files have absolute paths."""

    file: Path

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self.file.parent

    def origin(self, of: _Table | None = None) -> Origin:
        """Return the location of one of its tables, or of the file as a whole; keys are steps below it."""
        tables: dict[str, Sequence[_Table]] = {"runner": self.runners, "event": self.events, "waiver": self.waivers}
        paths = (f"{key}[{at}]" for key, found in tables.items() for at, one in enumerate(found) if one is of)
        return Origin(file=self.file, key_path=next(paths, ""))

    def history_of(self, event: EventTable) -> str:
        """Return where an event has its history: a folder relative to that of the file, or a URL; empty for nowhere."""
        return f"{self.history.rstrip('/')}/{event.name}" if self.history else ""

    def event(self, name: str) -> EventTable:
        """Return an event by its name. Raises `RetargetError` if there is none."""
        return _named(name, self.events, "event")

    def runner(self, name: str) -> RunnerTable:
        """Return a runner by its name. Raises `RetargetError` if there is none."""
        return _named(name, self.runners, "runner")


_Named = TypeVar("_Named", RunnerTable, EventTable)


def _named(name: str, among: Sequence[_Named], what: str) -> _Named:
    known = {one.name: one for one in among}
    if name not in known:
        msg = f"found the unknown {what} {name!r}, expected one of {', '.join(known)}{did_you_mean(name, known)}"
        raise RetargetError(msg)
    return known[name]


_LONGEST = 35 * 24 * 60 * 60
"""Seconds; how long GitHub lets a run take."""

_MOST_LEGS = 10_000
"""Of a runner."""

_SHOWN = 100
_CRON = re.compile(r"[\d*,/A-Za-z-]+( +[\d*,/A-Za-z-]+){4}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_TableT = TypeVar("_TableT", bound=_Table)


def find_ci(folder: Path) -> Path:
    """Return the `ci.toml` of a folder, or of the nearest folder above it that has one, up to the checkout's.

    Raises `RetargetError` where there is none.
    """
    for one in (folder, *folder.parents):
        if (file := one / CI_FILE).is_file():
            return file
        if (one / ".git").exists():
            break
    next_step = "write one (docs/ci.md has an example)"
    msg = f"found no {CI_FILE} in {folder} or in the folders above it; {next_step}"
    raise RetargetError(msg)


def read_ci(file: Path) -> CiConfig:
    """Read a file. Raises `DiagnosticsError` with every error of it."""
    file = file.absolute()
    text, data, unreadable = read_toml(file)
    if unreadable:
        raise DiagnosticsError(unreadable)
    problems: list[Problem] = []
    table = None
    try:
        table = CiFileTable.model_validate(data)
    except ValidationError as error:
        problems += schema_problems(error, data, model=CiFileTable)
    _Reader(file, data, problems).check()
    if problems or table is None:
        raise DiagnosticsError(Problem.locate(file, text, problems))
    devices = ([Profile.located(file, device) for device in runner.devices] for runner in table.runners)
    located = [runner.model_copy(update={"devices": own}) for runner, own in zip(table.runners, devices, strict=True)]
    return CiConfig.model_construct(**dict(table) | {"file": file, "runners": located})


def ci_schema() -> str:
    """Return the JSON Schema of the file, for editors, as text."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps({"$schema": dialect, "title": CI_FILE, **model_schema(CiFileTable)}, indent=2) + "\n"


class _Reader:
    """Reads each table for itself, so that an error in one hides none of another."""

    def __init__(self, file: Path, data: Mapping[str, object], problems: list[Problem]) -> None:
        self._file = file
        self._data = data
        self._problems = problems

    def check(self) -> None:
        """Note what is wrong with the values of tables that are well-formed."""
        top = _valid(CiFileTable, {**self._data, "runner": [_ANY_RUNNER], "event": [_ANY_EVENT], "waiver": []})
        written = self._data.get("labels")
        labels = [one for one in written if isinstance(one, str)] if isinstance(written, list) else []
        for runner, path in self._tables(RunnerTable, "runner"):
            self._runner(runner, path, labels)
        for event, path in self._tables(EventTable, "event"):
            self._event(event, path)
        for waiver, path in self._tables(WaiverTable, "waiver"):
            self._waiver(waiver, path)
        if top is None:
            return
        for at, label in enumerate(top.labels):
            if not label.strip() or not label.isprintable() or "${{" in label:
                expected = "expected the label of a machine: printable text, and no expression"
                self._problem(("labels", at), f"found {label[:_SHOWN]!r}, {expected}")
        self._twice(top.labels, [("labels", at) for at in range(len(top.labels))])
        for at, text in enumerate(top.paths):
            self._path(text, ("paths", at))
        if "://" not in top.history:
            self._path(top.history, ("history",), is_there=False)
        self._environment(top.env, ())

    def _tables(self, model: type[_TableT], key: str) -> Sequence[tuple[_TableT, KeyPath]]:
        """Return the tables of a sort that are well-formed. What is wrong with the others is noted already."""
        entries = self._data.get(key)
        found: list[tuple[_TableT, KeyPath]] = []
        names: list[tuple[str, KeyPath]] = []
        for at, entry in enumerate(entries if isinstance(entries, list) else []):
            if (table := _valid(model, entry)) is not None:
                found.append((table, (key, at)))
            if isinstance(entry, dict) and isinstance(name := entry.get("name"), str):
                names.append((name, (key, at, "name")))
                if message := name_error(name):
                    self._problem((key, at, "name"), message)
        self._twice([name for name, _ in names], [path for _, path in names])
        return found

    def _runner(self, table: RunnerTable, path: KeyPath, labels: Sequence[str]) -> None:
        for at, label in enumerate(table.labels):
            if label not in labels:
                expected = f"expected one of the labels of this project ({', '.join(labels)})"
                self._problem((*path, "labels", at), f"found {label!r}, {expected}{did_you_mean(label, labels)}")
        for key, wrong in Platform(table.os, table.arch).errors:
            self._problem((*path, key), wrong)
        for at, device in enumerate(Profile.located(self._file, one) for one in table.devices):
            if "://" in device and not device.startswith("host:"):
                continue
            if device == "host" or device.startswith("host:"):
                expected = "expected the profile of a device (a file or the name of a shipped one) or its URI"
                self._problem((*path, "devices", at), f"found {device!r}, {expected}")
            elif message := Profile.reference_error(device):
                self._problem((*path, "devices", at), message)
        if table.capacity > _MOST_LEGS:
            self._problem((*path, "capacity"), f"found {table.capacity}, expected at most {_MOST_LEGS} legs")
        self._environment(table.env, path)

    def _event(self, table: EventTable, path: KeyPath) -> None:
        if not table.on and not table.schedule:
            self._problem(
                path, 'found neither on nor schedule, expected what starts the event, such as on = ["manual"]'
            )
        if table.branches and not {"push", "pull_request"} & set(table.on):
            self._problem((*path, "branches"), "found branches without push or pull_request in on, which they are for")
        for at, cron in enumerate(table.schedule):
            if not _CRON.fullmatch(cron.strip()):
                expected = "expected five fields as cron has them, such as '0 3 * * *' for 03:00 UTC every day"
                self._problem((*path, "schedule", at), f"found {cron!r}, {expected}")
        self._expression(table.select, path)
        for key, duration in (("budget", table.budget), ("timeout", table.timeout)):
            if duration is not None and not 0 < seconds_of(duration) <= _LONGEST:
                expected = "expected a duration above 0 and up to 35 days, such as '20 min' or '1 h 30 min'"
                self._problem((*path, key), f"found {duration[:_SHOWN]!r}, {expected}")

    def _waiver(self, table: WaiverTable, path: KeyPath) -> None:
        self._expression(table.select, path)
        for key, text, what in (("select", table.select, "an expression"), ("reason", table.reason, "a reason")):
            if not text.strip():
                self._problem((*path, key), f"found an empty text, expected {what}")

    # ------------------------------------------------------------ values

    def _expression(self, text: str, path: KeyPath) -> None:
        try:
            Selector(text)
        except ExpressionError as error:
            self._problem((*path, "select"), f"{text[: 2 * _SHOWN]!r}: {error.diagnostic}")

    def _path(self, text: str, path: KeyPath, *, is_there: bool = True) -> None:
        called = f"the folder of {CI_FILE}"
        if message := below_error(text, self._file.parent, called=called, is_there=is_there):
            self._problem(path, message)

    def _environment(self, variables: Mapping[str, str], path: KeyPath) -> None:
        for name, value in variables.items():
            if not _VARIABLE.fullmatch(name):
                expected = "expected the name of an environment variable: letters, digits and _"
                self._problem((*path, "env", name), f"found {name!r}, {expected}")
            if not value.isprintable():
                self._problem((*path, "env", name), f"found {value!r}, expected printable text on one line")

    def _twice(self, names: Iterable[str], paths: Sequence[KeyPath]) -> None:
        first: dict[str, KeyPath] = {}
        for name, path in zip(names, paths, strict=True):
            if first.setdefault(name, path) != path:
                at = first[name][:-1] if first[name][-1] == "name" else first[name]
                self._problem(path, f"found {name!r} a second time, expected it once; {format_key_path(at)} has it")

    def _problem(self, path: KeyPath, message: str) -> None:
        self._problems.append(Problem(path, message))


_ANY_RUNNER = {"name": "any", "labels": ["any"]}
_ANY_EVENT = {"name": "any", "budget": "1 h"}


def _valid(model: type[_TableT], entry: object) -> _TableT | None:
    """Return a table, None where it is not well-formed. Unknown keys hide nothing else that is wrong with it."""
    keys = {one.alias or name for name, one in model.model_fields.items()}
    known = {key: entry[key] for key in entry if key in keys} if isinstance(entry, dict) else entry
    try:
        return model.model_validate(known)
    except ValidationError:
        return None
