"""`pytest --retarget-report SITE`: the page of what was run."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, matrix
from declaration_texts import compiler, runtime, target

MATRIX = matrix(compiler("dc", "double"), runtime("dr", "double-device"), target("doubles", "dc", ["dr"]))


def page_in(lines: list[str], project: Project) -> Path:
    (line,) = [line for line in lines if line.startswith("page: ")]
    index = project.path / "site" / "index.html"
    assert line == f"page: {index.as_uri()}"
    return index


@alone_and_xdist()
@pytest.mark.slow
def test_a_session_ends_with_the_address_of_its_page(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(bad="f: fail", good="f: pass")
    project.write({"matrix.toml": MATRIX})
    result = project.run(*DOUBLES, "--retarget-report", "site", *arguments)
    assert result.ret == 1
    index = page_in(result.outlines, project)
    assert "<strong>4</strong> targets, <strong>75 %</strong> of the 4" in index.read_text(encoding="utf-8")
    assert sorted(one.name for one in project.path.iterdir() if one.suffix == ".jsonl" or one.name == "out") == []


@pytest.mark.slow
def test_the_page_has_all_results_of_the_folder_where_they_are_kept(project: Project) -> None:
    project.doubles(bad="f: fail", good="f: pass")
    project.write({"matrix.toml": MATRIX})
    for name in ("good", "bad"):
        result = project.run(*DOUBLES, "--retarget-report", "site", "--retarget-results", "out", "-k", name)
    text = page_in(result.outlines, project).read_text(encoding="utf-8")
    assert "<strong>4</strong> targets" in text
    assert "2 sessions" in text


def test_a_folder_that_is_no_page_is_an_error_before_anything_runs_and_nothing_in_it_is_lost(project: Project) -> None:
    project.doubles(good="f: pass")
    project.write({"matrix.toml": MATRIX, "site/notes.txt": "mine"})
    result = project.run(*DOUBLES, "--retarget-report", "site")
    assert result.ret == 4
    problem = "*found something that is no page, expected a new or empty *"
    result.stderr.fnmatch_lines([f"ERROR: --retarget-report: {problem}; choose another folder with --retarget-report"])
    result.stdout.no_fnmatch_line("*passed*")
    assert [one.name for one in (project.path / "site").iterdir()] == ["notes.txt"]


def test_nothing_is_written_where_nothing_is_run(project: Project) -> None:
    project.doubles(good="f: pass")
    project.write({"matrix.toml": MATRIX})
    result = project.run(*DOUBLES, "--retarget-report", "site", "--collect-only", "-q")
    assert result.ret == 0
    assert not (project.path / "site").exists()
