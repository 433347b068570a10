"""Utilities that depend on no other package: errors, terminal text, files, locks, TOML text with its lines."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
