"""`--retarget-cluster`: the session's side, with an executor that works in this very session (`here_executor`)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from acceptance_support import DOUBLES, Project, expecting
from retarget.results import Sessions

HERE = (*DOUBLES, "--retarget-cluster=here:1")

RULE = '[[expectation]]\nmatch = ["{}"]\n{}\nreason = "r"\n'


@pytest.fixture
def cluster(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project in which the scheme `here` is installed."""
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(project.path / "cache"))  # what is compiled is compiled there
    folder = project.path / "here-1.0.dist-info"
    project.write(
        {
            f"{folder.name}/METADATA": "Metadata-Version: 2.1\nName: here\nVersion: 1.0\n",
            f"{folder.name}/entry_points.txt": "[retarget.executors]\nhere = here_executor:connect_to\n",
        }
    )
    shutil.copy(Path(__file__).with_name("here_executor.py"), project.path)
    return project


def done(project: Project) -> list[str]:
    """What the executor was asked for, in order."""
    return [line for line in (project.path / "here.log").read_text().splitlines() if not line.startswith("devices")]


@pytest.mark.slow
def test_only_what_is_selected_and_not_skipped_runs_ahead_and_the_report_is_in_item_order(cluster: Project) -> None:
    cluster.doubles(a="f: pass", b="f: fail", c="f: pass", d="compile: fail\nf: pass", e="f: pass")
    expecting(cluster, RULE.format("c", 'outcome = "skip"'), RULE.format("d", 'stage = "compile"'))
    options = ("-k", "not e_dc", "--retarget-results", "results")
    result = cluster.run(*HERE, *options)
    assert result.parseoutcomes() == {"passed": 3, "failed": 1, "skipped": 2, "xfailed": 2, "deselected": 2}
    log = done(cluster)
    assert sorted(line for line in log if line.startswith("compile")) == [
        "compile twice/a (dc)",
        "compile twice/b (dc)",
        "compile twice/d (dc)",
    ]
    runs = [line.removeprefix("ahead ").removeprefix("urgent ") for line in log if not line.startswith("compile")]
    assert sorted(runs) == ["a_dc_dr", "b_dc_dr"]  # urgent is one whose turn came first, as on a busy machine
    (results,) = Sessions.read([cluster.path / "results"])
    records = {record.target: record for record in results.records}
    assert [name for name, record in records.items() if record.run is not None and record.run.host == "here"] == [
        "a_dc_dr",
        "b_dc_dr",
    ]
    compiled = records["a_dc"].compile
    assert compiled is not None
    assert (compiled.reused, compiled.host) == (False, "here")
    cluster.run(*DOUBLES, *options).assert_outcomes(passed=3, failed=1, skipped=2, xfailed=2, deselected=2)


@pytest.mark.slow
def test_what_a_cluster_that_is_gone_has_not_run_fails_and_says_so(cluster: Project) -> None:
    cluster.doubles(a="f: pass", b="f: pass")
    result = cluster.run(*DOUBLES, "--retarget-cluster=here:gone")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*the scheduler at here:gone does not answer any more*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_session_whose_cluster_did_not_start_ends_with_one_error_and_runs_nothing(cluster: Project) -> None:
    cluster.doubles(a="f: pass", b="f: pass")
    result = cluster.run(*DOUBLES, "--retarget-cluster=here:absent", "--retarget-results=results")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines == ["ERROR: --retarget-cluster: the scheduler of here did not start", ""]
    assert result.parseoutcomes() == {}
    (results,) = Sessions.read([cluster.path / "results"])
    assert {record.reason for record in results.records} == {"the session ended before it"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--retarget-cluster=localhost",),
            "ERROR: --retarget-cluster: found 'localhost', expected tcp://HOST:PORT or tls://HOST:PORT of a scheduler, "
            "which `retarget cluster start` starts",
        ),
        (
            ("--retarget-cluster=heer:1",),
            "ERROR: --retarget-cluster: found 'heer:1', expected tcp://HOST:PORT or tls://HOST:PORT of a scheduler, "
            "which `retarget cluster start` starts (schemes that are installed: *; did you mean 'here'?)",
        ),
        pytest.param(
            ("--retarget-cluster=here:1", "-n1"),
            "*--retarget-cluster and pytest-xdist's -n were both given; expected one of them: the cluster already "
            "works on as many targets at a time as its workers can, and each process of -n would be a session of its "
            "own there; leave -n out (`-n 0` where the ini file has it)",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["no scheme", "unknown scheme", "xdist"],
)
def test_a_bad_address_and_xdist_are_refused(cluster: Project, arguments: tuple[str, ...], message: str) -> None:
    result = cluster.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (result.stderr if "ERROR:" in str(result.stderr) else result.stdout).fnmatch_lines([message])
