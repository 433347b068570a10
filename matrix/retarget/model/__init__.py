"""The vocabulary as frozen data: what is declared, what it expands to, and its outcome; names and element types."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
