"""Numbers and lists as people and CMake read them."""

from __future__ import annotations

import pytest
from retarget.support import text as texts
from retarget.support.text import counted, decoded, listed, size_text


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("a b", "[=[a b]=]"),
        ("a]=]b", "[==[a]=]b]==]"),
        ("a]=", "[==[a]=]==]"),
        ("a]", "[=[a]]=]"),
        ("]==]]=]", "[===[]==]]=]]===]"),
    ],
)
def test_nothing_in_a_text_ends_an_argument_of_cmake(text: str, argument: str) -> None:
    assert texts.cmake_text(text) == argument


def test_a_semicolon_ends_no_word_of_a_list() -> None:
    assert texts.cmake_text(["a;b", "c"]) == r"[=[a\;b;c]=]"


def test_what_is_counted_has_one_or_several() -> None:
    assert [counted(number, "suite") for number in (0, 1, 2)] == ["0 suites", "1 suite", "2 suites"]


def test_of_many_names_three_are_listed() -> None:
    assert [listed("abcde"[:count]) for count in (0, 3, 4, 5)] == [
        "",
        "a, b, c",
        "a, b, c and 1 more",
        "a, b, c and 2 more",
    ]
    assert listed("abc", 1) == "a and 2 more"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (2**20, "1.0 MiB"),
        (5 * 2**30, "5.0 GiB"),
        (2**40, "1.0 TiB"),
        (2**50, "1024.0 TiB"),
    ],
)
def test_bytes_have_a_unit_that_suits_them(count: int, text: str) -> None:
    assert size_text(count) == text


def test_bytes_that_are_no_text_are_none() -> None:
    assert [decoded(content) for content in (b"a\xc3\xa9", b"", b"a\0b", b"\xff")] == ["aé", "", None, None]
