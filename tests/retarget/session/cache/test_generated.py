"""Modules that a kind makes: made once, whole, and again when what makes them or what describes them changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from retarget.extension import CaseRequest
from retarget.model import CompileTarget, Module
from retarget.session.cache.generated import GENERATED_FOLDER, ModuleGenerator, module_sets, remove_set, unfinished_sets
from retarget.session.cache.store import Store
from retarget.support.errors import RetargetError
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


def modules(cache: Path, maker: Maker) -> ModuleGenerator:
    return ModuleGenerator(cache / GENERATED_FOLDER, lambda kind, description, folder: maker.make(description, folder))


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
    assert module_sets(tmp_path / "cache") == ()
    assert not [path for path in (tmp_path / "cache" / GENERATED_FOLDER).iterdir() if path.is_dir()]


def test_they_are_removed_when_no_session_uses_them(tmp_path: Path) -> None:
    maker = Maker()
    session = modules(tmp_path, maker)
    found = session.resolve(target(tmp_path, "one two"), maker)
    (listed,) = module_sets(tmp_path)
    assert listed.size == len("onetwo")
    assert not remove_set(listed.path)
    assert found.module.path.read_text() == "one"
    session.close()
    assert remove_set(listed.path)
    assert list((tmp_path / GENERATED_FOLDER).iterdir()) == []


def test_they_are_not_removed_while_another_process_generates_them(tmp_path: Path) -> None:
    class Slow(Maker):
        def make(self, description: Path, folder: Path) -> None:
            whole = folder.with_name(folder.name.removeprefix(".new-"))
            assert not remove_set(whole)
            assert unfinished_sets(tmp_path, remove=True) == ()
            super().make(description, folder)

    maker = Slow()
    assert modules(tmp_path, maker).resolve(target(tmp_path, "one"), maker).module.path.read_text() == "one"


_KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = {path!r}
from test_generated import Maker, modules, target
class Killed(Maker):
    def make(self, description, folder):
        (folder / "half").write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
maker = Killed()
modules(Path(sys.argv[1]), maker).resolve(target(Path(sys.argv[1]), "one"), maker)
"""


@pytest.mark.slow
def test_what_a_killed_process_left_is_swept_and_stands_in_nobodys_way(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _KILLED.format(path=sys.path), str(tmp_path)]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL
    (left,) = unfinished_sets(tmp_path)
    assert left.name.startswith(".new-words-")
    maker = Maker()
    session = modules(tmp_path, maker)
    assert session.resolve(target(tmp_path, "one"), maker).module.path.read_text() == "one"
    session.close()
    assert unfinished_sets(tmp_path) == ()
    assert subprocess.run([*argv[:-1], str(tmp_path / "b")], check=False).returncode == -signal.SIGKILL
    assert len(unfinished_sets(tmp_path / "b", remove=True)) == 1
    assert list((tmp_path / "b" / GENERATED_FOLDER).iterdir()) == []


def test_a_read_only_cache_serves_what_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker()
    modules(tmp_path, maker).resolve(target(tmp_path, "one"), maker)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    for module in ("retarget.session.cache.generated", "retarget.support.scratch"):
        monkeypatch.setattr(f"{module}.hold_lock", refused)
    assert modules(tmp_path, maker).resolve(target(tmp_path, "one"), maker).module.path.read_text() == "one"
    assert len(maker.asked) == 1


def test_they_count_for_the_bound_of_the_store_and_go_by_their_last_use(tmp_path: Path) -> None:
    maker = Maker()
    sessions = [modules(tmp_path, maker) for _ in range(3)]
    words = ["older " * 20, "used " * 20, "newer " * 20]
    folders = []
    for number, (session, text) in enumerate(zip(sessions, words, strict=True)):
        name = text.split()[0]
        folders.append(session.resolve(target(tmp_path / name, f"one {'x' * 100} {text}"), maker).folder)
        os.utime(folders[-1], (number, number))
    sessions[0].close()
    sessions[2].close()
    store = Store(tmp_path, max_bytes=300)
    assert store.info().size == sum(listed.size for listed in module_sets(tmp_path)) > 300
    assert store.trim() > 100
    assert [folder.exists() for folder in folders] == [False, True, True]
    Store(tmp_path, max_bytes=10).trim()
    assert [folder.exists() for folder in folders] == [False, True, False]


def test_verifying_the_store_removes_those_that_were_changed(tmp_path: Path) -> None:
    maker = Maker()
    session = modules(tmp_path, maker)
    found = session.resolve(target(tmp_path, "one"), maker)
    found.module.path.write_text("two")
    store = Store(tmp_path)
    where = f"{found.folder}: its files were changed"
    assert store.verify().removed == (f"{where}; a running session uses them, so they stay",)
    session.close()
    assert store.verify().removed == (where,)
    assert store.verify().removed == ()
