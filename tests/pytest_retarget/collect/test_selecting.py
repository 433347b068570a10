"""`retarget list`, `explain` and `check` are about the targets that pytest collects and selects, by construction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from retarget.cli import main

MATRIX = declarations(compiler("vmvx", flags=VMVX_FLAGS), runtime("sync"), target("cpu", "vmvx", ["sync"]))
SUITE = suite("{name}", "**/*.mlir", targets=["cpu"])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two suites, one of them with a subfolder; one in a folder that pytest does not enter; options in the ini file."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-m nothing")
    files = {
        ".git/HEAD": "",
        "pytest.ini": "[pytest]\naddopts = -k nothing --junitxml=report.xml\nnorecursedirs = build left-out\n",
        "matrix.toml": MATRIX,
        "suites/first/suite.toml": SUITE.format(name="first"),
        "suites/first/one.mlir": "",
        "suites/first/deep/two.mlir": "",
        "suites/first/empty/notes.md": "",
        "suites/second/suite.toml": SUITE.format(name="second"),
        "suites/second/one.mlir": "",
        "suites/left-out/suite.toml": "not = TOML",
        "build/suite.toml": SUITE.format(name="first"),
        "build/one.mlir": "",
        "suites/test_python.py": "raise SystemExit('imported')",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "meant"),
    [
        ("Suite.toml", SUITE, "suite.toml"),
        ("suites.toml", SUITE, "suite.toml"),
        ("Matrix.toml", MATRIX, "matrix.toml"),
        ("expectation.toml", "[[expectation]]\n", "expectations.toml"),
    ],
)
def test_a_file_whose_name_resembles_that_of_declarations_is_noted(
    project: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, meant: str
) -> None:
    file = project / "suites/first/empty" / name
    file.write_text(text)
    note = f"note: suites/first/empty/{name} is not read: declarations of its sort are in {meant}; rename it"
    assert main(["check"]) == 0
    assert note in capsys.readouterr().out
    assert main(["list"]) == 0
    assert note in capsys.readouterr().err
    file.write_text("[tool]\n")
    assert main(["check"]) == 0
    assert name not in capsys.readouterr().out
    file.write_text(text)
    file.with_name(meant).write_text("")
    main(["list"])
    assert name not in "".join(capsys.readouterr())


@pytest.mark.parametrize("options", [(), ("-n1",)])
def test_a_session_notes_a_suite_whose_file_is_misnamed(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    pytester.makefile(".toml", **{"below/Suite": SUITE})
    pytester.makepyfile("def test_python(): pass")
    stdout = pytester.runpytest(*options).stdout.str()
    assert "note: below/Suite.toml is not read: declarations of its sort are in suite.toml; rename it\n" in stdout


def test_check_says_that_the_only_file_is_misnamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites.toml").write_text(SUITE)
    assert main(["check"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "found no suite.toml and no matrix.toml at or below .",
        "suites.toml is not read: declarations of its sort are in suite.toml; rename it",
    ]


def test_a_suite_in_a_folder_that_pytest_does_not_enter_for_its_name_is_noted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = "note: build/suite.toml is not collected: pytest enters no folder called 'build'; "
    (project / "suites/left-out/suite.toml").unlink()
    assert main(["check"]) == 0
    assert "note" not in capsys.readouterr().out  # the project says itself which folders are left out
    (project / "pytest.ini").write_text("[pytest]\n")
    assert main(["check"]) == 0
    assert note in capsys.readouterr().out
    for paths in (["suites/first/suite.toml"], ["suites"], ["suites/../suites"], [".", "--ignore=build"]):
        assert main(["check", *paths]) == 0
        assert "note" not in capsys.readouterr().out
    assert main(["list"]) == 0
    assert note in capsys.readouterr().err
    (project / "build/deep").mkdir()
    (project / "build/suite.toml").rename(project / "build/deep/suite.toml")
    assert main(["check"]) == 0
    assert "note: build/deep/suite.toml is not collected: pytest" in capsys.readouterr().out
    for name in ("node_modules", "venv"):  # what is installed there is not this project's, and may be much
        (project / "build").rename(project / name)
        (project / name / "pyvenv.cfg").touch()
        assert main(["check"]) == 0
        assert "note" not in capsys.readouterr().out
        (project / name).rename(project / "build")


Listed = Callable[[Sequence[str]], tuple[list[str], list[str]]]


class Items:
    """A pytest plugin that notes the names of the selected items."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.names = [item.name for item in session.items]


@pytest.fixture
def listed(project: Path, capsys: pytest.CaptureFixture[str]) -> Listed:
    """The targets that pytest selects with some arguments, and those that `retarget list` prints."""

    def both(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
        items = Items()
        python = f"--ignore={project / 'suites/test_python.py'}"
        options = ["--collect-only", "--assert=plain", "--capture=no", "--junitxml=", python, "-m", "", "-k", ""]
        pytest.main([*options, *arguments], plugins=[items])
        wanted = items.names
        assert not (project / "report.xml").exists()
        capsys.readouterr()
        assert main(["list", "targets", *arguments]) == 0
        return wanted, [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]

    return both


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("folder", "arguments", "count"),
    [
        ("", [], 6),
        ("", ["suites/first"], 4),
        ("", ["suites/first/deep"], 2),
        ("suites/first/deep", [], 2),
        ("suites/first/empty", [], 0),
        ("", ["suites/first/one.mlir"], 2),
        ("", ["suites/first/suite.toml::first::deep/two_vmvx"], 1),
        ("", ["-m", "run and not second"], 2),
        ("", ["-k", "two"], 2),
        ("", ["-k", "first and not deep"], 2),
        ("", ["-k", "FIRST or second/"], 4),
        ("suites", ["-k", "suites"], 6),
        ("", ["-k", "one", "-m", "compile"], 2),
        ("", ["--ignore=suites/first"], 2),
        ("suites", ["--ignore", "second", "--ignore", "first/deep"], 2),
    ],
)
def test_list_prints_what_pytest_selects(
    folder: str, arguments: list[str], count: int, listed: Listed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(folder))
    wanted, printed = listed(arguments)
    assert printed == wanted
    assert len(printed) == count
    assert not list(Path().rglob("report.xml"))


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    "options",
    ["--ignore suites/first --of-no-plugin", "--ignore=suites/first", "'-onorecursedirs=first left-out build'"],
)
def test_options_of_the_project_that_bear_on_collection_are_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", f"-m nothing {options} -n 4")
    assert main(["list"]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]] == ["second", "second"]


def test_explain_takes_expressions_instead_of_a_name(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "-m", "run", "-k", "two"]) == 0
    assert capsys.readouterr().out.startswith("deep/two_vmvx_sync (run target)\n")
    assert main(["explain", "-m", "compile", "suites/second"]) == 0
    assert capsys.readouterr().out.startswith("one_vmvx (compile target)\n")
    assert main(["explain", "deep/two_vmvx", "-m", "run"]) == 2
    assert "found no target 'deep/two_vmvx' selected by -m 'run' in ." in capsys.readouterr().err


def test_explain_works_inside_a_suites_folder(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "suites/first/deep")
    assert main(["explain", "deep/two_vmvx_sync"]) == 0
    assert "suite            first" in capsys.readouterr().out


def test_check_inside_a_suites_folder_checks_the_suite(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "suites/first/deep")
    assert main(["check"]) == 0
    assert capsys.readouterr().out == "no errors in 2 files, 1 suite, 2 compile targets, 2 run targets\n"
    (project / "suites/first/suite.toml").write_text(SUITE.format(name="first").replace('"cpu"', '"cpy"'))
    assert main(["check"]) == 1
    assert capsys.readouterr().err.count("did you mean 'cpu'?") == 1


@pytest.mark.parametrize(
    ("conftest", "message"),
    [
        ("raise ValueError('no conftest')", "no conftest"),
        (
            "def pytest_collection_modifyitems():\n    raise ValueError('hook')",
            "pytest failed while it collected: INTERNALERROR> ValueError: hook; `pytest --collect-only` shows more\n",
        ),
    ],
)
def test_check_reports_what_keeps_pytest_from_collecting(
    project: Path, capsys: pytest.CaptureFixture[str], conftest: str, message: str
) -> None:
    (project / "suites" / "conftest.py").write_text(conftest)
    assert main(["check"]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("what", ["matrix.toml", "suites/first/empty/notes.md"])
def test_files_that_hold_no_targets_are_errors(what: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", what]) == 1
    assert what in capsys.readouterr().err
