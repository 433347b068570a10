"""Which cases a selection has, and where declarations are."""

from __future__ import annotations

import pytest
from retarget.model.names import is_one_of


@pytest.mark.parametrize(
    ("patterns", "is_selected"), [((), True), (("b",), False), (("b", "a*"), True), (("a[1]",), True), (("a?",), False)]
)
def test_a_case_is_selected_by_its_name_or_a_glob(patterns: tuple[str, ...], is_selected: bool) -> None:
    assert is_one_of("a[1]", patterns) is is_selected
