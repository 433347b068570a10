"""Which globs `retarget init` writes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.declare.initial import Survey, globs_for, plan_suites, survey
from retarget.declare.sources import find_modules
from retarget.extension import Case, CaseLoader, CaseRequest, ModulesRequest, SuggestedSuite, Suggestions


@pytest.mark.parametrize(
    ("wanted", "others", "srcs", "exclude"),
    [
        (["a.mlir"], [], ["*.mlir"], []),
        (["a.mlir", "x/b.mlir"], [], ["**/*.mlir"], []),
        (["x/b.mlir", "x/c.mlir"], [], ["**/*.mlir"], []),
        (["x/b.mlir", "x/c.mlir"], ["d.mlir", "e.mlir", "y/f.mlir"], ["x/*.mlir"], []),
        (["a.mlir", "b.mlir", "c.mlir"], ["d.mlir"], ["*.mlir"], ["d.mlir"]),
        (["a.mlir"], ["d.mlir", "e.mlir"], ["a.mlir"], []),
        (["a.mlir", "b.onnx"], [], ["*.mlir", "*.onnx"], []),
        (["a.mlir", "b.mlir"], ["a b[1].mlir"], ["*.mlir"], ["a b?1?.mlir"]),
        (["a.mlir", "x/b.mlir"], ["build/c.mlir", "build/d.mlir"], ["**/*.mlir"], ["build/**"]),
        (["Makefile"], [], ["Makefile"], []),
    ],
)
def test_globs_find_exactly_the_modules(
    wanted: list[str], others: list[str], srcs: list[str], exclude: list[str], tmp_path: Path
) -> None:
    skipped = ["build"] if any(path.startswith("build/") for path in others) else []

    assert globs_for(wanted, [*wanted, *others], skipped) == (tuple(srcs), tuple(exclude))

    for path in (*wanted, *others):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    modules, problems = find_modules(tmp_path, srcs, exclude, allow_empty=False)
    assert not problems
    assert sorted(module.path.relative_to(tmp_path).as_posix() for module in modules) == sorted(wanted)


def test_names_are_globs_where_a_kind_finds_its_files_by_name() -> None:
    wanted = ["x/flags.txt", "y/flags.txt", "y/more.txt"]

    assert globs_for(wanted, [*wanted, "notes.txt"], by_name=True) == (("**/flags.txt", "**/more.txt"), ())


@pytest.fixture
def surveyed(tmp_path: Path) -> Survey:
    """Two modules, and files that can be none."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.mlir", "b.mlir", "c d.mlir", ".hidden.mlir"):
        (folder / name).touch()
    (tmp_path / "out.mlir").touch()
    (folder / "gone.mlir").symlink_to("nowhere")
    (folder / "link.mlir").symlink_to(folder / "a.mlir")
    (folder / "out.mlir").symlink_to(tmp_path / "out.mlir")
    return survey(folder)


NO_MODULES = {
    "c d.mlir": "has a blank or one of : * ? [ ] \\ in its path, which becomes the name of targets: "
    "give it another name",
    "gone.mlir": "is a link to nothing",
    "out.mlir": "links to a file outside this folder",
}


def test_files_that_cannot_be_modules_are_listed_with_the_reason(surveyed: Survey) -> None:
    assert [path.name for path in surveyed.files] == ["a.mlir", "b.mlir", "link.mlir"]
    assert {path.name: reason for path, reason in surveyed.unusable} == NO_MODULES


def test_each_kind_is_asked_for_what_those_of_a_higher_precedence_left(surveyed: Survey) -> None:
    asked: list[list[str]] = []

    class Kind(CaseLoader):
        def __init__(self, kind: str, precedence: int, take: int, *labels: str) -> None:
            self.kind, self.precedence, self._take, self._labels = kind, precedence, take, labels

        def load(self, request: CaseRequest) -> tuple[Case, ...]:
            raise NotImplementedError

        def suggest_suites(self, request: ModulesRequest) -> Suggestions:
            asked.append([path.name for path in request.files])
            taken = request.files[: self._take]
            return Suggestions(
                suites=tuple(SuggestedSuite(files=taken, comment=(), label=label) for label in self._labels)
            )

    loaders = {one.kind: one for one in (Kind("low", 1, 2, "x"), Kind("high", 2, 1, "", "y"), Kind("none", 0, 0))}
    registry: Any = SimpleNamespace(case_loaders=loaders)

    plan = plan_suites(surveyed, registry, reference="", taken=())

    assert [(suite.name, suite.kind) for suite in plan.suites] == [
        ("project-high", "high"),
        ("project-high-y", "high"),
        ("project-low-x", "low"),
    ]
    assert asked == [["a.mlir", "b.mlir", "link.mlir"], ["b.mlir", "link.mlir"], []]
    assert {path.name: reason for path, reason in plan.left_out} == NO_MODULES
