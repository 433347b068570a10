"""The small parts: colours, the line that comes and goes, shares of the cores, the fixed marks."""

from __future__ import annotations

import pytest
from pytest_retarget.failures import at_path, split_place, strip_colour
from pytest_retarget.hints import unknown_words
from pytest_retarget.options import MARKERS, Settings
from pytest_retarget.progress import waiting
from pytest_retarget.session import compiles_at_a_time
from retarget.process import available_cores
from retarget.tags import MARK_FIELDS


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a.mlir:1:1: \x1b[0;1;31merror\x1b[0m: no", "a.mlir:1:1: error: no"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("[0m is no escape sequence", "[0m is no escape sequence"),
    ],
)
def test_escape_sequences_are_taken_out(text: str, plain: str) -> None:
    assert strip_colour(text) == plain


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a.mlir:3:8: error: no", "s t/a.mlir:3:8: error: no"),
        ("\x1b[1ma.mlir:3:8: no\nx\na.mlir:1:1: note", "\x1b[1ms t/a.mlir:3:8: no\nx\ns t/a.mlir:1:1: note"),
        ("b/a.mlir:3:8: or ba.mlir:3:8: or a.mlir alone", "b/a.mlir:3:8: or ba.mlir:3:8: or a.mlir alone"),
    ],
)
def test_a_compilers_message_gets_the_path_to_its_source(text: str, told: str) -> None:
    assert at_path(text, "a.mlir", "s t/a.mlir") == told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a and b", []),
        ("a or c or not d", ["c", "d"]),
        ("(c or a) and d(name='x')", ["c", "d"]),
    ],
)
def test_each_unknown_word_of_an_expression_is_found(text: str, said: list[str]) -> None:
    assert unknown_words(text, ["a", "b"]) == [f"-m {text!r}: no target has the tag {word!r}" for word in said]


@pytest.mark.parametrize(
    ("summary", "parts"),
    [
        ("a.mlir:3:8: error: no", ("error: no", 3)),
        ("error: no", ("error: no", 0)),
        ("a.mlir:3:8: ", ("a.mlir:3:8: ", 0)),
        ("b.mlir:3:8: error", ("b.mlir:3:8: error", 0)),
    ],
)
def test_the_place_is_told_apart_from_the_message(summary: str, parts: tuple[str, int]) -> None:
    assert split_place(summary, "a.mlir") == parts


@pytest.mark.parametrize(
    ("pending", "text"),
    [
        (1, "12 s for the compile of foo_vmvx"),
        (35, "12 s for the compile of foo_vmvx, 34 more to do"),
    ],
)
def test_the_line_of_progress_says_what_is_awaited(pending: int, text: str) -> None:
    assert waiting("foo_vmvx", 12.3, pending) == text


@pytest.mark.parametrize(
    ("jobs", "processes", "share"), [(8, 1, 8), (8, 3, 2), (1, 4, 1), (0, 1, available_cores()), (0, 1000, 1)]
)
def test_processes_share_the_compiles_at_a_time(jobs: int, processes: int, share: int) -> None:
    assert compiles_at_a_time(Settings(jobs=jobs), processes) == share


def test_the_fixed_marks_are_those_that_targets_get() -> None:
    told = {line.partition(":")[0] for line in MARKERS}
    assert told == {"compile", "run"} | {f"{name}({', '.join(fields)})" for name, fields in MARK_FIELDS}
