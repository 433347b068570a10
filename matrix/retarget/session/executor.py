"""Where a session's compiles and runs are done, if not on this machine: what `--retarget-cluster ADDRESS` names.

An executor is made by an entry point of the group `retarget.executors`, named by the scheme of the address (`tcp`,
`tls`): a function that is called as `connect_to(address, session)`, imports what it needs when it is called, and
raises `RetargetError` where a package is missing. The session keeps keys, store, single flight, expectations and
reports. It hands out compiles that its store does not have, and runs of artifacts that its store has. No file is sent
by name alone: each comes with its SHA-256 digest, for the executor to see whether the other side has it.
"""

from __future__ import annotations

import importlib.metadata
import re
from concurrent.futures import Future
from typing import Protocol

from msgspec import Struct

from retarget.model import CompilerConfig, RuntimeConfig
from retarget.model.outcomes import DeviceInfo, RunOutcome
from retarget.session.cache.key import Inputs
from retarget.support.errors import RetargetError, did_you_mean
from retarget.worker.messages import CompiledModule, CompileModule, Refused, RunModule

_GROUP = "retarget.executors"
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*):(\S+)", re.IGNORECASE)


class CompileJob(Struct, frozen=True, kw_only=True):
    """One compile, for any worker that has the same compiler: whose `Compiler.fingerprint(config)` is `fingerprint`.

    `env` are the variables of a compile worker on this machine, where those of a toolchain are paths of it. `inputs`
    are the files and folders that flags and variables of `message` name, as they name them, and their digests, for what
    the compile reads besides the `source` and `front_end` of the message. `timeout` is in seconds. `title` is for
    people.
    """

    title: str
    config: CompilerConfig
    fingerprint: str
    env: tuple[tuple[str, str], ...]
    message: CompileModule
    inputs: Inputs
    timeout: float


class RunJob(Struct, frozen=True, kw_only=True):
    """One run, for a worker that has the devices of `message.target.runtime`. `timeout` is in seconds.

    The message names files of this machine: the artifact, whose digest it has; the `files` of the target's module and
    cases and those that flags of the runtime config name, (path, digest) pairs; the folders of its references. Its
    `record` is a folder of this machine, too, which is filled before the run is done. Where `host` is not empty, the
    artifact is for the cores of a machine whose `host_identity()` that is, and only such a machine may run it on its
    cores. An `urgent` run goes before others: somebody waits for it. `code` is what `Registry.code_judging` returns: a
    worker that has another text of a name gives another verdict, and may not run it.
    """

    message: RunModule
    files: Inputs
    host: str = ""
    timeout: float
    urgent: bool = False
    code: tuple[tuple[str, str], ...] = ()


class Executor(Protocol):
    """Compiles and runs elsewhere. Safe from several threads. Its waits end by `close` at the latest."""

    @property
    def compiles(self) -> int:
        """How many compiles go on at a time, over all workers, 1 or more. May change as workers come and go."""

    @property
    def platforms(self) -> frozenset[tuple[str, str]]:
        """System and architecture of the workers' machines, as a `Platform`."""

    @property
    def working(self) -> tuple[tuple[str, float], ...]:
        """The jobs in progress, the longest first: `NAME on WORKER`, of a compile its title, and for how many
        seconds."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Messages for the user at the end, a line each, such as on lost workers."""

    def compile(self, job: CompileJob) -> CompiledModule | Refused | None:
        """Wait for one compile. None where no worker can do it, such as one with this compiler: the session then does
        it itself, and the notes say why. The answer's `host` names the worker that gave it.

        A worker that is lost is no verdict: another one is tried; a module that kills two of them is refused as
        crashed. Raises `RetargetError` where the cluster is gone.
        """

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Return the devices of a runtime config as a worker opened them; runs of it go to workers with the like.

        Raises what `RunService.devices` raises; `UnavailableError` where no worker has them.
        """

    def run(self, job: RunJob) -> Future[RunOutcome]:
        """Dispatch one run, at once. Every call is one attempt, and is executed at most once.

        The future gives what `RunService.run` returns, with the `host` of the outcome, or raises what that raises;
        `RetargetError` where the cluster is gone. A future that is cancelled before it runs is not run.
        """

    def close(self) -> None:
        """Give up what is queued and what runs, and end. Whoever waits gets a `RetargetError`."""


class ExecutorSession(Struct, frozen=True, kw_only=True):
    """The session, as its executor sees it.

    `extensions` are module names to load in workers in addition to the installed entry points. `jobs` is the most
    compiles at a time that the user asked for, None for as many as there are cores.
    """

    extensions: tuple[str, ...]
    jobs: int | None

    @staticmethod
    def expect_address(text: str) -> str:
        """Return an address if it looks like one. Nothing is imported or asked. Raises `RetargetError`."""
        _entry_point(text)
        return text

    def connect(self, address: str) -> Executor:
        """Return the executor at an address. Raises `RetargetError`, also where a package is missing."""
        executor: Executor = _entry_point(address).load()(address, self)
        return executor


def _entry_point(address: str) -> importlib.metadata.EntryPoint:
    points = {point.name: point for point in importlib.metadata.entry_points(group=_GROUP)}
    forms = "expected tcp://HOST:PORT or tls://HOST:PORT of a scheduler, which `retarget cluster start` starts"
    match = _ADDRESS.fullmatch(address)
    if match is None:
        msg = f"found {address!r}, {forms}"
        raise RetargetError(msg)
    scheme = match[1].lower()
    if scheme not in points:
        known = f"schemes that are installed: {', '.join(sorted(points)) or 'none'}"
        msg = f"found {address!r}, {forms} ({known}{did_you_mean(scheme, points)})"
        raise RetargetError(msg)
    return points[scheme]
