"""Which globs `retarget init` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.declare.initial import Survey, globs_for, plan_suites, survey
from retarget.declare.sources import find_modules
from retarget.extension import Case, CaseLoader, CaseRequest, ModulesRequest, SuggestedSuite, Suggestions
from retarget.model import Module


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


def test_values_that_no_module_names_are_left_out_with_what_to_do(tmp_path: Path) -> None:
    for name in ("a.mlir", "a.toml", "a.npy", "other.npy"):
        (tmp_path / name).touch()
    advice = "has values: name it in a case"

    class Kind(CaseLoader):
        kind = "kind"

        def load(self, request: CaseRequest) -> tuple[Case, ...]:
            raise NotImplementedError

        def suggest_suites(self, request: ModulesRequest) -> Suggestions:
            module, *data = sorted(request.files, key=lambda path: path.suffix != ".mlir")
            suite = SuggestedSuite(files=(module,), comment=())
            return Suggestions(suites=(suite,), data=tuple((path, advice) for path in data))

        def find_modules(self, folder: Path, srcs: Sequence[Path]) -> tuple[Module, ...]:
            return tuple(Module(name=path.stem, path=path, data=(path.with_suffix(".toml"),)) for path in srcs)

        def data_files(self, module: Module, folder: Path) -> tuple[Path, ...]:
            return (folder / "sub" / ".." / f"{module.name}.npy",)

    registry: Any = SimpleNamespace(case_loaders={"kind": Kind()})
    plan = plan_suites(survey(tmp_path), registry, reference="", taken=())
    assert plan.left_out == ((tmp_path / "other.npy", advice),)
