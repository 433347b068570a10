"""How many diagnostics that are alike are listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError, did_you_mean, display_path, grouped


def diagnostic(message: str, line: int = 1, file: str = "expectations.toml") -> Diagnostic:
    return Diagnostic(file=Path(file), line=line, key_path="expectation[0]", message=message)


def unknown(number: int, file: str = "expectations.toml") -> Diagnostic:
    return diagnostic(
        f"found 'gone{number}', which names no module; {'remove it' if number % 2 else 'did you mean?'}", 4, file
    )


@pytest.mark.parametrize("more", [3, 299])
def test_many_of_one_file_that_differ_in_what_they_found_are_one_line(more: int) -> None:
    diagnostics = [unknown(number) for number in range(1 + more)]
    other = diagnostic("found the word 'metal', which no target has as a tag", 7)
    assert grouped([*diagnostics[:2], other, *diagnostics[2:]]) == [
        f"expectations.toml:4: expectation[0]: found 'gone0', which names no module; did you mean? (and {more} more "
        "like it in this file: 'gone1', 'gone2', 'gone3', …; -vv shows all)",
        str(other),
    ]


def test_a_few_and_those_of_different_files_have_a_line_each() -> None:
    diagnostics = [*(unknown(number) for number in range(3)), *(unknown(number, "deep/e.toml") for number in range(3))]
    assert grouped(diagnostics) == list(map(str, diagnostics))


def test_what_a_terminal_would_obey_is_shown_as_an_escape() -> None:
    diagnostic = Diagnostic(file=Path("a.toml"), line=1, key_path="", message="found '\x1b[31m\r\x00', expected\ttext")

    assert str(diagnostic) == r"a.toml:1: found '\x1b[31m\x0d\x00', expected" + "\ttext"
    assert str(RetargetError("found \x1b[2J\nexpected none")) == "found \\x1b[2J\nexpected none"


def test_an_error_shows_a_hundred_diagnostics_and_counts_the_others() -> None:
    error = DiagnosticsError([diagnostic(f"found {number}", number) for number in range(1, 10_001)])

    assert len(error.diagnostics) == 10_000
    assert str(error).splitlines()[0] == "expectations.toml:1: expectation[0]: found 1"
    assert str(error).splitlines()[99:] == ["expectations.toml:100: expectation[0]: found 100", "and 9900 more"]


def test_a_path_is_shown_as_it_is_where_the_current_folder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "gone").mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert display_path(folder / "a") == f"{folder.as_posix()}/a"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "there is none"),
        (2, "there is n0, n1"),
        (8, "there is n0, n1, n2, n3, n4, n5, n6, n7"),
        (9, "there is n0, n1, n2, n3, n4, n5, n6, n7 and 1 more"),
    ],
)
def test_of_many_known_words_eight_are_named(count: int, text: str) -> None:
    assert did_you_mean("unlike", [f"n{number}" for number in range(count)], lists=True) == f"; {text}"
