"""The pytest plugin, as the entry point `retarget` of the group `pytest11` names it."""

from __future__ import annotations

__all__: list[str] = []
