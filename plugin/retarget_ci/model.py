"""The declarations of `ci.toml` as types; pydantic, which they need, is imported where a file is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retarget_ci.files import tables

    CiConfig = tables.CiConfig
    Event = tables.EventTable
    Runner = tables.RunnerTable
    Waiver = tables.WaiverTable
else:
    CiConfig = Event = Runner = Waiver = Any
