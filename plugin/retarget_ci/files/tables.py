"""What may be written in `ci.toml`, as pydantic models. The docstring below a key is its description for editors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field
from retarget.model import Origin
from retarget.session import Glob
from retarget.support import RetargetError, did_you_mean

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

    only_changed: bool = False
    """Whether a pull request runs only the targets whose compile or cases differ from those of the branch it is for."""

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

    paths_ignore: list[str] = Field(default=["*.md", "*.rst"], examples=[["docs", "*.md"]])
    """Pathspecs of git, relative to this file: files that no target depends on. After a change of any other file that
    is no declaration, module or file of cases, `plan --since` leaves no target out."""

    setup: list[str] = Field(default=[], examples=[["python3 -m pip install -e .[all]"]])
    """Shell commands that every leg begins with."""

    env: dict[str, str] = Field(default={}, examples=[{"PIP_CACHE_DIR": ".cache/pip"}])
    """Environment variables of all legs. Those of a runner win."""

    emit: list[Literal["github", "gitlab"]] = Field(default=[], examples=[["github"]])
    """The CI systems that `retarget ci emit` writes a workflow for, and whose files `retarget ci verify` checks."""

    history: str = Field(default="", examples=["retarget-ci/history", "s3://bucket/history"])
    """Where the durations are kept that legs are cut by: a folder, which the CI system caches from run to run, or a URL
    that fsspec knows. Each event has a folder in it, to which its runs are added but for those of pull requests."""

    runner: list[RunnerTable] = Field(min_length=1)
    """The machines. A target goes to the first of them that can take it."""

    event: list[EventTable] = Field(min_length=1)
    """What starts a run, and what it runs."""

    waiver: list[WaiverTable] = Field(default=[])
    """Targets that may stay without a runner."""


class CiConfig(Struct, frozen=True, kw_only=True):
    """A `ci.toml`. `paths` are what pytest is given, relative to the folder of `file`, which is pytest's root folder.
    `paths_ignore` are pathspecs of git, relative to it, of files that no target depends on.

    `labels` are all labels that machines of this project have. `setup` are the shell commands of every leg, before the
    runner's own. `emit` are the CI systems that workflows are written for. `history` is a folder or a URL,
    empty for none.
    """

    file: Path
    paths: tuple[str, ...]
    paths_ignore: tuple[str, ...] = ()
    labels: tuple[str, ...]
    setup: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    emit: tuple[str, ...] = ()
    history: str = ""
    runners: tuple[RunnerTable, ...]
    events: tuple[EventTable, ...]
    waivers: tuple[WaiverTable, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self.file.parent

    def origin(self, of: _Table | None = None) -> Origin:
        """Return the location of one of its tables, or of the file as a whole; keys are steps below it."""
        tables = {"runner": self.runners, "event": self.events, "waiver": self.waivers}
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
