"""Declarations → targets: expansion, tags, selection expressions, what a host can run."""

from __future__ import annotations
