"""Which flagfiles `retarget init` finds: those of a module that is there, and none that others include."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from retarget.extension import ModulesRequest, Suggestions
from retarget_iree.flagfile import cases
from retarget_iree.flagfile.cases import flagfile_suites


def suggested(folder: Path, **texts: str) -> Suggestions:
    (folder / "m.mlir").touch()
    files = []
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        files.append(path)
    return flagfile_suites(ModulesRequest(folder=folder, files=tuple(files), reference="c"))


RUN = "--module=m.mlir\n--function=f\n--input=1xf32=1\n--expected_output=1xf32=1\n"


def test_flagfiles_are_one_suite_with_the_modules_that_they_use(tmp_path: Path) -> None:
    found = suggested(tmp_path, a_txt=RUN, b_flags=RUN, c=RUN, d_mlir=RUN, e_txt="some words\n")
    (suite,) = found.suites
    assert [path.name for path in suite.files] == ["a.txt", "b.flags", "c"]
    assert (suite.used, suite.by_name, found.left_out) == ((tmp_path / "m.mlir",), True, ())


def test_a_file_that_another_includes_is_no_flagfile_of_its_own(tmp_path: Path) -> None:
    found = suggested(
        tmp_path, a_txt=f"{RUN}  --flagfile = common.txt\n--flagfile=\n", common_txt="--input=1xf32=1\n" + RUN
    )
    (suite,) = found.suites
    assert [path.name for path in suite.files] == ["a.txt"]
    assert suite.used == (tmp_path / "m.mlir", tmp_path / "common.txt")


def test_what_looks_like_one_and_is_none_is_left_out_with_the_reason(tmp_path: Path) -> None:
    found = suggested(tmp_path, a_txt="--module=none.mlir\n--function=f\n")
    assert found.suites == ()
    ((path, reason),) = found.left_out
    assert path.name == "a.txt"
    assert reason.startswith("looks like a flagfile of iree-run-module, but: ")


def test_flagfiles_are_read_without_numpy() -> None:
    code = "import sys, retarget_iree.flagfile.cases; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_large_file_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "_LARGEST", len(RUN))
    assert len(suggested(tmp_path, a_txt=RUN).suites) == 1
    assert suggested(tmp_path, a_txt=f"{RUN}\n").suites == ()
