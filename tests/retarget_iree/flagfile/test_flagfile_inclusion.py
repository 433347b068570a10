"""Flagfiles that include others: their flags, and the errors of those that cannot be read."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from retarget.support import DiagnosticsError
from retarget_iree.flagfile.loader import RunModuleCaseLoader
from retarget_iree.flagfile.parse import FlagFile, load_flagfile

try:
    os.lstat("a\0b")
except ValueError as error:
    NO_PATH = str(error)  # which Python words in another way from 3.14 on


@pytest.fixture(autouse=True)
def folder(cwd: Path) -> Path:
    path = cwd / "suite"
    path.mkdir()
    return path


def loaded(folder: Path, files: Mapping[str, str], first: str = "a.txt") -> FlagFile:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_flagfile(folder / first, folder)


def diagnostics(folder: Path, files: Mapping[str, str], first: str = "a.txt") -> list[str]:
    with pytest.raises(DiagnosticsError) as caught:
        loaded(folder, files, first)
    return str(caught.value).splitlines()


def test_the_module_may_stand_in_an_included_file(folder: Path) -> None:
    loaded(folder, {"a.txt": "--flagfile=b.txt\n", "b.txt": "--module=two.mlir\n"})
    (folder / "one.mlir").touch()
    (folder / "two.mlir").touch()
    (module,) = RunModuleCaseLoader().find_modules(folder, [folder / "a.txt"])
    assert module.path == folder / "two.mlir"


def test_errors_of_all_files_are_reported_at_once_each_in_its_own(folder: Path) -> None:
    files = {"a.txt": "--flagfile=b.txt\nfoo\n--inptu=1\n", "b.txt": "\n--input=1x\n"}
    assert diagnostics(folder, files) == [
        "suite/a.txt:2:1: found 'foo', expected a flag ('--name=value'), a comment ('#' or '//') or an empty line",
        "suite/a.txt:3:1: found --inptu, expected a flag of iree-run-module that bears on a case; did you mean 'input'?",
        "suite/b.txt:2:11: found no element type after '1x', expected one, such as f32",
    ]


@pytest.mark.parametrize(
    ("files", "diagnostic"),
    [
        ({"a.txt": "--flagfile\n"}, "a.txt:1:1: found --flagfile without a value, expected --flagfile=common_flags.txt"),
        ({"a.txt": "--flagfile=\n"}, "a.txt:1:1: found --flagfile without a value, expected --flagfile=common_flags.txt"),
        (
            {"a.txt": " --flagfile=comon.txt\n", "common.txt": ""},
            "a.txt:1:13: found no file 'comon.txt', expected a flagfile; did you mean 'common.txt'?",
        ),
        ({"a.txt": "--flagfile=sub\n", "sub/b.txt": ""}, "a.txt:1:12: found no file 'sub', expected a flagfile"),
        (
            {"a.txt": "--flagfile=a\0b\n"},
            "a.txt:1:12: found 'a\\x00b', which is not a path that can be read: " + NO_PATH,
        ),
        (
            {"a.txt": "--flagfile=a.txt\n"},
            "a.txt:1:12: found flagfiles that include each other in a cycle, a.txt → a.txt; expected a file that includes no more",
        ),
        (
            {"a.txt": "--input=1\n--flagfile=b.txt\n", "b.txt": "--flagfile=./c.txt\n", "c.txt": "--flagfile=../suite/b.txt\n"},
            "c.txt:1:12: found flagfiles that include each other in a cycle, a.txt → b.txt → c.txt → b.txt; expected a file that includes no more",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_included_is_an_error(folder: Path, files: dict[str, str], diagnostic: str) -> None:
    assert diagnostics(folder, files) == [f"suite/{diagnostic}"]


def test_an_included_file_that_is_no_text_is_reported(folder: Path) -> None:
    (folder / "b.txt").write_bytes(b"\xff")
    assert diagnostics(folder, {"a.txt": "--flagfile=b.txt\n"}) == [
        "suite/b.txt:1:1: found the byte 0xff, which is no UTF-8 text here; expected a flagfile of iree-run-module"
    ]


def test_files_that_include_others_twice_come_to_an_end(folder: Path) -> None:
    names = "abcdefghijklmnopqrstuvwxyz"
    files = {f"{one}.txt": f"--flagfile={other}.txt\n" * 2 for one, other in pairwise(names)}
    files["z.txt"] = "--input=1\n"
    (diagnostic,) = diagnostics(folder, files)
    assert diagnostic.endswith(":1: found more than 256 inclusions by a.txt, expected at most as many")
