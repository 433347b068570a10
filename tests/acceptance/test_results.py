"""What sessions write with `--retarget-results`, whatever becomes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import jsonschema
import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, expecting, matrix, suite
from declaration_texts import compiler, runtime, target
from retarget.results import Outcome, Result, SessionResults, Sessions, TargetRecord, digest_of_ids
from retarget.results.files import json_schema

RESULTS = ("--retarget-results", "out")
FLAKY = '[[expectation]]\nmatch = "flaky"\nstage = "compare"\noutcome = "flaky"\nretries = 2\nreason = "known"'
SKIPPED = '[[expectation]]\nmatch = "later"\noutcome = "skip"\nreason = "not yet"'

WITH_ABSENT = matrix(
    compiler("dc", "double"),
    runtime("dr", "double-device"),
    runtime("no", "double-device", device="absent"),
    target("doubles", "dc", ["dr", "no"]),
)


def results_of(project: Project) -> SessionResults:
    """The one session whose results the project has; each of its lines is one that the schema describes."""
    (session,) = Sessions.read([project.path / "out"])
    (file,) = session.files
    validator = jsonschema.Draft202012Validator(json_schema())
    for line in file.read_text().split("\n")[:-1]:  # the last one of a session that was killed may be cut
        validator.validate(json.loads(line))
    return session


def by_name(session: SessionResults) -> dict[str, TargetRecord]:
    return {record.target: record for record in session.latest.values()}


@alone_and_xdist(in_ci=False)
def test_each_target_and_attempt_has_a_record(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(
        bad="f: pass\ng: fail", flaky="f: fail-2", good="f: pass", later="f: pass", refused="compile: fail\nf: pass"
    )
    project.write({"matrix.toml": WITH_ABSENT})
    expecting(project, FLAKY, SKIPPED)
    result = project.run(*DOUBLES, *RESULTS, *arguments)
    assert result.ret == 1

    session = results_of(project)
    start, records = session.start, by_name(session)
    assert session.is_complete
    assert session.end is not None
    assert session.end.status == 1
    assert start.selected == len(records) == 15
    assert start.digest == digest_of_ids(record.nodeid for record in records.values())
    assert start.arguments[-len(arguments) or None :] == arguments or not arguments
    outcomes = {name: record.outcome for name, record in records.items()}
    assert outcomes == {
        **{f"{name}_dc": Outcome.PASSED for name in ("bad", "flaky", "good")},
        **{f"{name}_dc_no": Outcome.SKIPPED for name in ("bad", "flaky", "good", "later", "refused")},
        "bad_dc_dr": Outcome.FAILED,
        "flaky_dc_dr": Outcome.FLAKY,
        "good_dc_dr": Outcome.PASSED,
        "later_dc": Outcome.SKIPPED,
        "later_dc_dr": Outcome.SKIPPED,
        "refused_dc": Outcome.FAILED,
        "refused_dc_dr": Outcome.BLOCKED,
    }
    rungs = {name: record.rung for name, record in records.items() if record.rung}
    assert rungs == {
        **{f"{name}_dc": "compiles" for name in ("bad", "flaky", "good")},
        "bad_dc_dr": "completes",
        "flaky_dc_dr": "completes",  # of its three attempts the lowest
        "good_dc_dr": "matches",
        "refused_dc": "none",
        "refused_dc_dr": "none",
    }
    assert {record.process for record in session.records} <= ({"gw0", "gw1"} if arguments else {""})
    assert {record.session for record in session.records} == {start.session}
    assert {record.file for record in session.records} == {"suites/suite.toml"}

    bad = records["bad_dc_dr"]
    assert bad.module_file == "suites/bad.mlir"
    assert bad.text.startswith("compare: g: 1 of 2 elements differ")
    assert bad.text.endswith("\n".join(f"  {line}" for line in bad.commands))
    assert bad.commands[0] == f"cd {project.path}"
    assert bad.commands[-1].startswith("double-run ")
    assert start.started <= bad.started <= bad.ended <= session.end.ended
    assert bad.run is not None
    assert bad.started <= bad.run.started <= bad.ended
    assert bad.run.wait_seconds >= 0
    assert len({bad.case_digest, bad.trial_digest}) == 2
    assert {len(bad.case_digest), len(bad.trial_digest)} == {64}
    assert [one.nodeid for one in session.attributions] == [bad.nodeid]

    absent_one, excused = records["good_dc_no"], records["later_dc_dr"]
    assert not absent_one.unsuitable
    assert (absent_one.unavailable, absent_one.reason) == (True, "no: no double device is plugged in")
    assert (excused.unavailable, excused.excused, excused.reason) == (False, True, "not yet")
    assert records["refused_dc_dr"].blocked_by == "suites/suite.toml::twice::refused_dc"
    assert "\x1b" not in records["refused_dc"].text

    attempts = [record for record in session.records if record.target == "flaky_dc_dr"]
    assert [(one.attempt, one.outcome, one.result) for one in attempts] == [
        (1, Outcome.FAILED, Result.FAILED),
        (2, Outcome.FAILED, Result.FAILED),
        (3, Outcome.FLAKY, Result.PASSED),
    ]
    assert all(one.text.startswith("compare: 1 of 2 elements differ") for one in attempts[:2])
    assert attempts[0].ended == attempts[1].started


@alone_and_xdist()
def test_a_killed_session_leaves_what_it_had(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: pass", b="f: hang", c="f: pass")
    process = project.start(*DOUBLES, *RESULTS, *arguments)
    project.wait_for("suites/b.mlir.pid")
    end = time.monotonic() + 600  # the run may have begun before the targets ahead of it were reported
    while not arguments and "b_dc" not in by_name(results_of(project)):
        assert time.monotonic() < end
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=600)
    session = results_of(project)
    assert not session.is_complete
    assert session.end is None
    assert session.start.selected == 6
    assert "b_dc_dr" not in by_name(session)
    assert arguments or [*by_name(session)] == ["a_dc", "a_dc_dr", "b_dc"]


@pytest.mark.slow
def test_the_crash_of_a_worker_of_xdist_is_a_failure_of_its_target(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass")
    hook = "import os\ndef pytest_runtest_call(item):\n    if item.name == 'b_dc':\n        os._exit(3)\n"
    project.write({"conftest.py": hook})
    project.run(*DOUBLES, *RESULTS, "-n1", "--max-worker-restart=0")
    session = results_of(project)
    records = by_name(session)
    assert session.is_complete
    assert sorted(records) == ["a_dc", "a_dc_dr", "b_dc", "b_dc_dr"]
    crashed = records["b_dc"]
    assert (crashed.outcome, crashed.result, crashed.process) == (Outcome.FAILED, Result.UNKNOWN, "gw0")
    assert crashed.message == "worker 'gw0' crashed while running 'suites/suite.toml::twice::b_dc'"
    assert (crashed.module, crashed.compiler) == ("b", "dc")


@pytest.mark.slow
def test_a_target_tried_again_by_another_plugin_has_a_record_for_each_try(project: Project) -> None:
    project.doubles(a="f: fail-1")
    hook = (
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    for _ in range(2):\n"
        "        for report in runtestprotocol(item, nextitem=nextitem, log=False):\n"
        "            item.ihook.pytest_runtest_logreport(report=report)\n"
        "    return True\n"
    )
    project.write({"conftest.py": hook})
    project.run(*DOUBLES, *RESULTS)
    attempts = [one for one in results_of(project).records if one.target == "a_dc_dr"]
    assert [(one.attempt, one.outcome) for one in attempts] == [(1, Outcome.FAILED), (2, Outcome.PASSED)]


def test_nothing_is_written_where_nothing_is_to_run(project: Project) -> None:
    project.doubles(a="f: pass")
    project.run(*DOUBLES, *RESULTS, "--collect-only")
    assert not (project.path / "out").exists()


def test_a_session_that_collects_nothing_has_results_of_nothing(project: Project) -> None:
    project.write({"suites/suite.toml": suite()})
    project.run(*RESULTS)
    session = results_of(project)
    assert session.is_complete
    assert (session.start.selected, session.records) == (0, ())
    assert session.end is not None
    assert session.end.status == 2


def test_results_that_cannot_be_written_are_an_error_before_anything_runs(project: Project) -> None:
    project.doubles(a="f: pass")
    project.write({"taken": ""})
    for folder, message in (
        ("taken/out", "--retarget-results: found */taken/out, expected a folder that can be written; */taken is *"),
        ("taken", f"--retarget-results: {project.path}/taken is a file, expected a folder"),
    ):
        result = project.run(*DOUBLES, "--retarget-results", folder)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert not (project.path / "suites" / "a.mlir.count").exists()


FULL = """\
import resource
LIMITS = resource.getrlimit(resource.RLIMIT_FSIZE)
def pytest_runtest_makereport():
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, LIMITS[1]))
def pytest_runtest_logreport():  # the record was to be written
    resource.setrlimit(resource.RLIMIT_FSIZE, LIMITS)
"""


def test_a_disk_that_is_full_loses_no_outcome(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass")
    project.write({"conftest.py": FULL})
    result = project.run(*DOUBLES, *RESULTS)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        [
            "ERROR: cannot write results to out/session-*.jsonl: File too large; "
            "the results of this session are incomplete",
            "*4 passed in*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    session = results_of(project)
    assert not session.is_complete
    assert 1 <= len(session.records) < 4


@pytest.mark.slow
def test_a_session_says_in_which_folder_of_the_project_it_was_started(project: Project) -> None:
    project.doubles(a="f: pass")
    project.write({"pytest.ini": "[pytest]\n"})
    for folder in ("suites", "."):
        argv = [sys.executable, "-m", "pytest", *DOUBLES, "--retarget-results", str(project.path / "results")]
        subprocess.run(argv, cwd=project.path / folder, check=True, capture_output=True)
    assert [session.start.cwd for session in Sessions.read([project.path / "results"])] == ["suites", ""]
