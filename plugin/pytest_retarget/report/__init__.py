"""What the terminal and junit show: failures, progress, the summary."""

from __future__ import annotations
