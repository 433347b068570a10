"""Why a driver's library, or the Vulkan drivers behind the loader, do not load: in the words of those who tried."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys

__all__ = ["library_complaints", "vulkan_complaints"]

_CREATE_INSTANCE = "from retarget_iree.runtime.apis.vulkan import vulkan_features; vulkan_features()"
_SAID = re.compile(r"(?m)^(?:\[Vulkan Loader\] )?(?:ERROR|WARNING)[^:]*: *(.*)$")
_SECONDS = 60


def library_complaints(name: str) -> tuple[str, ...]:
    """Return why a library is there and does not load; none if it loads, or is not there."""
    try:
        ctypes.CDLL(name)
    except OSError as error:
        if not str(error).startswith(f"{name}: cannot open shared object file: No such file"):
            return (str(error),)
    return ()


def vulkan_complaints() -> tuple[str, ...]:
    """Return what the Vulkan loader says of the drivers (ICDs) that it does not start, each once.

    It reads once in a process what it is to say, so another one asks it.
    """
    if found := library_complaints("libvulkan.so.1"):
        return found
    environment = os.environ | {"VK_LOADER_DEBUG": "error,warn", "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", _CREATE_INSTANCE]
    try:
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return ()
    said = dict.fromkeys(match[1].strip() for match in _SAID.finditer(done.stderr))
    return tuple(line for line in said if "Found no drivers" not in line)
