"""Builds compile targets ahead of need: one queue, as many compiles at a time as there are cores, each key once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec import Struct

from retarget.extension import Resolved, UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, CompileTarget
from retarget.model.outcomes import CompileOutcome, DeviceInfo, Failure, Stage
from retarget.session.cache.key import InputDigests, Inputs
from retarget.session.cache.store import Store, StoreError
from retarget.session.compile.pool import CompilePool
from retarget.session.compile.resolution import NotBuiltError, Resolver
from retarget.session.compile.steps import CompileSteps, key_of
from retarget.support.errors import RetargetError
from retarget.support.files import read_regular
from retarget.worker.messages import CompiledModule, CompileModule, Refused, ResolvedFlags
from retarget.worker.process import available_cores

if TYPE_CHECKING:
    from retarget.session.executor import Executor

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
"""Seconds between looks at a key that another process compiles."""


class BuildStatistics(Struct, kw_only=True):
    """The builds so far.

    `compiled` counts compiles that ran here, failed ones too; `reused` what the store had; `seconds` is the wall time
    of the compiles that ran here, over all workers.
    """

    compiled: int = 0
    reused: int = 0
    seconds: float = 0.0


class _Job(Struct):
    """One compile target on its way."""

    target: CompileTarget
    end: CompileOutcome | BaseException | None = None
    not_before: float = 0.0
    pause: float = _FIRST_PAUSE
    started: float = 0.0

    @property
    def outcome(self) -> CompileOutcome | None:
        return self.end if isinstance(self.end, CompileOutcome) else None


class BuildService:
    """Compiles targets in worker processes, or takes them from the store. To be closed.

    Nothing of a compiler is imported into this process, and no worker is started while the store has everything.
    """

    def __init__(
        self,
        *,
        store: Store,
        registry: Registry,
        extensions: Sequence[str],
        workers: int | None = None,
        default_timeout: float,
        executor: Executor | None = None,
        on_done: Callable[[CompileTarget, CompileOutcome], None] | None = None,
    ) -> None:
        """`extensions` are module names to load in the workers in addition to the installed entry points.

        `workers` compiles run at a time (None: one per core that this process may use). `default_timeout` in seconds is
        for a target that declares none. With an `executor` compiles are done there, as many at a time as it says, and
        the rest here. `on_done` is called in the thread that built a target, and must not raise.
        """
        self._store = store
        self._default_timeout = default_timeout
        self._registry = registry
        self._workers = workers or available_cores()
        self._executor = executor
        self._on_done = on_done
        self._pool = CompilePool(extensions=extensions, max_idle=2 * self._workers)
        self._resolver = Resolver(store=store, fingerprint=self.fingerprint, ask=self._ask_resolve)
        self._fingerprints: dict[CompilerConfig, str | Exception] = {}
        self._asking = threading.Lock()
        self._here = threading.Semaphore(self._workers)
        self._inputs = InputDigests()
        self._steps = CompileSteps(
            store=store,
            registry=registry,
            work=self._compile,
            inputs_of=partial(self._inputs_of, fresh=True),
            note=self._note,
            default_timeout=default_timeout,
        )
        self._notes: list[str] = []
        self._changed = threading.Condition()
        self._jobs: dict[CompileTarget, _Job] = {}
        self._modules: defaultdict[Path, list[CompileTarget]] = defaultdict(list)  # the targets of each module
        self._retried: set[CompileTarget] = set()
        self._pending: OrderedDict[CompileTarget, _Job] = OrderedDict()
        self._running: dict[CompileTarget, _Job] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._store_error: StoreError | None = None
        self._statistics = BuildStatistics()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def statistics(self) -> BuildStatistics:
        """The builds so far."""
        with self._changed:
            return msgspec.structs.replace(self._statistics)

    @property
    def activity(self) -> BuildActivity:
        """The builds in progress."""
        with self._changed:
            now = time.monotonic()
            running = sorted(self._running.values(), key=lambda job: job.started)
            return BuildActivity(
                done=len(self._jobs) - len(self._pending) - len(running),
                total=len(self._jobs),
                running=tuple((_title(job.target), now - job.started) for job in running),
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """The damaged entries that the store repaired, and the outcomes that were not stored, one line each."""
        with self._changed:
            return (*self._store.notes, *self._notes)

    def submit(self, targets: Iterable[CompileTarget]) -> None:
        """Queue `targets` in order. Targets that are queued or done are skipped."""
        with self._changed:
            new = [target for target in dict.fromkeys(targets) if target not in self._jobs]
            if not new:
                return  # nothing that would wake a builder
            for target in new:
                self._modules[target.module.path].append(target)
                self._jobs[target] = self._pending[target] = _Job(target)
            workers = min(self._executor.compiles if self._executor is not None else self._workers, len(self._jobs))
            while self._pending and len(self._threads) < workers and not self._closed:
                number = len(self._threads) + 1
                thread = threading.Thread(
                    target=self._work, args=(number,), name=f"retarget-build-{number}", daemon=True
                )
                thread.start()
                self._threads.append(thread)
            self._changed.notify_all()

    def result(self, target: CompileTarget) -> CompileOutcome:
        """Return the outcome of `target`; wait for it, ahead of all that is only queued.

        Raises `UnavailableError` if its compiler is not installed here, `RetargetError` if no extension provides the
        compiler, or the cache folder cannot be used.
        """
        self.submit([target])
        with self._changed:
            job = self._jobs[target]
            artifact = job.outcome.artifact if job.outcome is not None else None
            if artifact is not None and not self._store.keep(artifact):  # evicted since; make it again
                job = self._jobs[target] = self._pending[target] = _Job(target)
                self._changed.notify_all()
            if target in self._pending:
                self._pending.move_to_end(target, last=False)
            while (end := job.end) is None:
                if self._closed:
                    msg = f"the build service was closed before {target.name} was compiled"
                    raise RetargetError(msg)
                self._changed.wait()
        if isinstance(end, BaseException):
            raise end.with_traceback(None)  # each waiter raises it: its traceback must not grow
        return end

    def finish(self) -> None:
        """Wait until all that is queued is done."""
        with self._changed:
            while (self._pending or self._running) and not self._closed:
                self._changed.wait()

    def outcome(self, target: CompileTarget) -> CompileOutcome | None:
        """Return the outcome of a target that is done; None of any other."""
        with self._changed:
            job = self._jobs.get(target)
            return job.outcome if job is not None else None

    def key(self, target: CompileTarget) -> str:
        """Return the compile key of a target, which is not compiled; empty where it has none because its flags are
        refused or its module cannot be read.

        Raises `UnavailableError` if its compiler is not installed here, `RetargetError` if no extension provides it.
        """
        try:
            resolved, source = self._resolved(target)
        except NotBuiltError:
            return ""
        return key_of(target, source, resolved, self._inputs_of(target, resolved))

    def resolved(self, target: CompileTarget) -> tuple[Resolved, Inputs]:
        """Return a target's flags as the compiler gets them, and the files that they name. Raises `UnavailableError`,
        and `RetargetError` for flags that the compiler refuses."""
        resolved, _ = self._resolved(target)
        return resolved, self._inputs_of(target, resolved, fresh=True)

    def means_this_host(self, target: CompileTarget) -> bool:
        """Whether flags of a compiled target depend on this machine: `host`, or a device of it."""
        resolved, _ = self._resolved(target)
        return bool({*resolved.flags} - {*target.flags})

    def devices(self, target: CompileTarget) -> tuple[DeviceInfo, ...]:
        """Return the devices of this host that a target is compiled for. Raises `UnavailableError`; none where it has
        no flags to be compiled with."""
        try:
            return self._resolver.resolve(target.compiler, target.flags).devices
        except NotBuiltError:
            return ()

    def check(self, config: CompilerConfig) -> None:
        """Check that a config's compiler is here. Raises `UnavailableError` if it is not, `RetargetError` if it
        fails."""
        try:
            self.fingerprint(config)
        except NotBuiltError as error:
            msg = f"compiler config {config.name!r}: {error}"
            raise RetargetError(msg) from error

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name what is installed for a config, determined once per session; of a config with an `env` in a worker with
        it.

        Raises `UnavailableError` if its compiler is not installed, `NotBuiltError` or `RetargetError`.
        """
        with self._asking:
            if config not in self._fingerprints:
                try:
                    self._fingerprints[config] = self._ask_fingerprint(config)
                except (UnavailableError, RetargetError) as error:
                    self._fingerprints[config] = error
            found = self._fingerprints[config]
        if isinstance(found, Exception):
            raise found.with_traceback(None)  # raised for every target: its traceback must not grow
        return found

    def retry(self, target: CompileTarget) -> None:
        """Forget how `target` failed, here and in the store: `result` then compiles it again. An artifact stays."""
        with self._changed:
            job = self._jobs.get(target)
            if job is None or job.outcome is None or job.outcome.failure is None:
                return
            del self._jobs[target]
            self._retried.add(target)
        if job.outcome.key:
            self._store.forget_failure(job.outcome.key)

    def kill(self) -> None:
        """Kill all worker processes, so that `close` has none to wait for. Safe in a signal handler."""
        self._pool.kill()

    def close(self) -> None:
        """Stop: kill the compiles that run, forget what is queued, and end the workers."""
        with self._changed:
            self._closed = True
            self._pending.clear()
            self._changed.notify_all()
        self._pool.stop()
        for thread in self._threads:
            thread.join()
        self._pool.close()

    # ------------------------------------------------------------ the builder threads

    def _work(self, number: int) -> None:
        while (job := self._next()) is not None:
            try:
                outcome = self._build(job.target)
            except BaseException as error:  # any error must reach those that wait for this target
                self._finish(job, error)
                continue
            if outcome is None:
                self._defer(job)
            else:
                self._finish(job, replace(outcome, worker=number) if outcome.started else outcome)
                if self._on_done is not None:
                    self._on_done(job.target, outcome)

    def _next(self) -> _Job | None:
        """Return the first queued job that may be tried now; None when closed."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                earliest: float | None = None
                for target, job in self._pending.items():
                    if job.not_before <= now:
                        del self._pending[target]
                        self._running[target] = job
                        job.started = now
                        return job
                    earliest = job.not_before if earliest is None else min(earliest, job.not_before)
                self._changed.wait(None if earliest is None else earliest - now)
            return None

    def _defer(self, job: _Job) -> None:
        """Put back a job whose key another process or thread compiles, to be looked at again soon."""
        with self._changed:
            del self._running[job.target]
            job.not_before = time.monotonic() + job.pause
            job.pause = min(2 * job.pause, _LONGEST_PAUSE)
            self._pending[job.target] = job
            self._pending.move_to_end(job.target, last=False)

    def _finish(self, job: _Job, end: CompileOutcome | BaseException) -> None:
        with self._changed:
            del self._running[job.target]
            job.end = end
            if (outcome := job.outcome) is not None:
                found = self._statistics
                found.compiled += not outcome.reused and bool(outcome.key)
                found.reused += outcome.reused
                found.seconds += 0.0 if outcome.reused else outcome.seconds
            self._changed.notify_all()

    def _build(self, target: CompileTarget) -> CompileOutcome | None:
        """Return the outcome; None if the key's lock is held elsewhere."""
        try:
            resolved, source = self._resolved(target)
        except NotBuiltError as error:
            return CompileOutcome(key="", seconds=0.0, reused=False, failure=error.failure)
        inputs = self._inputs_of(target, resolved)
        key = key_of(target, source, resolved, inputs)
        outcome = self._store.lookup(key) or self._locked(target, key, source, resolved)
        if outcome is None:
            return None
        devices = resolved.devices
        return replace(outcome, build_id=resolved.build_id, build=resolved.build, inputs=inputs, devices=devices)

    def _resolved(self, target: CompileTarget) -> tuple[Resolved, bytes]:
        """Return a target's resolved flags and its source. Raises as `Resolver.resolve` does."""
        resolved = self._resolver.resolve(target.compiler, target.flags)
        if target.returns_checks and (rewriter := self._registry.check_rewriter(target.kind)) is not None:
            fact = ("checks returned", rewriter.return_checks_version())
            resolved = resolved.with_facts(fact)  # of all steps: it is the first that reads the source
        return resolved, _read_source(target)

    def _locked(self, target: CompileTarget, key: str, source: bytes, resolved: Resolved) -> CompileOutcome | None:
        """Compile while the key's lock is held; None if it is held elsewhere."""
        if self._store_error is not None:
            raise self._store_error.with_traceback(None)
        try:
            lock = self._store.try_lock(key)
            if lock is None:
                return None
            try:
                inputs = self._inputs_of(target, resolved, fresh=True)
                if key_of(target, source, resolved, inputs) != key:
                    return None  # a folder has changed since it was looked into: look again
                if (stored := self._store.lookup(key)) is not None:
                    return stored
                anew, is_shared = target in self._retried, partial(self._is_shared, target)
                outcome = self._steps.compile(target, key, source, resolved, inputs, anew=anew, is_shared=is_shared)
                if outcome is None or outcome.reused:
                    return outcome
                return replace(outcome, started=time.time() - outcome.seconds)
            finally:
                lock.release()
        except StoreError as error:
            self._store_error = error
            raise

    def _is_shared(self, target: CompileTarget, half: Resolved) -> bool:
        """Whether another target of the module begins with the same front half, and is still to be compiled."""
        with self._changed:
            jobs = [self._jobs.get(one) for one in self._modules[target.module.path] if one != target]
            others = [job.target for job in jobs if job is not None and job.end is None]
        for other in others:
            with suppress(UnavailableError, RetargetError):
                resolved, source = self._resolved(other)
                if (resolved.front_end or resolved).front_half == half and other.compiler.env == target.compiler.env:
                    key = key_of(other, source, resolved, self._inputs_of(other, resolved))
                    if self._store.lookup(key) is None:
                        return True
        return False

    def _inputs_of(self, target: CompileTarget, resolved: Resolved, *, fresh: bool = False) -> Inputs:
        """Return what the compile reads in addition to the module, as it is now."""
        left_out = set(resolved.not_inputs)
        flags = [flag for flag in resolved.flags if flag not in left_out]
        return self._inputs.of(flags, env=target.compiler.env, files=resolved.files, fresh=fresh)

    def _compile(
        self, target: CompileTarget, message: CompileModule, inputs: Inputs, timeout: float
    ) -> CompiledModule | Refused:
        env = self._registry.worker_environment(target.compiler)
        if self._executor is not None:
            from retarget.session.executor import CompileJob  # needed with a cluster only

            job = CompileJob(
                title=_title(target),
                config=target.compiler,
                fingerprint=self.fingerprint(target.compiler),
                env=env,
                message=message,
                inputs=inputs,
                timeout=timeout,
            )
            if (answer := self._executor.compile(job)) is not None:
                return answer
        with self._here:
            return self._pool.compile(env, message, timeout=timeout)

    def _note(self, line: str) -> None:
        with self._changed:
            if line not in self._notes:
                self._notes.append(line)

    def _ask_fingerprint(self, config: CompilerConfig) -> str:
        env = self._registry.worker_environment(config)
        if not config.env:
            return self._registry.fingerprint(config)
        timeout = self._default_timeout if config.timeout is None else config.timeout
        return self._pool.fingerprint(env, config, timeout=timeout)

    def _ask_resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> ResolvedFlags:
        timeout = self._default_timeout if config.timeout is None else config.timeout
        return self._pool.resolve(self._registry.worker_environment(config), config, flags, timeout=timeout)


def _title(target: CompileTarget) -> str:
    return f"{target.suite}/{target.module.name} ({target.compiler.name})"


def _read_source(target: CompileTarget) -> bytes:
    try:
        return read_regular(target.module.path)
    except OSError as error:
        summary = f"module {target.module.path} cannot be read: {error.strerror or error}"
        raise NotBuiltError(Failure(stage=Stage.COMPILE, summary=summary, no_verdict=True)) from error


class BuildActivity(Struct, frozen=True, kw_only=True):
    """`done` of `total` compiles have an outcome.

    `running` are the compiles in progress: what, and for how many seconds so far; the longest first. On a cluster `ran`
    of `runs` run targets have an outcome, and `running` is what its workers do, and where.
    """

    done: int = 0
    total: int = 0
    running: tuple[tuple[str, float], ...] = ()
    ran: int = 0
    runs: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether something is left to do."""
        return self.done < self.total or self.ran < self.runs
