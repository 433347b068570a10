"""A second import: what was edited by hand stays, what both changed is a conflict; modules that are copied."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.cli import main

CALL = """
load("//build_tools/bazel:iree_check_test.bzl", "iree_check_single_backend_test_suite")
iree_check_single_backend_test_suite(
    name = "check_llvm-cpu_local-task",
    srcs = ["a.mlir"],
    compiler_flags = ["--iree-opt-data-tiling"],
    driver = "local-task",
    target_backend = "llvm-cpu",
)
"""
MODULE = "func.func @f() { return }\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("ops").mkdir()
    Path("ops/BUILD.bazel").write_text(CALL)
    Path("ops/a.mlir").write_text(MODULE)
    Path("ops/b.mlir").write_text(MODULE)
    assert main(["import-bazel", "ops", "-o", "."]) == 0
    return tmp_path


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert text.count(old) == 1
    Path(path).write_text(text.replace(old, new))


def import_again(*more: str) -> int:
    return main(["import-bazel", "ops", "-o", ".", *more])


def states(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if ".toml: " in line]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_import_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    capsys.readouterr()
    assert import_again("--verify") == 0
    assert states(capsys) == ["matrix.toml: unchanged", "ops/suite.toml: unchanged"]
    assert contents(folder) == before


def test_edits_survive_where_the_original_is_as_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit("matrix.toml", 'driver = "local-task"', 'driver = "local-task"\ntimeout = 60')
    before = contents(folder)
    capsys.readouterr()
    assert import_again("--verify") == 0
    assert states(capsys) == ["matrix.toml: kept", "ops/suite.toml: unchanged"]
    assert contents(folder) == before


def test_edits_are_merged_with_what_the_original_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit("matrix.toml", 'driver = "local-task"', 'driver = "local-task"\ntimeout = 60')
    edit("ops/BUILD.bazel", '"--iree-opt-data-tiling"', '"--iree-opt-data-tiling", "--iree-opt-const-eval=false"')
    capsys.readouterr()
    assert import_again("--verify") == 0
    assert states(capsys) == ["matrix.toml: merged", "ops/suite.toml: unchanged"]
    text = Path("matrix.toml").read_text()
    assert "timeout = 60" in text
    assert "--iree-opt-const-eval=false" in text
    assert import_again() == 0
    assert states(capsys)[-2:] == ["matrix.toml: kept", "ops/suite.toml: unchanged"]


def test_what_both_changed_gets_conflict_markers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit("ops/suite.toml", 'srcs = ["a.mlir"]', 'srcs = ["a.mlir", "c.mlir"]')
    edit("ops/BUILD.bazel", '["a.mlir"]', '["a.mlir", "b.mlir"]')
    capsys.readouterr()
    assert import_again() == 1
    found = capsys.readouterr()
    assert "ops/suite.toml: conflict\n" in found.out
    assert found.err == (
        "ops/suite.toml: edited by hand where the import changed, too; choose between the lines that the markers "
        "enclose\n"
    )
    assert (
        '<<<<<<< edited by hand\nsrcs = ["a.mlir", "c.mlir"]\n=======\nsrcs = ["*.mlir"]\n>>>>>>> imported\n'
        in Path("ops/suite.toml").read_text()
    )
    assert main(["check", "."]) == 1
    resolved = Path("ops/suite.toml").read_text().partition("<<<<<<<")[0] + 'srcs = ["*.mlir"]\n'
    rest = Path("ops/suite.toml").read_text().partition(">>>>>>> imported\n")[2]
    Path("ops/suite.toml").write_text(resolved + rest)
    assert import_again("--verify") == 0


def test_verify_lists_what_edits_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit("matrix.toml", '"--iree-opt-data-tiling"', '"--iree-opt-data-tiling=false"')
    capsys.readouterr()
    assert import_again("--verify") == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "not in the result: ops/a.mlir llvm-cpu local-task --iree-opt-data-tiling (check_llvm-cpu_local-task)",
        "not in the original: ops/a.mlir llvm-cpu local-task --iree-opt-data-tiling=false "
        "(a_llvm-cpu_local-task of suite ops)",
        "2 differences from the original",
    ]


def test_a_file_that_is_gone_takes_its_suite_with_it_unless_that_was_edited(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("kept", "gone"):
        Path(name).mkdir()
        Path(name, "BUILD.bazel").write_text(CALL)
        Path(name, "a.mlir").write_text(MODULE)
    assert main(["import-bazel", ".", "-o", "."]) == 0
    with Path("kept/suite.toml").open("a") as stream:
        stream.write("# mine\n")
    assert import_again() == 1
    assert capsys.readouterr().err == (
        "import-bazel.lock: the last import read gone/BUILD.bazel, kept/BUILD.bazel as well, expected all its files; "
        "name them again, or import into another folder\n"
    )
    Path("kept/BUILD.bazel").unlink()
    Path("gone/BUILD.bazel").unlink()
    assert import_again() == 0
    assert states(capsys) == [
        "gone/suite.toml: removed",
        "kept/suite.toml: kept",
        "matrix.toml: written",
        "ops/suite.toml: unchanged",
    ]
    assert not Path("gone/suite.toml").exists()


def test_files_that_no_import_wrote_are_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("import-bazel.lock").unlink()
    Path("matrix.toml").write_text("root = true\n")
    before = contents(folder)
    assert import_again() == 1
    assert capsys.readouterr().err == (
        "matrix.toml: was not written by an import, expected no such file; move it away, or import into another "
        "folder\n"
    )
    assert contents(folder) == before


def test_a_lock_file_of_another_sort_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("import-bazel.lock").write_text("[]")
    assert import_again() == 1
    assert capsys.readouterr().err == (
        "import-bazel.lock: cannot be read as what an import keeps; expected this version's file: remove it to import "
        "anew\n"
    )


def test_modules_are_copied_to_a_folder_elsewhere_but_not_over_edits(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("matrix.toml").unlink()
    assert main(["import-bazel", "ops", "-o", "out", "--verify"]) == 0
    assert sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*")) == [
        "a.mlir",
        "import-bazel.lock",
        "matrix.toml",
        "suite.toml",
    ]
    assert main(["check", "out"]) == 0
    Path("ops/a.mlir").write_text(f"// newer\n{MODULE}")
    assert main(["import-bazel", "ops", "-o", "out"]) == 0
    assert Path("out/a.mlir").read_text() == f"// newer\n{MODULE}"
    Path("out/a.mlir").write_text("// mine\n")
    capsys.readouterr()
    assert main(["import-bazel", "ops", "-o", "out"]) == 0
    assert "note: a.mlir was edited by hand: it stays as it is\n" in capsys.readouterr().out
    assert Path("out/a.mlir").read_text() == "// mine\n"
    Path("out/a.mlir").unlink()
    Path("out/a.mlir").mkdir()
    assert main(["import-bazel", "ops", "-o", "out"]) == 1
    assert capsys.readouterr().err == "out/a.mlir: cannot be read: found a folder\n"


def test_a_lock_file_that_cannot_be_read_is_not_to_be_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "import-bazel.lock").unlink()
    (folder / "import-bazel.lock").mkdir()
    assert import_again() == 1
    message = "cannot be read: Is a directory; expected what the last import wrote, or no such file"
    assert capsys.readouterr().err == f"import-bazel.lock: {message}\n"
