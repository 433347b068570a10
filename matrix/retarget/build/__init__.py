"""Compiles modules: once per compile key, ahead of need, in processes of their own."""

from __future__ import annotations
