"""What a case loader is asked about the module of a run."""

from __future__ import annotations

from ..extension import CaseRequest
from ..messages import RunModule

__all__ = ["case_request"]


def case_request(message: RunModule) -> CaseRequest:
    """Return the request as it stands before anything is loaded: the functions are not known yet."""
    return CaseRequest(
        module=message.module,
        source=message.source,
        data=message.data,
        entry=message.entry,
        folder=message.folder,
        compiler=message.compiler,
    )
