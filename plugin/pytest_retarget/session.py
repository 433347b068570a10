"""What the items of one pytest process share: the engine that compiles and runs, and what the session knows of targets.

Under xdist each worker process has services of its own; their pools share the cores, and the store's single flight
lets them work together. Nothing is started before something selected needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import RunTarget
from retarget.model.locations import SourceLocations
from retarget.model.outcomes import Artifact, Failure, RunOutcome, Stage
from retarget.support.errors import RetargetError
from retarget.support.text import first_line
from retarget.targets.availability import host_mismatch
from retarget.worker.process import available_cores

from pytest_retarget.report.commands import Commands
from pytest_retarget.report.progress import Progress

from .options import Settings

if TYPE_CHECKING:
    from pytest_retarget.items.expected import Attempts
    from pytest_retarget.items.targets import MatrixItem

__all__ = ["SERVICES", "Services", "compiles_at_a_time"]


def compiles_at_a_time(settings: Settings, processes: int) -> int:
    """This process's share of the compiles at a time, 1 or more, where `processes` pytest processes work together."""
    return max(1, (settings.jobs or available_cores()) // processes)


class Services:
    """The engine of one pytest process, with the session's settings."""

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
        from retarget.engine.engine import Engine  # only a session that runs targets needs it
        from retarget.engine.references import ReferenceRuns
        from retarget.engine.run.lease import current_holder

        self.settings = settings
        self.registry = registry
        self.commands = Commands(
            registry=registry, folder=folder, compiles=settings.artifacts is None, extensions=settings.extensions
        )
        self.places = SourceLocations()
        self.selected: frozenset[str] = frozenset()
        self.selected_compiles: frozenset[str] = frozenset()
        self.exhausted: dict[str, Attempts] = {}
        """Flaky compiles that failed at every attempt, by their node ids: they are not tried for each run target."""
        self.engine = Engine(
            registry=registry,
            cache=cache_dir,
            extensions=settings.extensions,
            compiles=compiles_at_a_time(settings, processes),
            compile_timeout=settings.compile_timeout,
            run_timeout=settings.run_timeout,
            cases=settings.cases,
            artifacts=settings.artifacts,
            export=settings.export,
            holder=current_holder(command, run_id),
            progress=progress.of,
            note=progress.note,
        )
        self.references = ReferenceRuns(self.engine)

    def start(self, items: Sequence[MatrixItem]) -> None:
        """Queue every compile that the selection needs, in its order.

        What only run targets need that will be skipped here is not compiled ahead. The first compiles run while devices
        are still being opened and modules generated for those after them.
        """
        self.selected = frozenset(item.nodeid for item in items)
        self.selected_compiles = frozenset(item.nodeid for item in items if not item.runtime)
        self.engine.sweep()
        if self.settings.artifacts is not None:
            return
        queued: set[str] = set()
        for item in items:
            if item.compile_id not in queued and self._is_needed(item):
                queued.add(item.compile_id)
                with suppress(UnavailableError, RetargetError):  # its own setup will say so
                    self.engine.submit([item.compile_target])

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
        with. Outputs of the cases are written to the folder `record`, if there is one.
        """
        try:
            references, lacking = self.references.of(target, others)
        except RetargetError as error:
            failure = Failure(stage=Stage.LOAD, summary=first_line(str(error)), text=str(error))
            return RunOutcome(devices=(), failure=failure)
        return self.engine.run(
            target, artifact, record=record, references=references, lacking=lacking, skipping=skipping
        )

    def statistics(self) -> dict[str, float]:
        """Compiled, reused and failed compiles, and seconds of compiling, as plain numbers for xdist's channel."""
        statistics = self.engine.statistics
        return {} if statistics is None else asdict(statistics)

    def close(self) -> None:
        """End all workers, at once."""
        self.references.close()
        self.engine.close()

    def _is_needed(self, item: MatrixItem) -> bool:
        if item.skipping is not None:
            return False
        try:
            self.engine.check_compiler(item.compile_target.compiler)
            if item.runtime is None:
                return True
            if host_mismatch(item.runtime) is not None:
                return False
            if item.compile_id not in self.selected_compiles:
                self.registry.driver(item.runtime.driver)
                self.engine.devices(item.runtime)
        except (UnavailableError, RetargetError):
            return False  # its own setup will say so
        return True


SERVICES = pytest.StashKey[Services]()
"""Where a config keeps its services."""
