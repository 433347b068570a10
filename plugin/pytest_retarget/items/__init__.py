"""Compile targets and run targets as pytest items, and what expectations make of their outcomes."""

from __future__ import annotations
