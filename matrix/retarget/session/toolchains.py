"""The build of a config's compiler or driver, in the environment of its workers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, RuntimeConfig
from retarget.support.errors import RetargetError
from retarget.worker.messages import DescribeBuild, Named
from retarget.worker.process import WorkerProcess
from retarget.worker.started import Spawner

_DESCRIBE_SECONDS = 60.0


def describe_build(registry: Registry, extensions: Sequence[str], config: CompilerConfig | RuntimeConfig) -> str:
    """Return the build that a config uses, determined in the config's environment; or why there is none.

    Empty where its compiler or driver does not report it.
    """
    compiler, driver = (config.compiler, "") if isinstance(config, CompilerConfig) else ("", config.driver)
    try:
        env = registry.worker_environment(config)
        if not config.env:
            return registry.describe_build(compiler=compiler, driver=driver, toolchain=config.toolchain)
        with (
            closing(Spawner()) as spawner,
            closing(WorkerProcess(spawner=spawner, extensions=extensions, env=env)) as worker,
        ):
            message = DescribeBuild(compiler=compiler, driver=driver, toolchain=config.toolchain)
            answer = worker.ask(message, Named, timeout=_DESCRIBE_SECONDS)
        return answer.text if isinstance(answer, Named) else answer.summary
    except (RetargetError, UnavailableError) as error:
        return str(error)
