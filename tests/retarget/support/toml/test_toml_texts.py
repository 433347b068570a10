"""Lists that are written, and errors of what is read."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli
from retarget.support.toml import read_toml, toml_list, toml_string, toml_table


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


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (None, 0, "cannot be read: No such file or directory; expected a TOML file"),
        (b'a = 1\nb = "\xff"\n', 2, "found the byte 0xff, expected UTF-8 text"),
        (
            b"a = " + b"1" * 5000,
            0,
            "found a number that is too long: Exceeds the limit (4300 digits) for integer string ",
        ),
    ],
)
def test_what_cannot_be_read_has_its_line_where_it_has_one(
    tmp_path: Path, content: bytes | None, line: int, message: str
) -> None:
    path = tmp_path / "m.toml"
    if content is not None:
        path.write_bytes(content)
    text, data, (diagnostic,) = read_toml(path)
    assert (text, data, diagnostic.line) == ("", {}, line)
    assert diagnostic.message.startswith(message)


def test_the_mark_that_editors_put_first_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_toml(tmp_path / "m.toml") == ("a = 1\n", {"a": 1}, ())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", '"plain"'),
        ('a"b', "'a\"b'"),
        ("a\\b", "'a\\b'"),
        ('it\'s "b"', '"it\'s \\"b\\""'),
        ("a\\\n", '"a\\\\\\n"'),
        ("\x7f", '"\\u007f"'),
        ("é", '"é"'),
    ],
)
def test_a_string_has_few_escapes_and_is_read_back(text: str, written: str) -> None:
    assert toml_string(text) == written
    assert tomli.loads(f"a = {written}") == {"a": text}


def test_a_table_has_the_keys_that_are_given() -> None:
    assert toml_table("t", a="x", b=None, c=["y", "z"], d=1.5, e=True, f=[]) == (
        '[[t]]\na = "x"\nc = ["y", "z"]\nd = 1.5\ne = true\nf = []'
    )
