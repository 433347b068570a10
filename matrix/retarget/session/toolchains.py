"""Targets with another toolchain; the environment of a config's workers, which selects its toolchain; and its build."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TypeVar

from msgspec.structs import replace

from retarget.extension import Compiler, Driver, UnavailableError, overrides
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, CompileTarget, RunTarget, RuntimeConfig, Toolchain
from retarget.model.locations import SourceLocations
from retarget.support.errors import RetargetError
from retarget.worker.messages import DescribeBuild, Named
from retarget.worker.process import WorkerProcess
from retarget.worker.started import Spawner

_DESCRIBE_SECONDS = 60.0

_TargetT = TypeVar("_TargetT", bound=CompileTarget | RunTarget)


def worker_environment(registry: Registry, config: CompilerConfig | RuntimeConfig) -> tuple[tuple[str, str], ...]:
    """Return the variables of the workers of a config.

    The variables that select the toolchain have paths of this machine: they are no part of any key. Raises
    `UnavailableError` if the toolchain is not there or lacks what the config needs of it, `RetargetError` if no
    extension can use one.
    """
    toolchain = config.toolchain
    if toolchain is None:
        return config.env
    user: Compiler | Driver
    if isinstance(config, CompilerConfig):
        user, what = registry.compiler(config.compiler), f"compiler {config.compiler!r}"
    else:
        user, what = registry.driver(config.driver), f"driver {config.driver!r}"
    where = f"toolchain {toolchain.name!r} ({SourceLocations().location(toolchain.origin, 'path')})"
    if not overrides(user, "toolchain_environment"):
        msg = f"{where}: config {config.name!r} names it, and the {what} uses no toolchains"
        raise RetargetError(msg)
    try:
        selecting = user.toolchain_environment(config)
    except UnavailableError as error:
        msg = f"{where}: {error}"
        hint = f"`{toolchain.install}` installs it" if toolchain.install else error.hint
        raise UnavailableError(msg, hint) from error
    return (*config.env, *selecting)


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
            answer = worker.ask(message, Named, timeout=_DESCRIBE_SECONDS)
        return answer.text if isinstance(answer, Named) else answer.summary
    except (RetargetError, UnavailableError) as error:
        return str(error)


def with_toolchain(
    registry: Registry, target: _TargetT, toolchain: Toolchain | None, *, compiler: bool = True, runtime: bool = True
) -> _TargetT:
    """Return a target whose `compiler`, and whose driver (`runtime`) if it can, use a toolchain in place of their
    own; None is what is installed."""
    if isinstance(target, CompileTarget):
        return replace(target, compiler=replace(target.compiler, toolchain=toolchain)) if compiler else target
    config = target.runtime
    driver = registry.drivers.get(config.driver)
    if runtime and driver is not None and overrides(driver, "toolchain_environment"):
        config = replace(config, toolchain=toolchain)
    return replace(
        target, compile=with_toolchain(registry, target.compile, toolchain, compiler=compiler), runtime=config
    )
