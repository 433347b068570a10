"""The words after `bringup` that are no name of a ladder."""

from __future__ import annotations

__all__ = ["ACTIONS"]

ACTIONS = ("start", "driver", "status")
