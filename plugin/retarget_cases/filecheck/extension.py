"""The hooks of the extension `filecheck`.

Nothing here imports the package `filecheck`; what does is imported when a worker checks a text.
"""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CaseLoader, hookimpl

from retarget_cases.filecheck.loader import FileCheckLoader


@hookimpl
def retarget_case_loaders() -> Iterable[CaseLoader]:
    """The case loader `filecheck`."""
    return (FileCheckLoader(),)
