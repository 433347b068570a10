"""A new `matrix.toml` beside declarations that are there: names are declared once for who sees them."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, runtime
from retarget.declare.files import fitted
from retarget.declare.load import DeclarationLoader
from retarget.support.errors import RetargetError

NEW = f"# Imported.\n\n{declarations(compiler('vmvx'), runtime('local-sync'))}"
OTHER = runtime("local-sync", devices=["0"])
ROOT = f"root = true\n{OTHER}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_a_file_above_declares_makes_it_a_root(folder: Path) -> None:
    write(folder / "matrix.toml", OTHER)
    file = folder / "a" / "b" / "matrix.toml"
    text, notes = fitted(file, NEW)
    assert text == NEW.replace("# Imported.\n\n", "# Imported.\n\nroot = true\n\n")
    assert notes == (
        "a/b/matrix.toml has `root = true` and sees no file above it, because matrix.toml declares "
        "runtime_config 'local-sync' already",
    )
    write(file, text)
    assert DeclarationLoader().read_matrix_file(file) == ()
    assert fitted(file, NEW) == (text, notes)


@pytest.mark.parametrize(
    ("files", "is_root"),
    [
        ({}, False),
        ({"matrix.toml": runtime("local-task")}, False),
        ({"matrix.toml": compiler("local-sync")}, False),
        ({"matrix.toml": "[[runtime_config"}, False),
        ({"matrix.toml": "runtime_config = 1"}, False),
        ({"matrix.toml": OTHER, "a/b/.git": ""}, False),
        ({"matrix.toml": OTHER, "a/.git": ""}, False),
        ({"matrix.toml": OTHER, "a/matrix.toml": "root = true"}, False),
        ({"matrix.toml": OTHER, ".git": ""}, True),
        ({"a/matrix.toml": ROOT}, True),
        ({"suite.toml": OTHER}, False),
        ({"a/b/matrix.toml": ROOT}, False),
    ],
)
def test_it_is_a_root_only_where_it_would_see_the_same_name(files: dict[str, str], is_root: bool, folder: Path) -> None:
    for name, text in files.items():
        write(folder / name, text)
    text, notes = fitted(folder / "a" / "b" / "matrix.toml", NEW)
    assert ("root = true" in text, bool(notes)) == (is_root, is_root)


@pytest.mark.parametrize("name", ["a/b/suite.toml", "a/b/c/matrix.toml", "a/b/c/d/suite.toml"])
def test_a_file_below_that_declares_the_same_is_an_error_with_what_to_do(name: str, folder: Path) -> None:
    write(folder / name, OTHER)
    with pytest.raises(RetargetError) as error:
        fitted(folder / "a" / "b" / "matrix.toml", NEW)
    assert str(error.value).splitlines() == [
        "a/b/matrix.toml would declare names that files below it have:",
        f"  {name} declares runtime_config 'local-sync'",
        "expected other names there, a matrix.toml with `root = true` in their folders, which sees no file above it, "
        "or another folder to write to; nothing was written",
    ]
    assert fitted(folder / "a" / "b" / "matrix.toml", NEW, beside=[Path("a/b/../b", name[4:])]) == (NEW, ())


@pytest.mark.parametrize(
    "files",
    [
        {"a/b/c/matrix.toml": ROOT},
        {"a/b/c/matrix.toml": "root = true", "a/b/c/d/suite.toml": OTHER},
        {"a/b/c/matrix.toml": "root = true", "a/b/c/suite.toml": OTHER},
        {"a/b/c/.git": "", "a/b/c/d/suite.toml": OTHER},
        {"a/b/.git": "", "a/c/suite.toml": OTHER},
    ],
)
def test_a_file_below_that_does_not_see_it_may_declare_the_same(files: dict[str, str], folder: Path) -> None:
    for name, text in files.items():
        write(folder / name, text)
    assert fitted(folder / "a" / "b" / "matrix.toml", NEW) == (NEW, ())
