"""To be filled."""

from __future__ import annotations
