"""What is a name or a tag, what is said of what is none, and which cases names and globs select."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from retarget.model.names import (
    as_config_name,
    config_name_error,
    is_glob,
    is_tag,
    name_error,
    selected_cases,
    tag_error,
)

RESERVED = [
    ("or", "found 'or', which has a meaning of its own in -m; expected another word"),
    ("True", "found 'True', which has a meaning of its own in -m; expected another word"),
    ("run", "found 'run', which distinguishes compile targets from run targets in -m; expected another word"),
    ("compile", "found 'compile', which distinguishes compile targets from run targets in -m; expected another word"),
    ("skipif", "found 'skipif', which is a mark of pytest's own; expected another word"),
]


@pytest.mark.parametrize(("word", "message"), RESERVED)
@pytest.mark.parametrize("error", [tag_error, name_error, config_name_error])
def test_words_with_a_meaning_in_m_are_no_names(error: Callable[[str], str | None], word: str, message: str) -> None:
    assert error(word) == message


@pytest.mark.parametrize("name", ["a", "9", "sm-80", "gfx90a+xnack", "v1.2"])
def test_names_of_configs_are_names_and_tags_too(name: str) -> None:
    assert (config_name_error(name), name_error(name), tag_error(name)) == (None, None, None)
    assert as_config_name(name) == name


def test_an_underline_is_in_names_of_suites_only() -> None:
    assert name_error("a_b") is None
    assert config_name_error("a_b") == (
        "found 'a_b', expected a name without '_', which separates the parts of a target's name: a letter or digit, "
        "then letters, digits and any of . + -; did you mean 'a-b'?"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("-a", "; did you mean 'a'?"),
        ("a b_c", "; did you mean 'a-b_c'?"),
        ("", ""),
        ("é", ""),
        ("_a.", "; did you mean 'a'?"),
    ],
)
def test_what_is_no_name_has_the_nearest_one(name: str, hint: str) -> None:
    expected = "expected a name: a letter or digit, then letters, digits and any of . _ + -"
    assert name_error(name) == f"found {name!r}, {expected}{hint}"


def test_tags_are_words_of_expressions() -> None:
    assert is_tag("vulkan://0[a]\\b")
    assert not is_tag("run")
    assert tag_error("a b") == "found 'a b', expected a word for -m: letters, digits and any of _ : + - . [ ] / \\"


@pytest.mark.parametrize(("text", "expected"), [("a*", True), ("a?", True), ("[ab]", True), ("a.b+c-d_e", False)])
def test_a_glob_has_what_no_name_has(text: str, expected: bool) -> None:
    assert is_glob(text) is expected


@pytest.mark.parametrize(
    ("only", "skipping", "names"),
    [
        ([], [], ["f", "g[1]", "g[2]"]),
        (["g*"], [], ["g[1]", "g[2]"]),
        (["g[1]"], [], ["g[1]"]),
        (["h"], [], []),
        ([], [("g*", True)], ["f"]),
        ([], [("g[1]", False), ("g*", True)], ["f", "g[1]"]),
        (["f", "g[2]"], [("f", True)], ["g[2]"]),
    ],
)
def test_cases_are_selected_and_skipped_by_the_first_that_matches(
    only: list[str], skipping: list[tuple[str, bool]], names: list[str]
) -> None:
    cases = [SimpleNamespace(name=name) for name in ("f", "g[1]", "g[2]")]
    assert [case.name for case in selected_cases(cases, only, skipping)] == names
