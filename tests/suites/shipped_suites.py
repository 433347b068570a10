"""The suites of this repository, read once for all tests of a process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from declaration_texts import load_all
from retarget.model import Suite
from retarget.session import load_extensions

__all__ = ["SUITES", "all_suites"]

SUITES = Path(__file__).resolve().parents[2] / "suites"


@cache
def all_suites() -> tuple[Suite, ...]:
    return load_all([SUITES], registry=load_extensions())
