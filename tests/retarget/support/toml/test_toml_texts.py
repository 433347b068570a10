"""Lists that are written, and errors of what is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.support.toml.read import read_toml, toml_list


def test_a_list_is_on_one_line_where_it_fits() -> None:
    assert toml_list([]) == "[]"
    assert toml_list(["a", "b"]) == '["a", "b"]'
    split = '[\n    "a",\n    "b",\n]'
    assert toml_list(["a", "b"], is_split=True) == split
    assert toml_list(["a", "b"], before=90) == '["a", "b"]'
    assert toml_list(["a", "b"], before=91) == split


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a = 1\nb = = 2\n", 2, "found a TOML syntax error in column 5: invalid value"),
        ("a = 1\na = 2\n", 2, "found a TOML syntax error in column 6: duplicate key"),
        ("a = 1\nb = [", 2, "found a TOML syntax error in column 6: invalid value"),
    ],
)
def test_a_syntax_error_has_line_and_column(tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    _, _, (error,) = read_toml(tmp_path / "a.toml")
    assert (error.line, error.message) == (line, message)
