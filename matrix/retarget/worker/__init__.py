"""Worker processes as their parent sees them: the protocol and the process handle."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
