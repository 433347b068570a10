"""Compile targets and run targets as pytest items, and the verdict of each."""

from __future__ import annotations
