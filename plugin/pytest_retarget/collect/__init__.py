"""From `suite.toml` to pytest items: files, marks, selection, what must run."""

from __future__ import annotations
