"""retarget: declarative test matrices for retargetable compilers. This is the core."""

from __future__ import annotations

__version__ = "0.2.0"
