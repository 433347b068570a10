"""Time limits in seconds where a target declares none, the same for pytest and for the commands."""

from __future__ import annotations

__all__ = ["CHECK_TIMEOUT", "COMPILE_TIMEOUT", "OPEN_TIMEOUT", "RUN_TIMEOUT"]

COMPILE_TIMEOUT = 600.0
RUN_TIMEOUT = 120.0
OPEN_TIMEOUT = 60.0
"""For opening a runtime config's devices, and for listing a driver's."""
CHECK_TIMEOUT = 60.0
"""For one check of a driver: on a device that works they take less than a second."""
