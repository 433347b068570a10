"""Which build of a compiler or of a runtime a config uses, for people."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from retarget.engine.toolchains import worker_environment
from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, RuntimeConfig
from retarget.support.errors import RetargetError
from retarget.worker.messages import DescribeBuild, Named
from retarget.worker.process import Spawner, WorkerProcess

__all__ = ["describe_build"]

_SECONDS = 60.0


def describe_build(registry: Registry, extensions: Sequence[str], config: CompilerConfig | RuntimeConfig) -> str:
    """Return the build that a config uses, determined in the config's environment; or why there is none.

    Empty where its compiler or driver does not report it.
    """
    compiler, driver = (config.compiler, "") if isinstance(config, CompilerConfig) else ("", config.driver)
    try:
        env = worker_environment(registry, config)
        if not config.env:
            return registry.describe_build(compiler=compiler, driver=driver, toolchain=config.toolchain)
        with (
            closing(Spawner()) as spawner,
            closing(WorkerProcess(spawner=spawner, extensions=extensions, env=env)) as worker,
        ):
            message = DescribeBuild(compiler=compiler, driver=driver, toolchain=config.toolchain)
            answer = worker.ask(message, Named, timeout=_SECONDS)
        return answer.text if isinstance(answer, Named) else answer.summary
    except (RetargetError, UnavailableError) as error:
        return str(error)
