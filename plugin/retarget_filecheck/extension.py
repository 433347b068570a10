"""The hooks of the extension `filecheck`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CaseLoader, hookimpl

__all__ = ["retarget_case_loaders"]


@hookimpl
def retarget_case_loaders() -> Iterable[CaseLoader]:
    """The case loaders of this extension."""
    return ()
