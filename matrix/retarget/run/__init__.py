"""Runs artifacts on devices, each runtime config in a process of its own."""

from __future__ import annotations
