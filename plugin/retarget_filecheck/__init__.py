"""The kind `filecheck`: what a compiler's output must say."""

from __future__ import annotations
