"""What `retarget emit ctest` writes, and what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from mlir_modules import GOOD
from retarget.cli import main
from retarget.support import cmake_text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\nretarget_run_timeout = 7\n")
    (tmp_path / "matrix.toml").write_text(
        declarations(
            "root = true\n",
            compiler("vmvx", flags=VMVX_FLAGS, timeout=30),
            runtime("sync", concurrency=1, tags=["quick"]),
            runtime("phone", host_os="ios"),
            target("all", "vmvx", ["sync", "phone"]),
        )
    )
    (tmp_path / "linalg").mkdir()
    (tmp_path / "linalg/suite.toml").write_text(suite("linalg"))
    (tmp_path / "linalg/add.mlir").write_text(GOOD)
    monkeypatch.chdir(tmp_path / "linalg")
    return tmp_path


def test_a_file_that_lacks_a_target_fails_its_check(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "ctest", "-o", "out", "-m", "compile"]) == 0
    check = ["emit", "ctest", "--check", "-o", "out", "-m", "compile"]
    assert main(check) == 0
    (project / "linalg/new.mlir").write_text(GOOD)
    assert capsys.readouterr().out.startswith("out/CTestTestfile.cmake: 2 tests\n")
    assert main(check) == 1
    assert capsys.readouterr().err == (
        "out/CTestTestfile.cmake: found 1 target that no test runs: linalg/suite.toml::linalg::new_vmvx; write it "
        "again with `retarget emit ctest`\n"
    )
    (project / "linalg/expectations.toml").write_text('[[expectation]]\nmatch = "gone"\nstage = "run"\nreason = "r"\n')
    assert main(check) == 1
    assert "found 'gone', which names no module" in capsys.readouterr().err


def test_a_file_whose_labels_or_limits_are_not_as_declared_fails_its_check(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["emit", "ctest", "-o", "out", "suite.toml"]) == 0
    text = Path("out/CTestTestfile.cmake").read_text()
    assert "add_test([=[retarget check]=]" in text
    check = ["emit", "ctest", "--check", "-o", "out", "suite.toml"]
    Path("out/CTestTestfile.cmake").write_text(re.sub(r"  RESOURCE_LOCK .*\n", "", text))  # as of another machine
    assert main(check) == 0
    Path("suite.toml").write_text(suite("linalg", tags=["nightly"]))
    capsys.readouterr()
    assert main(check) == 1
    assert capsys.readouterr().err == (
        "out/CTestTestfile.cmake: found 3 tests whose labels, fixtures or limits are not as declared: linalg/suite.toml"
        "::linalg::add_vmvx, linalg/suite.toml::linalg::add_vmvx_sync, linalg/suite.toml::linalg::add_vmvx_phone; "
        "write it again with `retarget emit ctest`\n"
    )


@pytest.mark.slow
def test_a_test_has_labels_fixtures_locks_and_limits(project: Path) -> None:
    assert main(["emit", "ctest", "-o", "out", "-m", "not phone"]) == 0
    name = "[=[linalg/suite.toml::linalg::add_vmvx{}]=]"
    command = f"[=[{sys.executable}]=] [=[-m]=] [=[retarget.cli]=] [=[run]=]"
    words = ("-m", "retarget.cli", "emit", "ctest", "--check", "-o", "linalg/out", "-m=not phone", "linalg")
    check = " ".join(f"[=[{word}]=]" for word in (sys.executable, *words))
    assert (
        (project / "linalg/out/CTestTestfile.cmake").read_text()
        == f"""\
# Written by `retarget emit ctest`: write it again where declarations change.

add_test({name.format("")} {command} {name.format("")})
set_tests_properties({name.format("")} PROPERTIES
  WORKING_DIRECTORY [=[{project}]=]
  TIMEOUT [=[90]=]
  SKIP_RETURN_CODE [=[77]=]
  LABELS [=[compile;linalg;vmvx;all]=]
  FIXTURES_SETUP {name.format("")}
)

add_test({name.format("_sync")} {command} {name.format("_sync")})
set_tests_properties({name.format("_sync")} PROPERTIES
  WORKING_DIRECTORY [=[{project}]=]
  TIMEOUT [=[97]=]
  SKIP_RETURN_CODE [=[77]=]
  LABELS [=[run;linalg;vmvx;all;sync;local-sync;quick]=]
  FIXTURES_REQUIRED {name.format("")}
  RESOURCE_LOCK [=[retarget:cpu]=]
)

add_test([=[retarget check]=] {check})
set_tests_properties([=[retarget check]=] PROPERTIES
  WORKING_DIRECTORY [=[{project}]=]
  TIMEOUT [=[600]=]
  SKIP_RETURN_CODE [=[77]=]
  LABELS [=[check]=]
)
"""
    )


def test_nothing_to_write_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "ctest", "-o", "out", "-m", "nothing"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "note: -m 'nothing': no target has the tag 'nothing'",
        "retarget: found no target in . that is selected; `retarget list` shows all",
    ]
    assert not (project / "linalg/out").exists()


@pytest.mark.slow
def test_a_folder_that_cannot_be_made_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["emit", "ctest", "-o", "suite.toml/out"]) == 1
    assert (
        capsys.readouterr().err
        == "cannot write suite.toml/out/CTestTestfile.cmake: Not a directory; nothing was written\n"
    )


@pytest.mark.slow
def test_a_file_of_another_tool_is_kept(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = project / "linalg/out/CTestTestfile.cmake"
    there.parent.mkdir()
    there.write_text("# CMake generated Testfile for\n")
    assert main(["emit", "ctest", "-o", "out"]) == 1
    assert there.read_text() == "# CMake generated Testfile for\n"
    expected = "expected no such file; give -o a folder of its own, or move the file away"
    message = f"out/CTestTestfile.cmake was not written by `retarget emit ctest`, {expected}\n"
    assert capsys.readouterr().err == message
    there.unlink()
    assert [main(["emit", "ctest", "-o", "out"]) for _ in "12"] == [0, 0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "found an empty path, expected one to write to ('.' for the current folder)"),
        ("suite.toml", "found suite.toml, which is no folder; expected one to write to"),
    ],
)
def test_what_names_no_folder_is_wrong_usage(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["emit", "ctest", "-o", name])
    assert capsys.readouterr().err.splitlines()[-1] == f"retarget emit ctest: error: argument -o: {message}"


@pytest.mark.parametrize(
    ("text", "argument"),
    [("a b;c$", "[=[a b;c$]=]"), ("a]=]b", "[==[a]=]b]==]"), ("a]=", "[==[a]=]==]"), ("", "[=[]=]")],
)
def test_no_text_ends_its_bracket(text: str, argument: str) -> None:
    assert cmake_text(text) == argument


@pytest.mark.parametrize(("command", "statuses"), [("run", [0, 1, 2, 77, 130]), ("emit", [0, 1, 2])])
def test_help_lists_the_exit_statuses(capsys: pytest.CaptureFixture[str], command: str, statuses: list[int]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main([command, "--help"])
    cmake_list = capsys.readouterr().out.rpartition("exit status:\n")[2]
    assert [int(line.split()[0]) for line in cmake_list.splitlines()] == statuses
