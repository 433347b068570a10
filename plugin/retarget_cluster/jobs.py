"""The requests of a session to a worker, and the answers: pickled here, so that a scheduler need not know of it."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from retarget.model import CompilerConfig, DeviceInfo, RunOutcome, RuntimeConfig
from retarget.session import CompileJob, RunJob
from retarget.worker import CompiledModule, Refused


class AskBuild(Struct, frozen=True, kw_only=True):
    """Whether a worker has these builds of a config's compiler, one for each step of the job. `value` is empty if it
    has, else why not."""

    config: CompilerConfig
    fingerprint: str
    build_ids: tuple[str, ...]


class AskCode(Struct, frozen=True, kw_only=True):
    """Whether a worker runs and judges with these texts, (name, digest) pairs. `value` is empty if it does, else why
    not."""

    code: tuple[tuple[str, str], ...]


class AskDevices(Struct, frozen=True, kw_only=True):
    """Open the devices of a runtime config. `value` is the devices."""

    runtime: RuntimeConfig


class Job(Struct, frozen=True, kw_only=True):
    """`work` for a worker with these extensions. `files` are all that it reads, as (path, digest) on the session's
    machine; `folder` is the current folder there. `source` is the path of a compile's source, where that is one of
    them and not in the message. `view` is the session's `file_view`."""

    work: AskBuild | AskCode | AskDevices | CompileJob | RunJob
    extensions: tuple[str, ...]
    folder: Path
    files: tuple[tuple[str, str], ...] = ()
    source: str = ""
    view: str = ""


class Failed(Struct, frozen=True, kw_only=True):
    """The exception of a job: `kind` is unavailable, sick or error."""

    kind: str
    text: str
    hint: str = ""


class Answer(Struct, frozen=True, kw_only=True):
    """The result of a job. `recorded` are the files of the run's `record` folder, by their path in it."""

    worker: str
    value: CompiledModule | Refused | RunOutcome | tuple[DeviceInfo, ...] | str | Failed
    recorded: tuple[tuple[str, bytes], ...] = ()


def compiles_at_hand(cores: int) -> int:
    """How many compiles a worker is given at a time: more than it does, so that the next is there when one is done."""
    return cores + max(2, cores // 2)


@cache
def file_view() -> str:
    """Return what is equal for processes that see the same file system at every path: those of one boot of a machine
    in one mount namespace. Empty where the system does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/mnt').readlink()} {Path('/').stat().st_ino}"
    except OSError:
        return ""


def encoded(message: Job | Answer) -> bytes:
    """Return a message as bytes."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def decoded(data: bytes) -> Any:
    """Return the message. Its sender may run code here: see `retarget_cluster.security`."""
    return pickle.loads(data)  # noqa: S301


async def perform(attempt: str, session: str, title: str, payload: bytes) -> None:
    """The Dask task of an attempt. Its result goes to the scheduler's plugin, and the task's value is None."""
    from distributed import get_worker

    worker = get_worker()
    cluster_worker = getattr(worker, "retarget_worker", None)
    if cluster_worker is None:
        msg = f"the worker {worker.name} is not one of `retarget worker`"
        raise RuntimeError(msg)
    await cluster_worker.perform(attempt, session, title, payload)
