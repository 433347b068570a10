"""Compile workers: kept loaded, kept apart by environment, replaced when they die, hang, leak or have done enough."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from msgspec import Struct

from retarget.model import CompilerConfig
from retarget.model.outcomes import Failure, Stage
from retarget.session.compile.resolution import NotBuiltError
from retarget.session.refusals import refusal_failure
from retarget.support.errors import RetargetError
from retarget.worker.messages import (
    AskFingerprint,
    CompiledModule,
    CompileModule,
    Named,
    Refusal,
    Refused,
    ResolvedFlags,
    ResolveFlags,
)
from retarget.worker.process import WorkerProcess
from retarget.worker.started import Spawner

_RECYCLE_COMPILES = 500
_RECYCLE_RESIDENT = 1536 * 1024**2
"""A worker is replaced after so many compiles, or above so many resident bytes: LLVM gives little back."""

_NO_VERDICT = "the compiler gave no verdict on the module: this is not stored, and no expectation applies to it"

Environment = tuple[tuple[str, str], ...]
AnswerT = TypeVar("AnswerT")


class _Member(Struct, kw_only=True):
    worker: WorkerProcess
    env: Environment
    compiles: int = 0


class CompilePool:
    """Lends a worker to each caller; a caller is a thread. How many work at a time is for the callers to bound."""

    def __init__(self, *, extensions: Sequence[str], max_idle: int) -> None:
        """At most `max_idle` idle workers are kept, those used last."""
        self._spawner = Spawner()
        self._extensions = tuple(extensions)
        self._max_idle = max_idle
        self._lock = threading.Lock()
        self._idle: list[_Member] = []
        self._busy: list[_Member] = []
        self._closed = False

    def resolve(
        self, env: Environment, config: CompilerConfig, flags: tuple[str, ...], *, timeout: float
    ) -> ResolvedFlags:
        """Resolve in a worker with `env`. Raises `UnavailableError`, `NotBuiltError` or `RetargetError`."""
        return self._answer(env, ResolveFlags(config=config, flags=flags), ResolvedFlags, timeout)

    def fingerprint(self, env: Environment, config: CompilerConfig, *, timeout: float) -> str:
        """Ask a worker with `env` what is installed. Raises what `resolve` does."""
        return self._answer(env, AskFingerprint(config=config), Named, timeout).text

    def compile(self, env: Environment, message: CompileModule, *, timeout: float) -> CompiledModule | Refused:
        """Compile in a worker with `env`. Raises `RetargetError`."""
        return self._ask(env, message, CompiledModule, timeout)

    def kill(self) -> None:
        """Kill all workers. Safe in a signal handler."""
        self._spawner.kill()

    def close(self) -> None:
        """Stop, and end what starts workers. None may be lent any more."""
        self.stop()
        self._spawner.close()

    def stop(self) -> None:
        """Kill the busy workers, end the idle ones, and lend no more."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for member in self._busy:
                member.worker.kill()
        for member in idle:
            member.worker.kill()
            member.worker.close()

    def _answer(self, env: Environment, message: object, expected: type[AnswerT], timeout: float) -> AnswerT:
        answer = self._ask(env, message, expected, timeout)
        if isinstance(answer, Refused):
            raise NotBuiltError(compile_failure(answer))
        return answer

    def _ask(self, env: Environment, message: object, expected: type[AnswerT], timeout: float) -> AnswerT | Refused:
        member = self._take(env)
        fit = False
        try:
            answer = member.worker.ask(message, expected, timeout=timeout)
            if isinstance(message, CompileModule):
                member.compiles += 1
            resident = answer.resident if isinstance(answer, CompiledModule | Refused) else 0
            fit = member.worker.alive and member.compiles < _RECYCLE_COMPILES and resident < _RECYCLE_RESIDENT
            return answer
        finally:
            self._give_back(member, fit=fit)

    def _take(self, env: Environment) -> _Member:
        with self._lock:
            if self._closed:
                msg = "the compile pool is closed"
                raise RetargetError(msg)
            for index in range(len(self._idle) - 1, -1, -1):
                if self._idle[index].env == env and self._idle[index].worker.alive:
                    member = self._idle.pop(index)
                    self._busy.append(member)
                    return member
        member = _Member(worker=WorkerProcess(spawner=self._spawner, extensions=self._extensions, env=env), env=env)
        with self._lock:
            self._busy.append(member)
            if self._closed:
                member.worker.kill()
        return member

    def _give_back(self, member: _Member, *, fit: bool) -> None:
        with self._lock:
            self._busy.remove(member)
            unneeded = []
            if fit and not self._closed:
                self._idle.append(member)
                unneeded = self._idle[: -self._max_idle]
                self._idle = self._idle[-self._max_idle :]
            else:
                unneeded.append(member)
        for other in unneeded:
            other.worker.kill()
            other.worker.close()


def compile_failure(refused: Refused) -> Failure:
    """Return the failure of a compile that a worker did not do. Raises `UnavailableError` for one that says so."""
    failure = refusal_failure(
        refused, Stage.COMPILE, worker="compiler", work="compile", extension="the compiler's extension"
    )
    if refused.refusal in {Refusal.TOOL, Refusal.DRIVER, Refusal.INPUT}:
        return replace(failure, hint=failure.hint or _NO_VERDICT, no_verdict=True)
    return failure
