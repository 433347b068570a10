"""Writes the rules again from what a run showed."""

from __future__ import annotations
