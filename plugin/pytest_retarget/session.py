"""What the items of one pytest process share: compiling, running, and how long both live.

Under xdist each worker process has services of its own; their pools share the cores, and the store's single flight
lets them work together. Nothing is started before something selected needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from retarget.extension import ComparesConfigs, MakesModules, UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, CompileTarget, RunTarget, RuntimeConfig, Target
from retarget.model.case_names import selected_cases
from retarget.model.locations import SourceLocations
from retarget.model.outcomes import (
    Artifact,
    CaseOutcome,
    CompileOutcome,
    DeviceInfo,
    Failure,
    OutputComparison,
    RunOutcome,
    Stage,
    first_failure,
)
from retarget.support.errors import RetargetError
from retarget.support.scratch import ScratchFolder
from retarget.support.text import first_line
from retarget.targets.availability import host_mismatch
from retarget.worker.artifact import OUTPUTS_INDEX
from retarget.worker.process import available_cores

from pytest_retarget.report.commands import Commands
from pytest_retarget.report.progress import Progress

from .options import Settings

if TYPE_CHECKING:
    from retarget.engine.cache.generated import MadeModules
    from retarget.engine.cache.transfer import ArtifactFolder
    from retarget.engine.compile.service import BuildService
    from retarget.engine.run.lease import OnLeaseWait
    from retarget.engine.run.service import RunService

    from pytest_retarget.items.expected import Attempts
    from pytest_retarget.items.targets import MatrixItem

__all__ = ["SERVICES", "Recording", "Services", "compiles_at_a_time"]


def compiles_at_a_time(settings: Settings, processes: int) -> int:
    """This process's share of the compiles at a time, 1 or more, where `processes` pytest processes work together."""
    return max(1, (settings.jobs or available_cores()) // processes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A run of a module as another config compiles it, for cases that are to agree with it.

    `folder` holds what it gave; None where it gave nothing, and `why` says so. `failed` is the target whose failure
    left cases without results, `ran` the run target that it was tried for, `failure` how it failed; None where it could
    not be tried. `cases` are those that the run came to. `unavailable` tells that all that is missing is something that
    this machine lacks.
    """

    folder: Path | None = None
    why: str = ""
    failed: Target | None = None
    ran: RunTarget | None = None
    failure: Failure | None = None
    cases: tuple[CaseOutcome, ...] = ()
    unavailable: bool = False


class Services:
    """Compiles and runs for one pytest process."""

    def __init__(
        self,
        *,
        settings: Settings,
        registry: Registry,
        folder: Path,
        cache_dir: Path,
        processes: int,
        progress: Progress,
        command: Sequence[str],
        run_id: str,
    ) -> None:
        """`command` is pytest's command line and `run_id` names its session, for those who wait for its devices."""
        self.settings = settings
        self.registry = registry
        self.cache_dir = cache_dir
        self.commands = Commands(
            registry=registry, folder=folder, compiles=settings.artifacts is None, extensions=settings.extensions
        )
        self.places = SourceLocations()
        self.selected: frozenset[str] = frozenset()
        self.selected_compiles: frozenset[str] = frozenset()
        self.exhausted: dict[str, Attempts] = {}
        """Flaky compiles that failed at every attempt, by their node ids: they are not tried for each run target."""
        self._processes = processes
        self._progress = progress
        self._command = tuple(command)
        self._run_id = run_id
        self._on_wait: OnLeaseWait | None = None
        self._started: list[BuildService | RunService] = []
        self._build: BuildService | None = None
        self._run: RunService | None = None
        self._compilers: dict[CompilerConfig, UnavailableError | RetargetError | None] = {}
        self._exported: set[tuple[str, str]] = set()
        self._artifacts: ArtifactFolder | None = None
        self._made: MadeModules | None = None
        self._recorded: dict[tuple[str, str], Recording] = {}
        self._scratch: ScratchFolder | None = None

    def start(self, items: Sequence[MatrixItem]) -> None:
        """Queue every compile that the selection needs, in its order.

        What only run targets need that will be skipped here is not compiled ahead. The first compiles run while devices
        are still being asked for and modules generated for those after them.
        """
        self.selected = frozenset(item.nodeid for item in items)
        self.selected_compiles = frozenset(item.nodeid for item in items if not item.runtime)
        from retarget.engine.cache.store import Store
        from retarget.engine.cache.sweep import sweep_daily

        sweep_daily(Store(self.cache_dir))
        if self.settings.artifacts is not None:
            return
        queued: set[str] = set()
        for item in items:
            if item.compile_id not in queued and self._is_needed(item):
                queued.add(item.compile_id)
                with suppress(UnavailableError, RetargetError):  # its own setup will say so
                    self._builds().submit([self.concrete(item.compile_target)])

    def concrete(self, target: CompileTarget) -> CompileTarget:
        """Return a target with the files of its module, which are made if its kind makes them.

        Raises `UnavailableError` where what makes them is not installed, `RetargetError` if it fails.
        """
        loader = self.registry.case_loaders.get(target.kind)
        if not isinstance(loader, MakesModules):
            return target
        if self._made is None:
            from retarget.engine.cache.generated import MADE_FOLDER, MadeModules

            self._made = MadeModules(self.cache_dir / MADE_FOLDER, self._make)
        return self._made.resolve(target, loader)

    def check(
        self, target: CompileTarget, artifact: Artifact, *, skipping: Sequence[tuple[str, bool]] = ()
    ) -> RunOutcome:
        """Judge an artifact of a kind that runs nothing by the checks that are selected and that `skipping` lets be."""
        checked = self._runs().check(self.concrete(target), artifact)
        cases = tuple(selected_cases(checked.cases, self.settings.cases, skipping))
        return replace(checked, cases=cases, failure=first_failure(cases)) if cases != checked.cases else checked

    def check_compiler(self, config: CompilerConfig) -> None:
        """Raise `UnavailableError` if a config's compiler is not installed, `RetargetError` if nobody brought it."""
        if config not in self._compilers:
            self._compilers[config] = None
            try:
                self._builds().check(config)
            except (UnavailableError, RetargetError) as error:
                self._compilers[config] = error
        if (known := self._compilers[config]) is not None:
            raise known.with_traceback(None)  # raised for every target: its traceback must not grow

    def compiled(self, target: CompileTarget) -> CompileOutcome:
        """Wait for a compile, or take its outcome from the folder the user named.

        Raises `UnavailableError` if the compiler is not here, `RetargetError` if a folder cannot be used.
        """
        target = self.concrete(target)
        if self.settings.artifacts is not None:
            if self._artifacts is None:
                from retarget.engine.cache.transfer import ArtifactFolder

                self._artifacts = ArtifactFolder(self.settings.artifacts)
            return self._artifacts.outcome(target)
        with self._progress.of(target) as on_wait:
            outcome = self._builds().result(target, on_wait)
        if self.settings.export is not None and (target.suite, target.name) not in self._exported:
            from retarget.engine.cache.transfer import export_artifact

            export_artifact(outcome, target, self.registry, self.settings.export)
            self._exported.add((target.suite, target.name))
        return outcome

    def compile_again(self, target: CompileTarget) -> None:
        """Have `compiled` try a compile that failed once more."""
        if self.settings.artifacts is None:
            self._exported.discard((target.suite, target.name))
            self._builds().retry(self.concrete(target))

    def devices(self, runtime: RuntimeConfig) -> tuple[DeviceInfo, ...]:
        """The devices of a runtime config. Raises `UnavailableError` where they are not here."""
        return self._runs().devices(runtime)

    def run(
        self,
        target: RunTarget,
        artifact: Artifact,
        others: Sequence[RunTarget] = (),
        *,
        record: Path | None = None,
        skipping: Sequence[tuple[str, bool]] = (),
    ) -> RunOutcome:
        """Run one target on its devices: the cases that are selected, and that `skipping` does not skip.

        `others` are the run targets of the same module, among which a case may find the config that it is to agree
        with. What the cases gave is written to the folder `record`, if there is one.
        """
        target = replace(target, compile=self.concrete(target.compile))
        try:
            references, lacking = self._references(target, others)
        except RetargetError as error:
            failure = Failure(stage=Stage.LOAD, summary=first_line(str(error)), text=str(error))
            return RunOutcome(devices=(), failure=failure)
        return self._runs().run(
            target,
            artifact,
            record=record,
            references=references,
            lacking=lacking,
            only=self.settings.cases,
            skipping=skipping,
            on_wait=self._on_wait,
        )

    def _references(
        self, target: RunTarget, others: Sequence[RunTarget]
    ) -> tuple[list[tuple[str, Path]], list[tuple[str, str]]]:
        """Run, once per session, what a target's cases compare with; return the folders of what it gave, and why there
        is none.

        Raises `RetargetError` for invalid data.
        """
        loader = self.registry.case_loaders.get(target.compile.kind)
        references: list[tuple[str, Path]] = []
        lacking: list[tuple[str, str]] = []
        if isinstance(loader, ComparesConfigs):
            compiled = target.compile
            for name in loader.references(compiled.module, compiled.folder, compiled.compiler.name):
                recording = self._recording(name, target, others)
                if recording.folder is not None:
                    references.append((name, recording.folder))
                else:
                    lacking.append((name, recording.why))
        return references, lacking

    def recorded(self, compiler: str, target: RunTarget) -> Recording:
        """What is known of a config's run of a target's module; nothing where none was asked for."""
        return self._recorded.get(_recording_key(compiler, target), Recording())

    def _recording(self, compiler: str, target: RunTarget, others: Sequence[RunTarget]) -> Recording:
        key = _recording_key(compiler, target)
        if key not in self._recorded:
            self._recorded[key] = self._record(compiler, target, others)
        return self._recorded[key]

    def _record(self, compiler: str, target: RunTarget, others: Sequence[RunTarget]) -> Recording:
        """Run a module as another config compiles it, on the first of its runtime configs that is here."""
        module = target.compile.module.name
        asked = [other for other in others if other.compile.compiler.name == compiler]
        if not asked:
            known = ", ".join(dict.fromkeys(other.compile.compiler.name for other in others)) or "none"
            why = (
                f"the cases of {module} are to agree with compiler config {compiler!r}, which runs it nowhere in suite "
                f"{target.compile.suite!r}; expected one of {known}"
            )
            return Recording(why=why)
        reasons = []
        missing = 0
        failed: Target | None = None
        ran: RunTarget | None = None
        failure: Failure | None = None
        cases: tuple[CaseOutcome, ...] = ()
        for other in asked:
            if (reason := host_mismatch(other.runtime)) is not None:
                missing += 1
                reasons.append(f"{other.name}: {reason}")
                continue
            if other.runtime.run_under:
                reasons.append(f"{other.name}: runs behind run_under, which gives no results back")
                continue
            try:
                self.devices(other.runtime)
                outcome = self.compiled(other.compile)
                if outcome.artifact is None:
                    failed, ran, failure, cases = other.compile, other, outcome.failure, ()
                    reasons.append(f"{failed.name}: {failure.summary if failure is not None else 'no artifact'}")
                    break
                folder = self._scratch_folder()
                concrete = replace(other, compile=self.concrete(other.compile))
                run = self._runs().run(
                    concrete, outcome.artifact, record=folder, only=self.settings.cases, on_wait=self._on_wait
                )
            except UnavailableError as error:
                missing += 1
                reasons.append(f"{other.name}: {error}")
                continue
            except RetargetError as error:
                failed, ran, cases = other, other, ()
                reasons.append(f"{other.name}: {error}")
                continue
            failed, ran, failure = (other, other, run.failure) if run.failure is not None else (None, None, None)
            cases = run.cases
            if (folder / OUTPUTS_INDEX).exists():
                return Recording(folder=folder, failed=failed, ran=ran, failure=failure, cases=cases)
            reasons.append(f"{other.name}: {failure.summary if failure is not None else 'gave nothing'}")
            break
        return Recording(
            why=f"there are no results of compiler config {compiler!r} to agree with: {'; '.join(reasons)}",
            failed=failed,
            ran=ran,
            failure=failure,
            cases=cases,
            unavailable=missing == len(asked),
        )

    def _scratch_folder(self) -> Path:
        if self._scratch is None:
            self._scratch = ScratchFolder("outputs")
        return self._scratch.subfolder()

    def compare(self, folders: tuple[Path, Path], sides: tuple[str, str]) -> OutputComparison:
        """Compare what two runs were recorded to give, exactly. `sides` are what the two are called."""
        return self._runs().compare(folders, sides)

    def statistics(self) -> dict[str, float]:
        """Compiled, reused and failed compiles, and seconds of compiling, as plain numbers for xdist's channel."""
        if self._build is None:
            return {}
        statistics = self._build.statistics
        return {name: getattr(statistics, name) for name in ("compiled", "reused", "failed", "seconds")}

    def notes(self) -> tuple[str, ...]:
        """What the store found amiss and mended, one line each."""
        return self._build.notes if self._build is not None else ()

    def kill(self) -> None:
        """Kill all worker processes, so that `close` ends at once, also where it is at it. Safe in a signal handler."""
        for service in self._started:
            service.kill()

    def close(self) -> None:
        """End all workers, at once."""
        if self._made is not None:
            self._made.close()
        build, run = self._build, self._run
        self._build = self._run = None
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None
        try:
            if build is not None:
                build.close()
        finally:
            if run is not None:
                run.close()

    def _is_needed(self, item: MatrixItem) -> bool:
        if item.skipping is not None:
            return False
        try:
            self.check_compiler(item.compile_target.compiler)
            if item.runtime is None:
                return True
            if host_mismatch(item.runtime) is not None:
                return False
            if item.compile_id not in self.selected_compiles:
                self.registry.driver(item.runtime.driver)
                self.devices(item.runtime)
        except (UnavailableError, RetargetError):
            return False  # its own setup will say so
        return True

    def _make(self, kind: str, description: Path, folder: Path) -> None:
        """Have a kind make its modules. A process without a device does it."""
        self._runs().make(kind, description, folder)

    def _builds(self) -> BuildService:
        if self._build is None:
            from retarget.engine.cache.store import Store
            from retarget.engine.compile.service import BuildService

            self._build = BuildService(
                store=Store(self.cache_dir),
                extensions=self.settings.extensions,
                workers=compiles_at_a_time(self.settings, self._processes),
                default_timeout=self.settings.compile_timeout,
                registry=self.registry,
            )
            self._started.append(self._build)
        return self._build

    def _runs(self) -> RunService:
        if self._run is None:
            from retarget.engine.run.lease import WaitNotes, current_holder
            from retarget.engine.run.service import RunService

            self._on_wait = WaitNotes(self._progress.note)
            self._run = RunService(
                extensions=self.settings.extensions,
                default_timeout=self.settings.run_timeout,
                holder=current_holder(self._command, self._run_id),
            )
            self._started.append(self._run)
        return self._run


def _recording_key(compiler: str, target: RunTarget) -> tuple[str, str]:
    return compiler, f"{target.compile.suite} {target.compile.module.name}"


SERVICES = pytest.StashKey[Services]()
"""Where a config keeps its services."""
