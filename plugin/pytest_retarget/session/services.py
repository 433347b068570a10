"""The services of the items of one pytest process: the engine that compiles and runs, and what the session knows of
targets.

Under xdist each worker process has its own services; their pools share the cores, and the store's single flight lets
them work together. Nothing is started before something selected needs it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import asdict, replace
from retarget.session import TIMEOUTS, Commands, Trials
from retarget.worker import available_cores

from pytest_retarget.options import SETTINGS, Settings, usage_errors
from pytest_retarget.session.declared import cache_dir, declared
from pytest_retarget.session.progress import Progress

if TYPE_CHECKING:
    from retarget.worker import SpareWorker


def compiles_at_a_time(settings: Settings, processes: int) -> int:
    """This process's share of the compiles at a time, 1 or more, where `processes` pytest processes work together."""
    return max(1, (settings.jobs or available_cores()) // processes)


class Services(Trials):
    """The engine of one pytest process, with the session's settings."""

    settings: Settings

    def __init__(self, config: pytest.Config, spare: SpareWorker | None = None) -> None:
        from retarget.session import Engine  # only a session that runs targets needs it

        workerinput = getattr(config, "workerinput", {})
        self._progress = progress = Progress(config)
        settings, registry = config.stash[SETTINGS], declared(config).registry
        timeouts = replace(TIMEOUTS, compile=settings.compile_timeout, run=settings.run_timeout)
        commands = Commands(
            registry=registry,
            folder=config.invocation_params.dir,
            compiles=settings.artifacts is None,
            extensions=settings.extensions,
            toolchains=settings.toolchains,
            timeouts=timeouts,
        )
        executor = None
        if settings.cluster:
            from retarget.session import ExecutorSession

            of_executor = ExecutorSession(extensions=settings.extensions, jobs=settings.jobs or None)
            with usage_errors("--retarget-cluster: "):
                executor = of_executor.connect(settings.cluster)
        engine = Engine(
            registry=registry,
            cache=cache_dir(config),
            extensions=settings.extensions,
            compiles=compiles_at_a_time(settings, int(workerinput.get("workercount", 1))),
            timeouts=timeouts,
            cases=settings.cases,
            artifacts=settings.artifacts,
            export=settings.export,
            shared=not settings.no_cache,
            command=workerinput.get("mainargv", sys.argv),
            session=workerinput.get("testrunuid", ""),
            waiting=progress.waiting,
            note=progress.note,
            executor=executor,
            spare=spare,
            timing=(settings.benchmark.spread, settings.benchmark.seconds) if settings.benchmark else None,
        )
        in_full = config.get_verbosity() > 1
        super().__init__(engine=engine, registry=registry, commands=commands, settings=settings, in_full=in_full)
        progress.follow(lambda: self.engine.activity)

    def statistics(self) -> dict[str, float]:
        """Compiled and reused compiles, seconds of compiling, and what the shared store had and got, as plain
        numbers for xdist's channel."""
        found = (self.engine.statistics, self.engine.remote_statistics)
        return {name: value for one in found if one is not None for name, value in asdict(one).items()}

    def close(self) -> None:
        """End all workers, at once."""
        self._progress.close()
        super().close()


SERVICES = pytest.StashKey[Services]()
"""Where a config keeps its services."""
