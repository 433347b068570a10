"""NumPy arrays: files of them, comparison, the report of a mismatch. Never imported in pytest's process."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
