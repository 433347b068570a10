"""The declarations of `ci.toml`, as frozen data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from retarget.model import Origin
from retarget.support import RetargetError, did_you_mean

CI_FILE = "ci.toml"
LOCK_FILE = "ci.lock"


class Runner(Struct, frozen=True, kw_only=True):
    """A kind of machine. `labels` are what the CI system finds one by.

    `builds` means that it compiles for the others. `drivers` are what it has devices of, each as often as it has
    devices; `devices` are what is known of them: absolute paths of profile files, names of shipped profiles, and URIs.
    `tools` are the commands of `run_under` that it has, `toolchains` names of toolchains and globs over them, `hosts`
    those of hosts that it reaches. An event gives it at most `capacity` legs of a sort; `compiles` run at a time on it.
    `setup` are shell commands, `pytest` further arguments.
    """

    name: str
    labels: tuple[str, ...]
    os: str = "linux"
    arch: str = "x86_64"
    builds: bool = False
    drivers: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ()
    capacity: int = 1
    compiles: int = 1
    setup: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    pytest: tuple[str, ...] = ()
    origin: Origin


class Event(Struct, frozen=True, kw_only=True):
    """An event that starts a run of the CI, and its selection.

    `on` are some of `pull_request`, `merge_queue`, `push` and `manual`; `branches` are globs over those that `push` and
    `pull_request` mean (none: all). `schedule` are times as cron has them (UTC). `select` is an expression in the
    language of `-m`. `budget` is for one leg, in seconds, as predicted; `timeout` (seconds) is when a leg is stopped,
    None for never. With `only_changed`, a pull request runs only what it changes (`--since`). `verify` are further
    shell commands of the job that verifies, with the folder of all results in `RETARGET_RESULTS`.
    """

    name: str
    on: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    schedule: tuple[str, ...] = ()
    select: str = ""
    budget: float
    timeout: float | None = None
    only_changed: bool = False
    pytest: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    origin: Origin


class Waiver(Struct, frozen=True, kw_only=True):
    """Targets that need no runner, those that `select` selects and that no runner can take, up to and with `until`."""

    select: str
    reason: str
    issue: str = ""
    until: date
    origin: Origin


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
    env: tuple[tuple[str, str], ...] = ()
    emit: tuple[str, ...] = ()
    history: str = ""
    runners: tuple[Runner, ...]
    events: tuple[Event, ...]
    waivers: tuple[Waiver, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self.file.parent

    def origin(self) -> Origin:
        """Return the location of the file as a whole; keys at its top are steps below it."""
        return Origin(file=self.file, key_path="")

    def history_of(self, event: Event) -> str:
        """Return where an event has its history: a folder relative to that of the file, or a URL; empty for nowhere."""
        return f"{self.history.rstrip('/')}/{event.name}" if self.history else ""

    def event(self, name: str) -> Event:
        """Return an event by its name. Raises `RetargetError` if there is none."""
        return _named(name, self.events, "event")

    def runner(self, name: str) -> Runner:
        """Return a runner by its name. Raises `RetargetError` if there is none."""
        return _named(name, self.runners, "runner")


_Named = TypeVar("_Named", Runner, Event)


def _named(name: str, among: Sequence[_Named], what: str) -> _Named:
    known = {one.name: one for one in among}
    if name not in known:
        msg = f"found the unknown {what} {name!r}, expected one of {', '.join(known)}{did_you_mean(name, known)}"
        raise RetargetError(msg)
    return known[name]
