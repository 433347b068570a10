"""How much of a report the results keep."""

from __future__ import annotations

import pytest
from pytest_retarget.results import LONGEST_TEXT, _kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a" * LONGEST_TEXT, "a" * LONGEST_TEXT),
        ("a" * LONGEST_TEXT + "bcd", "a" * LONGEST_TEXT + "\n… and 3 more characters"),
    ],
)
def test_a_text_is_kept_without_colour_up_to_its_longest(text: str, kept: str) -> None:
    assert _kept(text) == kept
