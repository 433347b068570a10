"""Worker processes as their parent sees them: the protocol and the process handle."""

from __future__ import annotations
