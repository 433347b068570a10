"""Runs on an executor, which start before their turn: once their compile is done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from msgspec import Struct

from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, RunTarget, RuntimeConfig
from retarget.model.outcomes import Artifact, CompileOutcome, DeviceInfo, RunOutcome
from retarget.session.cache.key import InputDigests, Inputs, host_identity
from retarget.session.executor import Executor, RunJob
from retarget.support.errors import RetargetError
from retarget.worker.messages import RunModule


class _Ahead(Struct, kw_only=True):
    """A run ahead of its turn: its request, once its artifact is known, and its outcome. It waits until its compile is
    done, or its turn comes first."""

    request_of: Callable[[Artifact], RunModule]
    is_kept: Callable[[Artifact], bool]
    waiting: bool = True
    request: RunModule | None = None
    future: Future[RunOutcome] | None = None


class RemoteRuns:
    """The runs of a session. Targets are those of `Engine.generated`. Safe from several threads. To be closed."""

    def __init__(
        self,
        executor: Executor,
        registry: Registry,
        *,
        default_timeout: float,
        means_this_host: Callable[[CompileTarget], bool],
    ) -> None:
        """`means_this_host` returns whether the flags of a compiled target depend on
        this machine."""
        self._executor = executor
        self._registry = registry
        self._default_timeout = default_timeout
        self._means_this_host = means_this_host
        self._digests = InputDigests()
        self._devices: dict[RuntimeConfig, tuple[DeviceInfo, ...] | UnavailableError] = {}
        self._lock = threading.Lock()
        self._ahead: dict[RunTarget, _Ahead] = {}
        self._waiting: dict[CompileTarget, list[_Ahead]] = {}
        self._queued = self._dispatched = 0  # queued are those that wait
        self._open: set[Future[RunOutcome]] = set()  # those that are not done: users keep the outcomes that they need

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Return what `Executor.devices` does, asked once. Raises as it does; `UnavailableError` each time."""
        known = self._devices.get(runtime)
        if known is None:
            try:
                known = self._executor.devices(runtime)
            except UnavailableError as error:
                if error.lost:
                    raise
                known = error
            self._devices[runtime] = known
        if isinstance(known, UnavailableError):
            raise known.with_traceback(None)  # raised for every target: its traceback must not grow
        return known

    def queue(
        self, target: RunTarget, request_of: Callable[[Artifact], RunModule], is_kept: Callable[[Artifact], bool]
    ) -> None:
        """Run a target once `compiled` is called for its compile, unless a result is kept for the artifact, for which
        `request_of` returns the request."""
        with self._lock:
            self._ahead[target] = ahead = _Ahead(request_of=request_of, is_kept=is_kept)
            self._waiting.setdefault(target.compile, []).append(ahead)
            self._queued += 1

    def compiled(self, target: CompileTarget, outcome: CompileOutcome) -> None:
        """Dispatch the runs that wait for a compile. If it failed, they are left to their items, which may retry it."""
        with self._lock:
            waiting = self._waiting.pop(target, ())
        artifact = outcome.artifact
        due = [artifact is not None and not ahead.is_kept(artifact) for ahead in waiting]
        with self._lock:
            for ahead, is_due in zip(waiting, due, strict=True):
                if self._ends_waiting(ahead) and is_due and artifact is not None:
                    ahead.request = ahead.request_of(artifact)
                    with suppress(RetargetError):  # its item asks again, and reports it
                        ahead.future = self._dispatch(ahead.request, urgent=False)
                        self._dispatched += 1
                        self._open.add(ahead.future)
                        ahead.future.add_done_callback(self._open.discard)

    def run(self, request: RunModule) -> RunOutcome:
        """Return the outcome of the run ahead, once; else of a new run, if there is none with this request. Raises as
        `RunService.run` does."""
        with self._lock:
            ahead = self._ahead.pop(request.target, None)
            if ahead is not None:
                self._ends_waiting(ahead)
        if ahead is not None and ahead.future is not None:
            if ahead.request == request:
                return ahead.future.result()
            ahead.future.cancel()
        return self._dispatch(request, urgent=True).result()

    @property
    def progress(self) -> tuple[int, int]:
        """How many of the runs ahead are done, and how many there are."""
        with self._lock:
            return self._dispatched - len(self._open), self._dispatched + self._queued

    def close(self) -> None:
        """Cancel what has not run."""
        with self._lock:
            for ahead in self._ahead.values():
                ahead.waiting = False  # a compile that ends just now has taken it out of `_waiting`
            self._ahead.clear()
            self._waiting.clear()
            self._queued = 0
            for future in tuple(self._open):
                future.cancel()

    def _ends_waiting(self, ahead: _Ahead) -> bool:
        """Whether it did wait."""
        self._queued -= ahead.waiting
        waited, ahead.waiting = ahead.waiting, False
        return waited

    def _dispatch(self, message: RunModule, *, urgent: bool) -> Future[RunOutcome]:
        target = message.target
        return self._executor.run(
            RunJob(
                message=message,
                files=self._files(target),
                host=host_identity() if self._means_this_host(target.compile) else "",
                timeout=self._default_timeout if target.timeout is None else target.timeout,
                urgent=urgent,
                code=self._registry.code_judging(target.compile.kind, target.runtime.drivers),
            )
        )

    def _files(self, target: RunTarget) -> Inputs:
        """Return the files of a target's module and cases, those that they name, and those that its flags name."""
        compiled, runtime = target.compile, target.runtime
        loader = self._registry.data_namer(compiled.kind)
        files = [compiled.module.path, *compiled.module.data]
        if loader is not None:
            with suppress(RetargetError):  # the worker's loader finds the same
                files += loader.data_files(compiled.module, compiled.folder)
        return self._digests.of(runtime.flags, env=runtime.env, files=files)
