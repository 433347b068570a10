"""How a case is run out of process: by its kind's tool, its driver's, or `python3 -m retarget.worker.run_case`."""

from __future__ import annotations

import sys
from pathlib import Path

from retarget.extension.cases import RunsCasesOutside
from retarget.extension.drivers import RunPlan
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, Module, RunTarget, RuntimeConfig
from retarget.model.outcomes import Stage

__all__ = ["RUN_CASE", "check_command", "plan_by_hand", "run_case_plan"]

RUN_CASE = "retarget.worker.run_case"
"""What `python3 -m` runs."""
_TELLING = tuple((stage, rf".*?: failed at {stage.value}: (.*)") for stage in (Stage.LOAD, Stage.RUN, Stage.COMPARE))
"""How the command reports a failure: `RunPlan.telling`."""


def run_case_plan(
    *,
    kind: str,
    config: RuntimeConfig,
    artifact: Path,
    module: Module | None = None,
    folder: Path | None = None,
    case: str,
) -> RunPlan:
    """Return how this program runs a case (empty: all) of an artifact on a config's devices, without `run_under`.

    `folder` is the suite's. A kind whose cases are the artifact's functions needs no module.
    """
    source: list[str] = []
    files: list[str] = []
    if module is not None:
        source += [] if folder in {None, module.path.parent} else [f"--folder={folder}"]
        source += [f"--entry={module.entry}"] if module.entry else []
        files = [str(module.path), *map(str, module.data)]
    argv = (
        sys.executable,
        "-m",
        RUN_CASE,
        f"--kind={kind}",
        f"--driver={config.driver}",
        *(f"--device={device}" for device in config.devices),
        *(("--sanitize",) if config.sanitize else ()),
        f"--artifact={artifact}",
        *source,
        *((f"--case={case}",) if case else ()),
        *config.flags,
        *files,
    )
    return RunPlan(argv=argv, telling=_TELLING)


def plan_by_hand(registry: Registry, target: RunTarget, artifact: Path, *, case: str, function: str) -> RunPlan | None:
    """Return how a case is run by hand, without `run_under`: with the tool of its kind, or else that of the driver, or
    else with this package's. Runs by a tool are those of the driver, and other runs behind `run_under` this package's.

    Raises `RetargetError` for a driver that is not registered.
    """
    kind, config, module = target.compile.kind, target.runtime, target.compile.module
    driver, loader = registry.driver(config.driver), registry.case_loaders.get(kind)
    by_tool = registry.runs_by_tool(config)
    plan = None
    if isinstance(loader, RunsCasesOutside) and not config.run_under and not by_tool:
        plan = loader.run_case_outside(config, artifact, module, target.compile.folder, case)
    elif by_tool or not config.run_under:
        plan = driver.run_outside(config, artifact, function, kind)
    if plan is not None or by_tool or loader is None:
        return plan
    folder, case = target.compile.folder, case or function
    return run_case_plan(kind=kind, config=config, artifact=artifact, module=module, folder=folder, case=case)


def check_command(target: CompileTarget, artifact: Path) -> tuple[str, ...]:
    """Return the command that judges an artifact of a kind that runs nothing."""
    others = [name for name in target.known_compilers if name != target.compiler.name]
    return (
        sys.executable,
        "-m",
        RUN_CASE,
        f"--kind={target.kind}",
        f"--compilers={','.join([target.compiler.name, *others])}",
        f"--tags={','.join(target.tags)}",
        f"--artifact={artifact}",
        str(target.module.path),
    )
