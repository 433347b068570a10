"""Which build of a compiler or of a runtime a config uses, for people."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from retarget.extension import DescribesBuild, UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, RuntimeConfig
from retarget.support.errors import RetargetError
from retarget.targets.availability import check_python_path
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
        product: object = registry.compiler(compiler) if compiler else registry.driver(driver)
        if not isinstance(product, DescribesBuild):
            return ""
        check_python_path(config)
        if not config.env:
            return registry.describe_build(compiler=compiler, driver=driver)
        with (
            closing(Spawner()) as spawner,
            closing(WorkerProcess(spawner=spawner, extensions=extensions, env=config.env)) as worker,
        ):
            answer = worker.ask(DescribeBuild(compiler=compiler, driver=driver), Named, timeout=_SECONDS)
        return answer.text if isinstance(answer, Named) else answer.summary
    except (RetargetError, UnavailableError) as error:
        return str(error)
