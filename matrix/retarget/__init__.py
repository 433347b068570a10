"""retarget: declarative test matrices for retargetable compilers. The core; it imports neither pytest nor a compiler."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
