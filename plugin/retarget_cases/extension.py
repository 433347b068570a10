"""The hooks of the extension `cases`."""

from __future__ import annotations

__all__: list[str] = []
