"""`retarget ci plan` as a command."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from retarget.cli import main
from retarget.results import Plan, SessionResults, TargetRecord, new_session
from retarget.results.history import add_run
from retarget.results.record import CompileRecord

CI = """\
labels = ["x"]

[[runner]]
name = "linux"
labels = ["x"]
builds = true
drivers = ["local-sync"]

[[event]]
name = "pr"
on = ["pull_request"]
select = "{}"
budget = "20 min"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "suites").mkdir()
    configs = (compiler("vmvx", flags=VMVX_FLAGS), runtime("cpu"), target("all", "vmvx", ["cpu"]))
    (tmp_path / "suites" / "suite.toml").write_text(declarations(*configs, suite("s")))
    (tmp_path / "suites" / "m.mlir").write_text("")
    (tmp_path / "ci.toml").write_text(CI.format("vmvx"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_durations_are_those_of_the_events_history_which_need_not_be_there_yet(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "ci.toml").write_text(f'history = "kept"\n{CI.format("vmvx")}')
    (project / "elsewhere").mkdir()
    monkeypatch.chdir(project / "elsewhere")

    def predicted() -> list[float]:
        assert main(["ci", "plan", "--event", "pr", "-o", "plan.json"]) == 0
        return [leg.seconds for leg in Plan.read(Path("plan.json")).legs]

    assert predicted() == [2.0, 0.5]
    took = TargetRecord(nodeid="suites/suite.toml::s::m_vmvx", compile=CompileRecord(key="k", seconds=7.0))
    add_run([SessionResults(start=new_session(selected=1, digest=""), records=(took,))], str(project / "kept" / "pr"))
    assert predicted() == [7.0, 0.5]


def test_a_run_of_the_history_that_cannot_be_read_is_a_warning_and_the_others_still_predict(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "ci.toml").write_text(f'history = "kept"\n{CI.format("vmvx")}')
    (project / "kept" / "pr").mkdir(parents=True)
    (project / "kept" / "pr" / "1.history.json.gz").write_bytes(b"no gzip")
    assert main(["ci", "plan", "--event", "pr"]) == 0
    output, warnings = capsys.readouterr()
    assert output.endswith("2 targets in 2 legs for event 'pr'\n")
    assert warnings.startswith("warning: left out of the history: kept/pr/1.history.json.gz: ")


def test_a_plan_is_written_and_shown_and_its_ids_are_those_of_pytest_from_any_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ci", "plan", "--event", "pr", "-o", "plan.json"]) == 0
    assert capsys.readouterr() == (
        "LEG            RUNNER  TARGETS  PREDICTED  NEEDS\n"
        "build-linux-1  linux   1        2 s\n"
        "run-linux-1    linux   1        1 s        build-linux-1\n"
        "2 targets in 2 legs for event 'pr'\n"
        "written to plan.json\n",
        "",
    )
    plan = Plan.read(project / "plan.json")
    assert [leg.ids for leg in plan.legs] == [("suites/suite.toml::s::m_vmvx",), ("suites/suite.toml::s::m_vmvx_cpu",)]
    monkeypatch.chdir(project / "suites")
    assert main(["ci", "plan", "--event", "pr", "-o", "again.json"]) == 0
    assert Path("again.json").read_bytes() == (project / "plan.json").read_bytes()


def test_suites_that_the_paths_of_ci_toml_do_not_reach_are_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "ci.toml").write_text(f'paths = ["suites"]\nemit = []\n{CI.format("vmvx")}')
    assert main(["ci", "emit"]) == 0
    for folder in ("other", "suites/build/deep"):
        (project / folder).mkdir(parents=True)
        (project / folder / "suite.toml").write_text("no toml")
    note = (
        "note: suites/build/deep/suite.toml is not collected: pytest enters no folder called 'build'; name it among "
        "the paths, or set norecursedirs\n"
        "note: 1 suite file in no leg: other/suite.toml; the paths of ci.toml do not reach them, and rules for them "
        "do nothing\n"
    )
    capsys.readouterr()
    assert main(["ci", "plan", "--event", "pr"]) == 0
    assert capsys.readouterr().err == note
    assert main(["ci", "verify"]) == 0
    assert capsys.readouterr().out.startswith(note)


def test_a_tag_that_no_target_has_is_an_error_with_its_place(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "ci.toml").write_text(CI.format("vmvx and not conformance"))
    assert main(["ci", "plan", "--event", "pr", "-o", "plan.json"]) == 1
    assert capsys.readouterr().err == (
        "ci.toml:12: event[0].select: 'vmvx and not conformance': none of the 2 targets has the tag 'conformance'\n"
    )
    assert not (project / "plan.json").exists()


@pytest.mark.usefixtures("project")
def test_an_unknown_event_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ci", "plan", "--event", "prs"]) == 1
    assert "found the unknown event 'prs', expected one of pr; did you mean 'pr'?" in capsys.readouterr().err
