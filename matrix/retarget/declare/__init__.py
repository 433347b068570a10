"""TOML files → frozen suites, with every error of every file at once. The only user of pydantic."""

from __future__ import annotations
