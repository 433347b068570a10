"""Which cases a selection has, and where declarations are."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.model.declared import Origin
from retarget.model.locations import SourceLocations
from retarget.model.names import is_one_of


@pytest.mark.parametrize(
    ("patterns", "is_selected"), [((), True), (("b",), False), (("b", "a*"), True), (("a[1]",), True), (("a?",), False)]
)
def test_a_case_is_selected_by_its_name_or_a_glob(patterns: tuple[str, ...], is_selected: bool) -> None:
    assert is_one_of("a[1]", patterns) is is_selected


def test_a_declaration_has_the_line_of_its_key(cwd: Path) -> None:
    file = cwd / "suite.toml"
    file.write_text('\n[[module_test_suite]]\nname = "a"\n')
    origin = Origin(file=file, key_path="module_test_suite[0]")
    assert SourceLocations().location(origin) == "suite.toml:2"
    assert SourceLocations().location(origin, "name") == "suite.toml:3"
    file.unlink()
    assert SourceLocations().location(origin) == "suite.toml"
