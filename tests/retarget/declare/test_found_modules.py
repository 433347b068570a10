"""Modules that a kind finds in files itself: what it may not find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from retarget.declare.sources import find_modules
from retarget.model import Module
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError


class Finder:
    """A kind that finds modules of these names in each file, or raises."""

    def __init__(self, *names: str, error: Exception | None = None) -> None:
        self.names, self.error = names, error

    def find_modules(self, folder: Path, srcs: list[Path]) -> list[Module]:
        if self.error is not None:
            raise self.error
        return [Module(name=name, path=path, entry=name) for path in srcs for name in self.names]


def found(folder: Path, finder: Any, **known: Any) -> tuple[list[str], list[str]]:
    (folder / "a.list").touch()
    modules, problems = find_modules(folder, ["*.list"], [], allow_empty=False, finder=finder, **known)
    return [module.name for module in modules], [f"{'.'.join(map(str, one.path))}: {one.message}" for one in problems]


def test_a_kind_finds_modules_in_a_file(tmp_path: Path) -> None:
    assert found(tmp_path, Finder("x", "deep/y")) == (["x", "deep/y"], [])


@pytest.mark.parametrize(
    ("finder", "message"),
    [
        (Finder(), "srcs: found no module in the files, expected one"),
        (Finder("x", "x"), "srcs: found two modules of the name 'x', expected one source for each module name"),
        (Finder("a b"), "srcs: found ' ' in the module name 'a b', expected a "),
        (Finder(""), "srcs: found nothing in the module name '', expected a "),
        (Finder(error=RetargetError("no list")), "srcs: no list"),
    ],
)
def test_what_is_no_module_is_a_problem_of_srcs(tmp_path: Path, finder: Finder, message: str) -> None:
    (problem,) = found(tmp_path, finder)[1]
    assert problem.startswith(message)


def test_errors_in_the_files_have_their_own_places(tmp_path: Path) -> None:
    error = DiagnosticsError([Diagnostic(file=tmp_path / "a.list", message="found x")])
    with pytest.raises(DiagnosticsError) as caught:
        found(tmp_path, Finder(error=error))
    assert caught.value is error
