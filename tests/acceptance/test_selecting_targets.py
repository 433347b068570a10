"""What a pytest user types, and which targets that selects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from acceptance_support import DOUBLES, ELSEWHERE, Project, suite
from mlir_modules import GOOD
from session_output import ids

SUITE = "suites/suite.toml::linalg::"
FOR_ONE = ["", "_sync", "_task"]


@pytest.fixture
def two(project: Project) -> Project:
    project.cpu(one=GOOD, two=GOOD)
    return project


def names(result: pytest.RunResult) -> list[str]:
    return [line.removeprefix(SUITE) for line in ids(result)]


def test_every_target_has_a_node_id_made_of_file_suite_and_name_in_declared_order(two: Project) -> None:
    expected = [f"{SUITE}{module}_vmvx{runtime}" for module in ("one", "two") for runtime in FOR_ONE]
    assert ids(two.run("--co", "-q", "suites")) == expected
    assert ids(two.run("--co", "-q")) == expected
    assert ids(two.run("--co", "-q", "suites/suite.toml")) == expected
    assert ids(two.run("--co", "-q", "suites/suite.toml::linalg")) == expected


def test_a_node_id_selects_its_target_alone(two: Project) -> None:
    assert names(two.run("--co", "-q", SUITE + "one_vmvx")) == ["one_vmvx"]
    both = two.run("--co", "-q", SUITE + "two_vmvx_task", SUITE + "one_vmvx_sync")
    assert names(both) == ["two_vmvx_task", "one_vmvx_sync"]


def test_a_module_on_the_command_line_selects_its_targets_under_their_usual_ids(two: Project) -> None:
    two.write({"suites/deep/three.mlir": GOOD, "suites/suite.toml": suite(srcs="**/*.mlir")})
    expected = [f"{SUITE}two_vmvx{runtime}" for runtime in FOR_ONE]
    assert ids(two.run("--co", "-q", "suites/two.mlir")) == expected
    deep = [f"{SUITE}deep/three_vmvx{runtime}" for runtime in FOR_ONE]
    assert ids(two.run("--co", "-q", "suites/deep/three.mlir")) == deep
    assert len(ids(two.run("--co", "-q", "suites/two.mlir", "suites/suite.toml"))) == 9


@pytest.mark.parametrize(
    "option",
    ["--ignore=suites/deep", "--ignore=suites/deep/er/four.mlir", "--ignore-glob=*/er", "--ignore-glob=*four*"],
)
def test_modules_inside_a_suite_are_ignored_as_files_are(two: Project, option: str) -> None:
    two.write(
        {
            "suites/deep/er/four.mlir": GOOD,
            "suites/suite.toml": suite(srcs="**/*.mlir"),
            "suites/expectations.toml": '[[expectation]]\nmatch = "deep/er/*"\noutcome = "skip"\nreason = "known"\n',
        }
    )
    result = two.run("--co", "-q", option)
    assert names(result) == [f"{module}_vmvx{runtime}" for module in ("one", "two") for runtime in FOR_ONE]
    assert result.ret == 0, "a rule about what is left out is no error"
    assert len(names(two.run("--co", "-q", option, "suites/deep/er/four.mlir"))) == 3, "what is named goes first"


def test_a_folder_inside_an_invalid_suites_shows_the_error_once(two: Project) -> None:
    two.write({"suites/deep/three.mlir": GOOD, "suites/deep/four.mlir": GOOD, "suites/suite.toml": "x = 1\n"})
    result = two.run("suites/deep")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert len([line for line in result.outlines if line.startswith("suites/suite.toml:1: x: ")]) == 1
    assert not any("not collected" in line for line in result.outlines)


def test_a_module_that_no_suite_declares_is_an_error_that_says_where_it_was_looked_for(two: Project) -> None:
    two.write({"suites/notes.mlir.bak": "hello"})
    result = two.run("suites/notes.mlir.bak")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "suites/notes.mlir.bak: no suite declares this module; looked in suites/suite.toml" in result.outlines


@pytest.mark.skipif(pytest.version_tuple < (9, 2), reason="pytest refuses such a word since 9.2")
def test_a_word_that_is_no_tag_is_refused_under_strict_markers(two: Project) -> None:
    result = two.run("--co", "-q", "--strict-markers", "-m", "vulcan")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*Unknown marker(s) in '-m' expression: vulcan.*"])


def test_a_tag_of_suites_that_are_not_collected_is_no_unknown_word(two: Project) -> None:
    two.write({"others/suite.toml": suite("others").replace("\n", '\ntags = ["nightly"]\n', 1)})
    result = two.run("--co", "-q", "--strict-markers", "suites", "-m", "compile and not nightly")
    assert names(result) == ["one_vmvx", "two_vmvx"]


def test_keywords_match_target_names_and_tags(two: Project) -> None:
    assert names(two.run("--co", "-q", "-k", "two and task")) == ["two_vmvx_task"]
    assert names(two.run("--co", "-q", "-k", "local-sync")) == ["one_vmvx_sync", "two_vmvx_sync"]


def test_the_fixed_marks_are_listed(project: Project) -> None:
    result = project.run("--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.driver(name): retarget: the HAL driver of that config"])


def test_what_cannot_run_here_is_collected_and_skipped_with_the_reason(project: Project) -> None:
    project.write({"matrix.toml": ELSEWHERE, "suites/suite.toml": suite(), "suites/one.mlir": GOOD})
    result = project.run("-rs", "-m", "run")
    result.assert_outcomes(skipped=1, deselected=1)
    reason = "runtime config 'phone' needs ios; this host is linux on *"
    result.stdout.fnmatch_lines([f"SKIPPED [[]1[]] suites/suite.toml:1: {reason}"])
    result.stdout.fnmatch_lines([f"skipped: {reason} (1 target)"])
    result.stdout.no_fnmatch_line("compiled 1*")


def test_collecting_starts_no_worker(two: Project) -> None:
    lines = ["import subprocess", "", "def refuse(*args, **kwargs):", "    raise SystemExit('a process was started')"]
    two.write({"conftest.py": "\n".join([*lines, "", "subprocess.Popen.__init__ = refuse", ""])})
    assert two.run("--co", "-q", apart=True).ret == pytest.ExitCode.OK


@pytest.mark.slow
def test_an_extension_in_the_folder_of_the_project_is_found_by_the_console_script_and_in_workers(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.doubles(a="f: pass")
    project.write({"pytest.ini": ""})
    monkeypatch.delenv("PYTHONPATH")
    argv = [Path(sys.executable).with_name("pytest"), *DOUBLES]
    for folder in (project.path, project.path / "suites"):
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
        assert "2 passed" in done.stdout, done.stdout + done.stderr
    argv = [Path(sys.executable).with_name("retarget"), "list", *DOUBLES]
    done = subprocess.run(argv, cwd=project.path, capture_output=True, text=True, check=False, timeout=600)
    assert "double-backend" in done.stdout, done.stdout + done.stderr


COUNTING = """\
import pytest_retarget.session.declared as collection

expand, expanded = collection.expand_suite, []


def counted(suite, registry):
    expanded.append(suite.name)
    return expand(suite, registry)


collection.expand_suite = counted


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"expanded: {expanded}")
"""


@pytest.mark.slow
def test_a_suite_is_expanded_once_in_a_process_whoever_asks_for_its_targets(project: Project) -> None:
    project.doubles(a="f: fail", b="f: pass")
    project.write({"conftest.py": COUNTING})
    result = project.run(*DOUBLES, "suites/a.mlir", "suites/b.mlir", apart=True)
    result.assert_outcomes(passed=3, failed=1)
    assert "expanded: ['twice']" in result.outlines
