"""The command that runs a case by hand. Apart, so that it is worded without what it needs to run."""

from __future__ import annotations

import sys
from pathlib import Path

from retarget.model import RuntimeConfig

__all__ = ["run_case_command"]


def run_case_command(config: RuntimeConfig, artifact: Path, cases: Path, case: str) -> tuple[str, ...]:
    """Return the command that runs a case (empty: all) of an artifact on a config's devices, without `run_under`."""
    return (
        sys.executable,
        "-m",
        "retarget_onnx.run_case",
        f"--driver={config.driver}",
        *(f"--device={device}" for device in config.devices),
        f"--module={artifact}",
        *((f"--case={case}",) if case else ()),
        *config.flags,
        str(cases),
    )
