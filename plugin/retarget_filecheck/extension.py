"""The hooks of the extension `filecheck`."""

from __future__ import annotations

__all__: list[str] = []
