"""Which globs `retarget init` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.declare.initial import globs_for
from retarget.declare.sources import find_modules


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
