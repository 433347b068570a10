"""The vocabulary as frozen data: what is declared, what it expands to, and what became of it."""

from __future__ import annotations

from retarget.model.declared import *
