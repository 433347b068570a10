"""What watched code depends on, and when a state is another."""

from __future__ import annotations

import os
import posix
import site
import sys
from collections.abc import Callable
from pathlib import Path, PurePath

import pytest
from retarget.support.dependencies import _place, dependency_state, machine_folders, opened, recording, watched


def recorded(work: Callable[[], object]) -> dict[str, set[str]]:
    """The names that some work depends on, by their sort."""
    with recording() as recorder, watched():
        work()
    found: dict[str, set[str]] = {}
    for sort, name, _ in recorder.dependencies:
        found.setdefault(sort, set()).add(name)
    return found


def test_the_state_of_a_folder_s_names_and_of_a_module_is_what_may_be_meant(tmp_path: Path) -> None:
    def states() -> tuple[str, str]:
        return dependency_state("names", str(tmp_path), {}), dependency_state("module", str(tmp_path / "mod"), {})

    found = [states()]
    (tmp_path / "mod").touch()
    found.append(states())
    (tmp_path / "mod").unlink()
    (tmp_path / "mod").mkdir()
    found.append(states())
    (tmp_path / "mod" / "__init__.py").touch()
    found.append(states())
    assert len({names for names, _ in found}) == 3  # the last one has the same names
    assert len({module for _, module in found}) == 3  # an empty folder is no other than a file


def test_the_state_of_a_variable_is_its_value_and_of_what_is_unseen_there_is_none() -> None:
    assert dependency_state("variable", "A", {}) == "unset"
    assert dependency_state("variable", "A", {"A": ""}) != dependency_state("variable", "A", {"A": "b"}) != "unset"
    assert dependency_state("unseen", "", {}) == ""


def test_files_folders_and_variables_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_VARIABLE", "x")
    (tmp_path / "file").touch()

    def work() -> None:
        (tmp_path / "file").read_text()
        list(tmp_path.iterdir())
        os.environ["SOME_VARIABLE"]
        (tmp_path / "absent").exists()

    def asked() -> tuple[object, ...]:
        return {**vars(posix)}, os.stat, os.path.join, PurePath.__str__, type(os.environ).__getitem__

    before = asked()
    with recording() as recorder, watched():
        work()
    assert asked() == before
    assert {one for one in recorder.dependencies if one[2] != dependency_state(*one[:2], os.environ)} == set()
    found = recorded(work)
    assert found["path"] >= {str(tmp_path / "file"), str(tmp_path / "absent")}
    assert found["names"] == {str(tmp_path)}
    assert found["variable"] >= {"SOME_VARIABLE"}
    assert found["installed"] == {""}
    assert "unseen" not in found


def test_modules_are_looked_for_and_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "watched_module.py").write_text("VALUE = 1\n")

    def work() -> None:
        import watched_module  # type: ignore[import-not-found]

        assert watched_module.VALUE == 1

    found = recorded(work)
    assert str(tmp_path / "watched_module") in found["module"]
    assert str(tmp_path / "watched_module.py") in found["path"]
    assert "watched_module" not in sys.modules
    assert not (tmp_path / "__pycache__").exists()


def test_nothing_is_recorded_where_nothing_is_watched(tmp_path: Path) -> None:
    with watched():
        (tmp_path / "x").touch()
    with recording() as recorder:
        (tmp_path / "x").touch()
    assert recorder.dependencies == ()


SITE = site.getsitepackages()[0]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (3, ""),
        ("a/x.py", "/w/a/x.py"),
        (b"a/x.py", "/w/a/x.py"),
        ("/other/../x", "/other/../x"),
        ("a/__pycache__/m.cpython-311.pyc", "/w/a/m.py"),
        ("a/__pycache__/m.txt", "/w/a/__pycache__/m.txt"),
        ("a/m.cpython-311.pyc", "/w/a/m.cpython-311.pyc"),
        (f"{SITE}/p/m.py", ""),
        (f"{SITE}/../m.py", f"{SITE}/../m.py"),
        ("/vendor/site-packages/m.py", "/vendor/site-packages/m.py"),
        (os.__file__, ""),
        (str(Path(os.__file__).parent), ""),
    ],
)
def test_a_place_is_absolute_and_none_where_a_version_says_what_is_there(
    monkeypatch: pytest.MonkeyPatch, path: object, place: str
) -> None:
    monkeypatch.setattr(Path, "cwd", lambda: Path("/w"))
    assert _place(path) == place


def test_of_code_whose_text_is_known_the_files_that_nobody_declares_count_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("declared", "below/it", "other", "imported_here.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    with recording() as recorder, opened([tmp_path / "declared", tmp_path / "below"]):
        __import__("imported_here")
        for name in ("declared", "below/it", "other"):
            (tmp_path / name).read_text()
        (tmp_path / "written").write_text("")
        os.listdir(tmp_path)  # noqa: PTH208
    monkeypatch.delitem(sys.modules, "imported_here")
    assert [(sort, name) for sort, name, _ in recorder.dependencies] == [("path", str(tmp_path / "other"))]


def test_the_folders_of_the_machine_are_none_that_hold_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = {str(folder) for folder in machine_folders()}
    assert {"/etc", "/usr/lib"} <= everywhere
    assert not {"/usr", "/usr/local"} & everywhere
    monkeypatch.setattr(Path, "cwd", lambda: Path("/usr/share/project"))
    assert everywhere - {str(folder) for folder in machine_folders(Path("/etc/npu/suite.toml"))} == {
        "/usr/share",
        "/etc",
    }
