"""Targets for the doubles of `worker_doubles`, made without declaration files."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retarget.model import CompilerConfig, CompileTarget, Module, Origin, RunTarget, RuntimeConfig, Toolchain
from retarget.worker.messages import RunModule

EXTENSIONS = ("worker_doubles",)
ORIGIN = Origin(file=Path("matrix.toml"), key_path="")


def toolchain(path: Path | None) -> Toolchain:
    return Toolchain(name="mine", path=path, origin=ORIGIN)


def compile_target(
    folder: Path,
    name: str,
    text: str,
    *,
    flags: tuple[str, ...] = (),
    env: tuple[tuple[str, str], ...] = (),
    timeout: float | None = None,
) -> CompileTarget:
    """Write `text` as a module and return a target that compiles it."""
    path = folder / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    config = CompilerConfig(name="double", compiler="double", flags=flags, env=env, origin=ORIGIN)
    return CompileTarget(
        name=f"{name}_double",
        suite="doubles",
        kind="double",
        folder=folder,
        module=Module(name=name, path=path),
        compiler=config,
        flags=flags,
        timeout=timeout,
        tags=(),
    )


def runtime_config(
    name: str = "host-double",
    *,
    flags: tuple[str, ...] = (),
    env: tuple[tuple[str, str], ...] = (),
    run_under: tuple[str, ...] = (),
    concurrency: int | None = None,
) -> RuntimeConfig:
    return RuntimeConfig(
        name=name, driver="double", flags=flags, env=env, run_under=run_under, concurrency=concurrency, origin=ORIGIN
    )


def run_target(folder: Path, runtime: RuntimeConfig, *, timeout: float | None = None) -> RunTarget:
    compiled = compile_target(folder, "module", "")
    return RunTarget(
        name=f"{compiled.name}_{runtime.name}", compile=compiled, runtime=runtime, timeout=timeout, tags=()
    )


def request(target: RunTarget, artifact: Path, **known: Any) -> RunModule:
    return RunModule(target=target, artifact=artifact, **known)


def lines_of(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def has_ended(pid: int) -> bool:
    """True if the process is gone with all its threads, or a zombie that whoever adopted it has not reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "Z" and len(list(Path(f"/proc/{pid}/task").iterdir())) <= 1
    except FileNotFoundError:
        return sys.platform == "linux"  # gone since; elsewhere there is no /proc to ask


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait for `condition`; return whether it came true within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
