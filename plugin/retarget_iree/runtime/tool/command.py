"""The command that runs an artifact by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from retarget.model import RuntimeConfig

from retarget_iree.toolchain import command


def run_module_command(config: RuntimeConfig, artifact: Path, arguments: Sequence[str]) -> tuple[str, ...] | None:
    """Return the `iree-run-module` command for an artifact, without `run_under`.

    None where a device of the config is not named by a URI: the tool takes no ordinals and no names.
    """
    uris = [_tool_uri(device) for device in config.devices] or [config.driver]
    if None in uris:
        return None
    devices = (f"--device={uri}" for uri in uris)
    tool = command("iree-run-module", config.toolchain)
    return (tool, *devices, f"--module={artifact}", *arguments, *config.flags)


def _tool_uri(device: str) -> str | None:
    """Return a device as IREE's own tools take it: a URI with a path of the driver's, not an ordinal or a name."""
    driver, separator, path = device.partition("://")
    if not separator:
        return None
    if not path:
        return driver
    return device if re.match(r"GPU-|[0-9a-fA-F]{8}", path) else None
