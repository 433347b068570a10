"""Options and marks of the plugin."""

from __future__ import annotations

from pytest_retarget.options import MARKERS, parse_seconds
from retarget.targets.selection import MARK_FIELDS


def test_seconds_may_be_parts_of_one() -> None:
    assert parse_seconds("0.5") == 0.5


def test_the_fixed_marks_are_those_that_targets_get() -> None:
    printed = {line.partition(":")[0] for line in MARKERS}
    assert printed == {"compile", "run"} | {f"{name}({', '.join(fields)})" for name, fields in MARK_FIELDS}
