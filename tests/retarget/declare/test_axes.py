"""Product declarations."""

from __future__ import annotations

import pytest
from retarget.declare.read import MAX_COMBINATIONS, combinations, fill
from retarget.support.toml import Problem


def test_the_last_axis_turns_fastest() -> None:
    found, problems = combinations({"opt": ["O0", "O3"], "n": [1, 2]}, [])
    assert problems == ()
    assert found == ({"opt": "O0", "n": 1}, {"opt": "O0", "n": 2}, {"opt": "O3", "n": 1}, {"opt": "O3", "n": 2})


@pytest.mark.parametrize(
    ("axes", "exclude", "path", "message"),
    [
        ({"a": []}, [], ("axes", "a"), "found an empty axis, expected at least one value"),
        ({"a": [1, "1"]}, [], ("axes", "a", 1), "found '1' a second time, expected distinct values"),
        (
            {"1a": [1]},
            [],
            ("axes", "1a"),
            "found the axis '1a', expected a letter or '_', then letters, digits, '_' and '-'",
        ),
        ({}, [{"a": 1}], ("exclude", 0), "found a combination, but this config has no axes"),
        ({"a": [1, 2]}, [[1, 2]], ("exclude", 0), "found 2 values, expected 1, one for each of a"),
        ({"a": [1, 2]}, [{}], ("exclude", 0), "found an empty table, expected axes and values"),
        (
            {"opt": [1, 2]},
            [{"op": 1}],
            ("exclude", 0, "op"),
            "found the unknown axis 'op', expected one of opt; did you mean 'opt'?",
        ),
        (
            {"a": [1, 2]},
            [{"a": 1}, {"a": 3}],
            ("exclude", 1),
            "found a combination that the axes do not have, expected one that they have",
        ),
        ({"a": [1]}, [{"a": 1}], ("exclude",), "found every combination, expected one to be left"),
    ],
)
def test_errors(
    axes: dict[str, list[str | int]], exclude: list[object], path: tuple[str | int, ...], message: str
) -> None:
    assert combinations(axes, exclude)[1] == (Problem(path, message),)


def test_more_combinations_than_the_limit_are_an_error_that_says_how_many() -> None:
    most = {"a": list(range(100)), "b": list(range(100))}
    exclude: list[object] = [[n, n] for n in range(100)]
    assert len(combinations(most, exclude)[0]) == MAX_COMBINATIONS - 100 == 9900
    message = (
        "found 27000 combinations (30 x 30 x 30), expected at most 10000; "
        "shorten an axis, or declare what is needed one by one"
    )
    too_many = {axis: list(range(30)) for axis in "abc"}
    assert combinations(too_many, []) == ((), (Problem(("axes",), message),))


def test_fill_puts_values_in_place_of_their_axes() -> None:
    values = {"opt": "O3", "n": 2}
    assert fill("cc-{opt}-{n}{n}", values) == "cc-O3-22"
    assert fill("canonicalize{top-down=false} {{opt}} {other}", values) == "canonicalize{top-down=false} {opt} {other}"
    assert fill("{opt}", {}) == "{opt}"
