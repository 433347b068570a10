"""TOML text: read it, and find the line of a key."""

from __future__ import annotations
