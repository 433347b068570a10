"""An import into a folder that has files already: equal ones are left, others are replaced only by `--force`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from build_files import FIRST, import_here, write
from retarget.cli import main
from retarget.support import write_files
from retarget_import.command import _shown, _words


def test_what_cannot_be_written_leaves_nothing_written(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(cwd, FIRST, "a.mlir", "b.mlir")
    Path("suite.toml").mkdir()
    assert import_here() == 1
    assert capsys.readouterr().err == "cannot write suite.toml: found a folder; nothing was written\n"
    assert not Path("matrix.toml").exists()


def test_verify_reads_what_was_written_and_lists_what_differs(
    cwd: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(files: Iterable[tuple[Path, str]], **more: Any) -> list[Path]:
        return write_files([(path, text.replace("tiling", "tiling=false")) for path, text in files], **more)

    flagged = FIRST.replace("    driver", '    compiler_flags = ["--iree-opt-data-tiling"],\n    driver')
    write(cwd, flagged.replace('["a.mlir", "b.mlir"]', '["a.mlir"]'), "a.mlir")
    monkeypatch.setattr("retarget_import.command.write_files", spoil)
    assert import_here("--verify") == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "not in the result: a.mlir llvm-cpu local-task --iree-opt-data-tiling (check_llvm-cpu_local-task)",
        "not in the original: a.mlir llvm-cpu local-task --iree-opt-data-tiling=false "
        f"(a_llvm-cpu_local-task of suite {cwd.name})",
        "2 differences from the original",
    ]


def test_tags_that_the_original_lacks_are_a_difference(
    cwd: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(files: Iterable[tuple[Path, str]], **more: Any) -> list[Path]:
        return write_files([(path, text.replace('"first"', '"first", "second"')) for path, text in files], **more)

    one = FIRST.replace("    driver", '    tags = ["first"],\n    driver').replace('"a.mlir", "b.mlir"', '"a.mlir"')
    two = FIRST.replace("    driver", '    tags = ["second"],\n    driver').replace("llvm-cpu", "vmvx")
    write(cwd, one + two, "a.mlir", "b.mlir")
    monkeypatch.setattr("retarget_import.command.write_files", spoil)
    assert import_here("--verify") == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "with further tags second: a.mlir llvm-cpu local-task (check_llvm-cpu_local-task) "
        f"(a_llvm-cpu_local-task of suite {cwd.name})",
        "1 difference from the original",
    ]


def test_tags_that_the_result_lacks_are_a_difference(
    cwd: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(files: Iterable[tuple[Path, str]], **more: Any) -> list[Path]:
        return write_files([(path, text.replace('["first", "second"]', '["first"]')) for path, text in files], **more)

    tagged = FIRST.replace("    driver", '    tags = ["first", "second"],\n    driver')
    write(cwd, tagged.replace('"a.mlir", "b.mlir"', '"a.mlir"'), "a.mlir")
    monkeypatch.setattr("retarget_import.command.write_files", spoil)
    assert import_here("--verify") == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "without the tags second: a.mlir llvm-cpu local-task (check_llvm-cpu_local-task) "
        f"(a_llvm-cpu_local-task of suite {cwd.name})",
        "1 difference from the original",
    ]


def test_names_of_suite_configs_and_drivers_are_no_further_tags() -> None:
    one: Any = SimpleNamespace(
        name="s",
        targets=[
            SimpleNamespace(
                name=target,
                compilers=[SimpleNamespace(name=f"{target}-c")],
                runtimes=[SimpleNamespace(name=f"{target}-r", driver=f"{target}-d")],
            )
            for target in ("t", "u")
        ],
    )
    assert _words(one) == {"s", "t", "t-c", "t-r", "t-d", "u", "u-c", "u-r", "u-d"}
    assert _words(SimpleNamespace(name="s", targets=[])) == {"s"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("m", "b", "d", ("--x", "--y"), ("--z",), "arm"), "m b d --x --y --z arm"),
        (("m", "", "", (), (), ""), "m no backend compile only"),
    ],
)
def test_a_test_is_named_by_all_that_tells_it_from_others(key: Any, text: str) -> None:
    assert _shown(key) == text


def test_build_files_that_are_elsewhere_are_not_imported(cwd: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(cwd / "ops", FIRST, "a.mlir", "b.mlir")
    assert main(["import-bazel", "ops", "-o", "out"]) == 2
    assert capsys.readouterr().err == (
        "retarget: -o out: found ops/BUILD.bazel, which is not below it; expected a folder that has it; copy the tests "
        "first where they are to be elsewhere\n"
    )
    assert not Path("out").exists()
