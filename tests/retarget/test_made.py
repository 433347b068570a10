"""Modules that a kind makes: made once, whole, and again when what makes them or what describes them changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from retarget.build.made import MADE_FOLDER, MadeModules, clear_made, made_folders
from retarget.errors import RetargetError
from retarget.extension import CaseRequest
from retarget.model import CompileTarget, Module
from targets_of_doubles import compile_target


class Maker:
    """A kind whose modules are the words of a file."""

    kind = "words"

    def __init__(self, version: str = "1") -> None:
        self._version = version
        self.asked: list[Path] = []

    def load(self, request: CaseRequest) -> list[object]:
        return []

    def version(self) -> str:
        return self._version

    def make(self, description: Path, folder: Path) -> None:
        self.asked.append(folder)
        for word in description.read_text().split():
            if word == "bad":
                msg = "bad cannot be made"
                raise RetargetError(msg)
            (folder / f"{word}.txt").write_text(word)

    def made(self, module: Module, folder: Path) -> Module:
        return replace(module, path=folder / f"{module.entry}.txt")


def target(folder: Path, text: str) -> CompileTarget:
    written = compile_target(folder, "listed", text)
    return replace(written, kind="words", module=replace(written.module, entry="one"))


def modules(cache: Path, maker: Maker) -> MadeModules:
    return MadeModules(cache / MADE_FOLDER, lambda kind, description, folder: maker.make(description, folder))


def test_a_module_gets_the_file_that_was_made_and_its_folder(tmp_path: Path) -> None:
    maker = Maker()
    found = modules(tmp_path / "cache", maker).resolve(target(tmp_path, "one two"), maker)
    assert found.module.path.read_text() == "one"
    assert found.module.path.parent == found.folder
    assert found.module.name == target(tmp_path, "one two").module.name


def test_modules_are_made_once_for_all_sessions(tmp_path: Path) -> None:
    maker = Maker()
    for _ in range(2):
        modules(tmp_path / "cache", maker).resolve(target(tmp_path, "one two"), maker)
    assert len(maker.asked) == 1


def test_another_version_or_description_has_them_made_again(tmp_path: Path) -> None:
    first = modules(tmp_path / "cache", Maker()).resolve(target(tmp_path, "one"), Maker())
    newer = modules(tmp_path / "cache", Maker("2")).resolve(target(tmp_path, "one"), Maker("2"))
    longer = modules(tmp_path / "cache", Maker()).resolve(target(tmp_path, "one two"), Maker())
    assert len({first.folder, newer.folder, longer.folder}) == 3


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    maker = Maker()
    with pytest.raises(RetargetError, match="bad cannot be made"):
        modules(tmp_path / "cache", maker).resolve(target(tmp_path, "one bad"), maker)
    assert made_folders(tmp_path / "cache") == ()
    assert not [path for path in (tmp_path / "cache" / MADE_FOLDER).iterdir() if path.is_dir()]


def test_a_cache_without_made_modules_has_none_to_clear(tmp_path: Path) -> None:
    assert clear_made(tmp_path) == 0


def test_clearing_frees_them(tmp_path: Path) -> None:
    maker = Maker()
    modules(tmp_path, maker).resolve(target(tmp_path, "one two"), maker)
    assert clear_made(tmp_path) == len("onetwo")
    assert made_folders(tmp_path) == ()
