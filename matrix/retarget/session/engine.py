"""From a target to its outcome: the one engine that pytest and the commands drive.

It compiles in worker processes or takes artifacts from the cache, generates modules, and runs artifacts on devices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from retarget.expect.verdict import TargetRules
from retarget.extension import ProgramStatistics, Resolved, Tolerance, UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, CompileTarget, Requirement, RunTarget, RuntimeConfig, Target
from retarget.model.devices import DeviceTraits
from retarget.model.names import selected_cases
from retarget.model.outcomes import Artifact, CompileOutcome, DeviceInfo, OutputComparison, RunOutcome, first_failure
from retarget.profiles.requirements import Answer
from retarget.session.cache.folder import CacheChoice, sweep_daily
from retarget.session.cache.generated import GENERATED_FOLDER, ModuleGenerator
from retarget.session.cache.key import Inputs
from retarget.session.cache.store import Store
from retarget.session.compile.service import BuildActivity, BuildService, BuildStatistics
from retarget.session.limits import TIMEOUTS, Timeouts
from retarget.session.requirements import OpenedDevices
from retarget.session.run.lease import WaitNotes, current_holder
from retarget.session.run.reuse import CaseDigests, KeptResult, ReusableResults
from retarget.session.run.service import RunService
from retarget.support.errors import RetargetError, display_path
from retarget.support.scratch import HeldLock, hold_existing
from retarget.targets.availability import host_mismatch
from retarget.worker.messages import CheckArtifact, ExportCases, References, RunModule, Timing
from retarget.worker.started import SpareWorker

if TYPE_CHECKING:
    from retarget.session.cache.remote_store import RemoteStatistics, RemoteStore
    from retarget.session.cache.transfer import ArtifactFile, ArtifactFolder
    from retarget.session.executor import Executor
    from retarget.session.run.ahead import RemoteRuns

_MOST_EVICTIONS = 10
_FLUSH_SECONDS = 30.0
_SILENT_SECONDS = 1.0
"""How long the end of a session waits for uploads, and how long without a word."""


class Engine:
    """Compiles and runs targets for one process. To be closed. Nothing is started before a target needs it."""

    def __init__(
        self,
        *,
        registry: Registry,
        cache: Path | None = None,
        extensions: Sequence[str] = (),
        compiles: int | None = None,
        timeouts: Timeouts = TIMEOUTS,
        cases: Sequence[str] = (),
        artifacts: Path | None = None,
        export: Path | None = None,
        shared: bool = True,
        command: Sequence[str] = (),
        session: str = "",
        waiting: Callable[[], AbstractContextManager[object]] = nullcontext,
        note: Callable[[str], None] | None = None,
        executor: Executor | None = None,
        spare: SpareWorker | None = None,
        timing: tuple[float, float] | None = None,
    ) -> None:
        """`cache` is a folder (None: that of a subcommand), `extensions` are module names to load in the workers in
        addition to the installed entry points.

        `compiles` run at a time (None: one per core that this process may use). Timeouts are in seconds, for targets
        that declare none. `cases` are names and globs, all if there are none. Artifacts are taken from the folder
        `artifacts` and not compiled, if there is one, or written to the folder `export`. Unless `shared` is false, the
        shared store that the environment names is behind the cache. A process that waits for a device shows the
        `command` of this one; all processes with the same `session` count as one. `waiting` is entered around what
        takes long: compiles, runs, the opening of devices; `note` takes a line on each wait for a device that another
        session uses, or for uploads. An `executor` compiles and runs in place of this machine, and is closed with the
        engine. A `spare` worker is used for the first device, and is the caller's to close afterwards. With a `timing`
        (spread and seconds, as of `Timing`) this is a benchmark: cases that pass are called again.
        """
        self.registry = registry
        self._cache = cache or CacheChoice.of_command().folder
        self._extensions = tuple(extensions)
        self._compiles = compiles
        self._timeouts = timeouts
        self._cases = tuple(cases)
        self._artifact_folder = artifacts
        self._export = export
        self._shared = shared
        self._holder = current_holder(command, session) if command else None
        self._waiting = waiting
        self._note = note
        self._on_device_wait = None if note is None else WaitNotes(note)
        self._executor = executor
        self._spare = spare
        self._timing = None if timing is None else Timing(spread=timing[0], seconds=timing[1])
        self._exported: set[tuple[str, str]] = set()
        self._devices = OpenedDevices(self._open_devices)
        self._lost_devices: tuple[str, ...] = ()
        self._begun = ExitStack()  # the locks of the artifacts of runs that have begun, which prevent eviction
        self._started: list[BuildService | RunService] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.flush()
        self.close()

    # ---------------------------------------------------------------- what is here

    def check_compiler(self, config: CompilerConfig) -> None:
        """Raise `UnavailableError` if a config's compiler is not installed, `RetargetError` if it is unknown."""
        self._builds.check(config)

    def check_available(self, target: RunTarget) -> None:
        """Raise `UnavailableError` if this machine lacks something that a target needs, `RetargetError` for errors."""
        self.registry.case_loader(target.compile.kind)
        for driver in target.runtime.drivers:
            self.registry.driver(driver)
        if self._artifact_folder is None:
            self.check_compiler(target.compile.compiler)
        self.devices_of(target)

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """Open the devices of a runtime config and return them. Raises `UnavailableError` and `RetargetError`."""
        return self._devices.of(runtime)

    def _open_devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        if (reason := self.host_mismatch(runtime)) is not None:
            raise UnavailableError(reason)
        with self._waiting():
            return (self._remote_runs_for(runtime) or self._runs).devices(runtime)

    def host_mismatch(self, runtime: RuntimeConfig) -> str | None:
        """Return why neither this machine nor one of an executor's can run a runtime config; None if one can."""
        return host_mismatch(runtime, self._executor.platforms if self._executor is not None else ())

    def devices_of(self, target: RunTarget) -> tuple[DeviceInfo, ...]:
        """Open the devices of a target. Raises as `devices` does, and `UnavailableError` where they do not meet its
        requirements."""
        return self._devices.of_target(target)

    def traits(self, target: Target) -> tuple[DeviceTraits, ...]:
        """Return the traits of the devices that a target runs on, which are opened, or of those of this host that it is
        compiled for. Raises as `devices_of` and `compile` do."""
        if isinstance(target, RunTarget):
            infos = self.devices_of(target)
        else:
            infos = self._builds.devices(target) if self._artifact_folder is None else ()
        return tuple(info.traits for info in infos)

    def answers(self, target: RunTarget) -> Sequence[tuple[Requirement, Answer]]:
        """Return what the devices of a target answer to each of its requirements, or the profile of its runtime config
        where nothing is reported of them. Raises as `devices` does."""
        return self._devices.answers(target)

    # ---------------------------------------------------------------- compiling

    def generated(self, target: CompileTarget) -> CompileTarget:
        """Return a target with the files of its module, which are generated if its kind generates them.

        Raises `UnavailableError` where what generates them, or the module's file, is not installed, `RetargetError` if
        it fails.
        """
        if target.module.install and not target.module.path.exists():
            reason = f"the module's file {display_path(target.module.path)} is not there"
            raise UnavailableError(reason, hint=f"`{target.module.install}` installs it")
        generator = self.registry.module_generator(target.kind)
        return target if generator is None else self._generator.resolve(target, generator)

    def submit(self, targets: Iterable[CompileTarget]) -> None:
        """Queue compiles, to be done ahead of need. Raises as `generated` does."""
        self._builds.submit([self.generated(target) for target in targets])

    def resolved(self, target: CompileTarget) -> tuple[Resolved, Inputs]:
        """Return a target's flags as they are compiled with, and the files that these name: (text in a flag, digest)
        pairs. Raises as `generated` does, and `RetargetError` for flags that the compiler refuses."""
        return self._builds.resolved(self.generated(target))

    def compile_key(self, target: CompileTarget) -> str:
        """Return the compile key of a target, which is not compiled. As `BuildService.key`, and raises as `generated`
        does."""
        return self._builds.key(self.generated(target))

    def compile(self, target: CompileTarget) -> CompileOutcome:
        """Wait for a compile, or take its outcome from the cache or the folder of artifacts.

        Raises `UnavailableError` if the compiler is not here, `RetargetError` if a folder cannot be used.
        """
        target = self.generated(target)
        if self._artifact_folder is not None:
            return self._artifacts.outcome(target)
        with self._waiting():
            outcome = self._builds.result(target)
        if self._export is not None and (target.suite, target.name) not in self._exported:
            from retarget.session.cache.transfer import export_artifact

            export_artifact(outcome, target, self.registry, self._export)
            self._exported.add((target.suite, target.name))
        return outcome

    def finish_compiles(self) -> None:
        """Wait until all compiles that are queued are done, so that none takes time from what is timed."""
        if self._artifact_folder is None:
            with self._waiting():
                self._builds.finish()

    def program_statistics(self, target: CompileTarget) -> ProgramStatistics | None:
        """Return what the compiler says of the program that a target compiles to; None where it says nothing, or does
        not compile it up to there. Raises as `compile` does."""
        compiler = self.registry.compiler(target.compiler.compiler)
        if not compiler.overrides("program_statistics") or self._artifact_folder is not None:
            return None
        target = self.generated(target)
        with self._waiting():
            outcome = self._builds.result(replace(target, flags=(*target.flags, *compiler.statistics_flags)))
        if outcome.artifact is None:
            return None
        try:
            content = b"" if compiler.statistics_flags else Path(outcome.artifact.path).read_bytes()
            return compiler.program_statistics(content, outcome.diagnostics)
        except RetargetError:
            return None

    def compile_again(self, target: CompileTarget) -> None:
        """Have `compile` try a compile that failed once more."""
        if self._artifact_folder is None:
            self._exported.discard((target.suite, target.name))
            self._builds.retry(self.generated(target))

    # ---------------------------------------------------------------- running

    def run_ahead(self, target: RunTarget, rules: TargetRules, *, reuses: bool = False) -> None:
        """Run a target as soon as its compile is done; `run` returns the outcome. Only an executor does so. If the
        session `reuses` results, not a target that `kept_result` has one for.

        Raises as `submit` and `devices` do.
        """
        if (remote := self._remote_runs_for(target.runtime)) is None:
            return
        target = self._with_files(target)
        devices = self.devices(target.runtime) if reuses else ()

        def is_kept(artifact: Artifact) -> bool:
            with suppress(RetargetError, UnavailableError):  # the run reports it
                return reuses and self._results.find(target, artifact, rules, devices) is not None
            return False

        skipping = rules.skipping()
        remote.queue(target, lambda artifact: self._request(target, artifact, skipping), is_kept)
        if self._artifact_folder is not None:
            outcome: CompileOutcome | None = self._artifacts.outcome(target.compile)
        else:
            self._builds.submit([target.compile])
            outcome = self._builds.outcome(target.compile)
        if outcome is not None:
            remote.compiled(target.compile, outcome)

    def run(
        self,
        target: RunTarget,
        artifact: Artifact,
        *,
        record: Path | None = None,
        references: References = (),
        skipping: Sequence[tuple[str, bool]] = (),
    ) -> RunOutcome:
        """Run the selected cases of one target on its devices. The arguments are as in `RunModule`; what comes, and
        what is raised, is as for `RunService.run`."""
        target = self._with_files(target)
        with self._used(target.compile, artifact) as used, self._waiting(), self._begun.pop_all():
            request = self._request(target, used, skipping)
            request = replace(request, record=record, references=references)
            remote = self._remote_runs_for(target.runtime)
            ran = remote.run(request) if remote is not None else self._runs.run(request, on_wait=self._on_device_wait)
            self._lost_devices += ran.notes
            return ran

    def _request(self, target: RunTarget, artifact: Artifact, skipping: Sequence[tuple[str, bool]]) -> RunModule:
        """Return the request to run the selected cases of a target, which has its files."""
        return RunModule(
            target=target,
            artifact=Path(artifact.path),
            digest=artifact.digest,
            only=self._cases,
            skipping=tuple(skipping),
            timing=self._timing,
        )

    def begin_run(self, target: RunTarget, rules: TargetRules) -> None:
        """Begin the run that `run` is going to be called for next, with the cases that `rules` do not skip, if it is
        ready: its compile is done, and its devices are open here and free.

        Where another one is asked for, its process ends.
        """
        if any(one is not None for one in (self._executor, self._artifact_folder, self._timing)):
            return
        with suppress(RetargetError, UnavailableError):  # its own setup reports it
            target = self._with_files(target)
            outcome = self._builds.outcome(target.compile)
            if outcome is None or outcome.artifact is None or (held := _held(outcome.artifact)) is None:
                return
            self._begun.enter_context(held)
            if target.requires:
                self.devices_of(target)
            self._runs.begin(self._request(target, outcome.artifact, rules.skipping()))

    def kept_result(self, target: RunTarget, artifact: Artifact, rules: TargetRules) -> KeptResult | None:
        """Return the result of a run of the target's selected cases that need not be repeated: nothing that it depends
        on has changed, and it stands by the `rules` in force. None where the target is to run. Opens its devices, and
        raises as `devices` does."""
        return self._results.find(self._with_files(target), artifact, rules, self.devices(target.runtime))

    def keep_result(self, target: RunTarget, artifact: Artifact, rules: TargetRules, outcome: RunOutcome) -> None:
        """Keep a run's outcome for `kept_result`, if it is reusable; not how long its calls took. Raises as that
        does."""
        if self._timing is not None:
            outcome = dataclasses.replace(
                outcome, cases=tuple(dataclasses.replace(case, times=None) for case in outcome.cases)
            )
        devices = outcome.devices if self._executor is not None else self.devices(target.runtime)
        self._results.keep(self._with_files(target), artifact, rules, outcome, devices)

    def export_cases(
        self,
        target: RunTarget,
        artifact: Artifact,
        folder: Path,
        *,
        references: References = (),
        only: Sequence[str] = (),
    ) -> tuple[str, ...] | None:
        """Write the cases of one target with their values to the new `folder`, and return their names; None where the
        artifact does not even say its functions. `references` and `only` are as in `RunModule`. No device is opened.

        Raises `RetargetError` for invalid data, and `UnavailableError` where a package is missing.
        """
        target = self._with_files(target)
        with self._used(target.compile, artifact) as used:
            run = replace(self._request(target, used, ()), references=references, only=tuple(only))
            return self._runs.export_cases(ExportCases(run=run, folder=folder))

    def _with_files(self, target: RunTarget) -> RunTarget:
        """Return a run target with the files of its module. Raises as `generated` does."""
        compiled = self.generated(target.compile)
        return target if compiled is target.compile else replace(target, compile=compiled)

    @contextmanager
    def _used(self, target: CompileTarget, artifact: Artifact) -> Iterator[Artifact]:
        """Yield an artifact that is not evicted meanwhile; one that another session has evicted is made again."""
        held = _held(artifact)
        for _ in range(_MOST_EVICTIONS):
            if held is not None or (made := self.compile(target).artifact) is None:
                break
            artifact, held = made, _held(made)
        with held or nullcontext():
            yield artifact

    def check(
        self, target: CompileTarget, artifact: Artifact, *, skipping: Sequence[tuple[str, bool]] = ()
    ) -> RunOutcome:
        """Judge an artifact of a kind that runs nothing by the checks that are selected and not in `skipping`."""
        target = self.generated(target)
        with self._used(target, artifact) as used:
            checked = self._runs.check(CheckArtifact(target=target, artifact=Path(used.path), digest=used.digest))
        cases = tuple(selected_cases(checked.cases, self._cases, skipping))
        return (
            dataclasses.replace(checked, cases=cases, failure=first_failure(cases))
            if cases != checked.cases
            else checked
        )

    def compare(
        self, folders: tuple[Path, Path], sides: tuple[str, str], tolerance: Tolerance | None = None
    ) -> OutputComparison:
        """Compare what two runs recorded, exactly unless there is a tolerance. `sides` are the names of the two."""
        return self._runs.compare(folders, sides, tolerance)

    # ---------------------------------------------------------------- the session

    def sweep(self) -> None:
        """Remove what killed sessions have left, once a day."""
        sweep_daily(Store(self._cache))

    @property
    def statistics(self) -> BuildStatistics | None:
        """The compiles so far; None before the first compile."""
        return self._builds.statistics if "_builds" in vars(self) else None

    @property
    def remote_statistics(self) -> RemoteStatistics | None:
        """The transfers from and to the shared store; None without one, or before the first compile."""
        remote = vars(self).get("_remote")
        return remote.statistics if remote is not None else None

    def flush(self, seconds: float = _FLUSH_SECONDS) -> None:
        """Wait for at most so many seconds until the shared store has what is new; say so where it takes a while."""
        remote: RemoteStore | None = vars(self).get("_remote")
        if remote is None or remote.flush(min(seconds, _SILENT_SECONDS)):
            return
        left = seconds - _SILENT_SECONDS
        if self._note is not None and left > 0:
            self._note(f"waiting for the shared store to take {remote.unsent} more, for at most {left:.0f} s")
        remote.flush(max(0.0, left))

    @property
    def activity(self) -> BuildActivity:
        """The compiles in progress, and the runs ahead."""
        activity = self._builds.activity if "_builds" in vars(self) else BuildActivity()
        if self._executor is None or self._remote_runs is None:
            return activity
        ran, runs = self._remote_runs.progress
        return replace(activity, ran=ran, runs=runs, running=self._executor.working)

    @property
    def notes(self) -> tuple[str, ...]:
        """The damaged entries that the store repaired, what was not stored, which devices differ from the profiles of
        their runtime configs, and which did not answer for a while, one line each."""
        stored = self._builds.notes if "_builds" in vars(self) else ()
        executor = self._executor.notes if self._executor is not None else ()
        kept = self._results.notes if "_results" in vars(self) else ()
        store = self._store.notes if "_store" in vars(self) else ()
        found = (*stored, *store, *self._lost_devices, *executor, *kept)
        return tuple(dict.fromkeys(found))

    def kill(self) -> None:
        """Kill all worker processes, so that `close` has none to wait for. Safe in a signal handler."""
        for service in self._started:
            service.kill()

    def close(self) -> None:
        """End all workers: the generator after the users of generated modules, whatever happens. `flush` comes
        before."""
        with ExitStack() as ending:  # in the reverse order
            for name in ("_runs", "_builds", "_generator"):
                if (started := vars(self).pop(name, None)) is not None:
                    ending.callback(started.close)
            for other in filter(None, (self._executor, vars(self).get("_remote_runs"))):
                ending.callback(other.close)
            if (remote := vars(self).get("_remote")) is not None:
                ending.callback(remote.close)
            ending.push(self._begun.pop_all())

    @cached_property
    def _remote(self) -> RemoteStore | None:
        from retarget.session.cache.remote_objects import remote_settings

        if not self._shared or remote_settings() is None:
            return None
        from retarget.session.cache.remote_store import RemoteStore  # only who has a shared store needs it

        return RemoteStore.configured()

    @cached_property
    def _store(self) -> Store:
        return Store(self._cache, remote=self._remote)

    @cached_property
    def case_digests(self) -> CaseDigests:
        """The case digests of targets."""
        return CaseDigests(self.registry)

    @cached_property
    def _results(self) -> ReusableResults:
        return ReusableResults(
            self._store,
            self.registry,
            extensions=self._extensions,
            only=self._cases,
            case_digests=self.case_digests,
            runs_remotely=self._executor is not None,
        )

    @cached_property
    def _builds(self) -> BuildService:
        service = BuildService(
            store=self._store,
            registry=self.registry,
            extensions=self._extensions,
            workers=self._compiles,
            default_timeout=self._timeouts.compile,
            executor=self._executor,
            on_done=self._remote_runs.compiled if self._remote_runs is not None else None,
        )
        self._started.append(service)
        return service

    @cached_property
    def _runs(self) -> RunService:
        service = RunService(
            extensions=self._extensions,
            default_timeout=self._timeouts.run,
            holder=self._holder,
            environment=self.registry.worker_environment,
            spare=self._spare,
            cache=self._store.folder,
        )
        self._started.append(service)
        return service

    @cached_property
    def _remote_runs(self) -> RemoteRuns | None:
        if self._executor is None:
            return None
        from retarget.session.run.ahead import RemoteRuns  # needed with a cluster only

        return RemoteRuns(
            self._executor, self.registry, default_timeout=self._timeouts.run, means_this_host=self._means_this_host
        )

    def _remote_runs_for(self, runtime: RuntimeConfig) -> RemoteRuns | None:
        """Return what runs a runtime config on a cluster; None where this process runs it, as it does a config with a
        `[[host]]`, which this user's own ssh or adb reaches."""
        return self._remote_runs if runtime.host is None else None

    def _means_this_host(self, target: CompileTarget) -> bool:
        return self._artifact_folder is None and self._builds.means_this_host(target)

    @cached_property
    def _generator(self) -> ModuleGenerator:
        return ModuleGenerator(self._cache / GENERATED_FOLDER, self._runs.generate)

    @cached_property
    def _artifacts(self) -> ArtifactFolder | ArtifactFile:
        from retarget.session.cache.transfer import ArtifactFile, ArtifactFolder

        where = self._artifact_folder or Path()
        return ArtifactFolder(where) if where.is_dir() else ArtifactFile(where)


def _held(artifact: Artifact) -> HeldLock | None:
    """Lock an artifact, so that no session evicts it; None where it is not there."""
    with suppress(OSError):  # its reader reports it
        return hold_existing(Path(artifact.path))
    return None
