"""Which modules of those that a suite finds are its own: `only` and `without`."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.declare.sources import select_modules
from retarget.model import Module

MODULES = [
    Module(name=name, path=Path(f"{name}.mlir"), tags=tags)
    for name, tags in (("add", ("fast",)), ("mul", ()), ("deep/add", ("fast", "big")))
]


@pytest.mark.parametrize(
    ("only", "without", "kept"),
    [
        ([], [], ["add", "mul", "deep/add"]),
        (["add"], [], ["add"]),
        (["*add"], [], ["add", "deep/add"]),
        (["fast"], [], ["add", "deep/add"]),
        (["mul", "b*"], [], ["mul", "deep/add"]),
        ([], ["fast"], ["mul"]),
        (["fast"], ["big"], ["add"]),
    ],
)
def test_globs_select_by_names_and_tags(only: list[str], without: list[str], kept: list[str]) -> None:
    found, problems = select_modules(MODULES, only, without)
    assert ([module.name for module in found], problems) == (kept, ())


@pytest.mark.parametrize(
    ("only", "without", "path", "message"),
    [
        (
            ["add", "mull"],
            [],
            ("only", 1),
            "found 'mull', expected a glob that matches the name or a tag of a module; did you mean 'mul'?",
        ),
        ([], ["x*"], ("without", 0), "found 'x*', expected a glob that matches the name or a tag of a module"),
        (["mul"], ["m*"], ("without",), "found nothing left, expected to leave a module"),
    ],
)
def test_a_glob_that_matches_nothing_and_globs_that_leave_nothing_are_problems(
    only: list[str], without: list[str], path: tuple[str | int, ...], message: str
) -> None:
    (problem,) = select_modules(MODULES, only, without)[1]
    assert (problem.path, problem.message) == (path, message)
    assert select_modules([], only, without) == ((), ())
