"""`ci.toml` as frozen data, read with every error of the file, each with file, line and key path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from retarget.model import name_error
from retarget.profiles import Profile
from retarget.session import ExpressionError, compile_selector, model_schema, platform_errors, schema_problems
from retarget.support import (
    DiagnosticsError,
    KeyPath,
    Problem,
    RetargetError,
    below_error,
    diagnostics_of,
    did_you_mean,
    format_key_path,
    read_toml,
)

from retarget_ci.files import CI_FILE
from retarget_ci.files.tables import CiConfig, CiFileTable, EventTable, RunnerTable, WaiverTable, seconds_of

_LONGEST = 35 * 24 * 60 * 60
"""Seconds; how long GitHub lets a run take."""

_MOST_LEGS = 10_000
"""Of a runner: the workflow has a job for each 256 of them."""

_SHOWN = 100
_CRON = re.compile(r"[\d*,/A-Za-z-]+( +[\d*,/A-Za-z-]+){4}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_Table = TypeVar("_Table", bound=BaseModel)


def find_ci(folder: Path) -> Path:
    """Return the `ci.toml` of a folder, or of the nearest folder above it that has one, up to the checkout's.

    Raises `RetargetError` where there is none.
    """
    for one in (folder, *folder.parents):
        if (file := one / CI_FILE).is_file():
            return file
        if (one / ".git").exists():
            break
    next_step = "write one (docs/ci.md has an example), or name it with --ci FILE"
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
        raise DiagnosticsError(diagnostics_of(file, text, problems))
    devices = ([Profile.located(file, device) for device in runner.devices] for runner in table.runner)
    located = [runner.model_copy(update={"devices": own}) for runner, own in zip(table.runner, devices, strict=True)]
    of_tables = {"runners": located, "events": table.event, "waivers": table.waiver}
    values = of_tables | {name: value for name, value in table if name not in {"runner", "event", "waiver"}}
    known: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in values.items()}
    return CiConfig(file=file, **known)


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
        for at, pattern in enumerate(top.paths_ignore):
            if not pattern.strip():
                self._problem(("paths_ignore", at), f"found {pattern!r}, expected a file, a folder or a pattern")
        if "://" not in top.history:
            self._path(top.history, ("history",), is_there=False)
        self._environment(top.env, ())

    def _tables(self, model: type[_Table], key: str) -> Sequence[tuple[_Table, KeyPath]]:
        """Return the tables of a sort that are well-formed. What is wrong with the others is noted already."""
        entries = self._data.get(key)
        found: list[tuple[_Table, KeyPath]] = []
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
        for key, wrong in platform_errors(table.os, table.arch):
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
        if table.only_changed and "pull_request" not in table.on:
            self._problem((*path, "only_changed"), "found only_changed without pull_request in on, which it is for")
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
            compile_selector(text)
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


def _valid(model: type[_Table], entry: object) -> _Table | None:
    """Return a table, None where it is not well-formed. Unknown keys hide nothing else that is wrong with it."""
    known = {key: entry[key] for key in entry if key in model.model_fields} if isinstance(entry, dict) else entry
    try:
        return model.model_validate(known)
    except ValidationError:
        return None
