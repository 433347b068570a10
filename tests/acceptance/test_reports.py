"""Header, table, figures, junit."""

from __future__ import annotations

import re

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, matrix
from declaration_texts import compiler, runtime, target
from mlir_modules import DIFFERS, GOOD, REFUSED
from session_output import junit, properties


def test_a_project_without_matrix_files_sees_nothing_of_it(project: Project) -> None:
    project.write({"test_it.py": "def test_it():\n    pass\n"})
    result = project.run("-v")
    result.assert_outcomes(passed=1)
    of_pytest = ("platform ", "cachedir:", "rootdir:", "configfile:", "plugins:")  # with paths, such as this checkout's
    assert [line for line in result.outlines if "retarget" in line and not line.startswith(of_pytest)] == []


@pytest.mark.slow
def test_a_second_run_compiles_nothing_and_neither_does_a_further_runtime_config(project: Project) -> None:
    project.doubles(one="f: pass", two="f: pass")
    cache = (*DOUBLES, "--retarget-cache-dir", "kept")
    first = project.run(*cache)
    first.stdout.fnmatch_lines(["compiled 2, reused 0; * s of compiling (cache: ~/kept)"])
    project.run(*cache).stdout.fnmatch_lines(["compiled 0, reused 2 (cache: ~/kept)"])
    further = runtime("further", "double-device")
    more = matrix(
        compiler("dc", "double"), runtime("dr", "double-device"), further, target("doubles", "dc", ["dr", "further"])
    )
    project.write({"matrix.toml": more})
    last = project.run(*cache)
    last.assert_outcomes(passed=6)
    last.stdout.fnmatch_lines(["compiled 0, reused 2 (cache: ~/kept)"])


@pytest.mark.slow
def test_no_cache_compiles_anew_and_leaves_nothing_behind(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.cpu(one=GOOD)
    temporary = project.path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    for arguments in ((), ("-n2",)):
        result = project.run("--retarget-no-cache", *arguments)
        result.assert_outcomes(passed=3)
        result.stdout.fnmatch_lines(["compiled 1, reused 0; * s of compiling"])
        assert [path for path in temporary.iterdir() if path.name.startswith("retarget")] == []


@alone_and_xdist(in_ci=False)
def test_junit_carries_stage_key_seconds_and_device(project: Project, arguments: tuple[str, ...]) -> None:
    project.cpu(one=DIFFERS, two=REFUSED)
    project.run("--junitxml=report.xml", *arguments)
    cases = junit(project, "report.xml")
    assert set(cases) == {f"{module}_vmvx{runtime}" for module in ("one", "two") for runtime in ("", "_sync", "_task")}
    run = properties(cases["one_vmvx_sync"])
    assert run["retarget.suite"] == "linalg"
    assert run["retarget.module"] == "one"
    assert run["retarget.compiler"] == "vmvx"
    assert run["retarget.runtime"] == "sync"
    assert run["retarget.stage"] == "compare"
    assert len(run["retarget.compile_key"]) == 64
    assert run["retarget.reused"] in {"true", "false"}
    assert float(run["retarget.compile_seconds"]) > 0
    assert float(run["retarget.run_seconds"]) > 0
    assert run["retarget.device"] == "CPU, in the calling thread"
    assert re.fullmatch(r"iree \S+ \(build [0-9a-f]{12}\)", run["retarget.compiler_build"])
    assert re.fullmatch(r"iree-runtime \S+ \(build [0-9a-f]{12}\)", run["retarget.runtime_build"])
    failure = cases["one_vmvx_sync"].find("failure")
    assert failure is not None
    assert failure.attrib["message"].startswith("compare: wrong: 1 of 3 elements differ")
    assert properties(cases["two_vmvx"])["retarget.stage"] == "compile"
    skipped = cases["two_vmvx_sync"].find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == "blocked by suites/suite.toml::linalg::two_vmvx"


@pytest.mark.slow
def test_without_the_terminal_plugin_the_exit_status_tells(project: Project) -> None:
    project.cpu(one=GOOD)
    assert project.run("-p", "no:terminal").ret == pytest.ExitCode.OK
    project.write({"suites/one.mlir": DIFFERS})
    assert project.run("-p", "no:terminal").ret == pytest.ExitCode.TESTS_FAILED
