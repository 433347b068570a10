"""Collects declared targets, compiles and runs them, and judges what came: for pytest's plugin and for commands."""

from __future__ import annotations

from retarget.support.doors import door

__getattr__ = door(__name__, __file__)
