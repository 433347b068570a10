"""An import into a folder that has files already: equal ones are left, others are replaced only by `--force`."""

from __future__ import annotations

from pathlib import Path

import pytest
from build_files import FIRST, import_here, write
from retarget.cli import main


def test_what_cannot_be_written_leaves_nothing_written(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(cwd, FIRST, "a.mlir", "b.mlir")
    Path("suite.toml").mkdir()
    assert import_here() == 1
    assert capsys.readouterr().err == "cannot write suite.toml: found a folder; nothing was written\n"
    assert not Path("matrix.toml").exists()


def test_build_files_that_are_elsewhere_are_not_imported(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(cwd / "ops", FIRST, "a.mlir", "b.mlir")
    assert main(["import-bazel", "ops", "-o", "out"]) == 2
    assert capsys.readouterr().err == (
        "retarget: -o out: found ops/BUILD.bazel, which is not below it; expected a folder that has it; copy the tests "
        "first where they are to be elsewhere\n"
    )
    assert not Path("out").exists()
