"""`retarget bringup NAME --check`, `--raise` and `--lower`, on files; what one real session says of a ladder."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from mlir_modules import DIFFERS, GOOD, REFUSED
from msgspec.structs import replace
from retarget.cli import main
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Observation
from retarget.results import Outcome, Result, ResultsWriter, TargetRecord, new_session
from retarget.session import Engine
from retarget_bringup.ladder.files import read_ladder, read_settings
from retarget_bringup.status.gather import read_found

HOME = "s/suite.toml::s"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three modules and the settings of a ladder."""
    files = {
        "pytest.ini": "[pytest]\n",
        "s/suite.toml": declarations(
            compiler("vmvx", flags=VMVX_FLAGS),
            runtime("sync"),
            target("t", "vmvx", ["sync"]),
            suite("s", targets=["t"]),
        ),
        "s/good.mlir": GOOD,
        "s/wrong.mlir": DIFFERS,
        "s/refused.mlir": REFUSED,
        "bringup/x.toml": 'paths = ["s"]\nselect = "vmvx"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return tmp_path


def rungs(project: Path) -> dict[str, str]:
    """The rung of each module in the ladder."""
    lines = read_ladder(project / "bringup/x.ladder").lines
    return {line.target.rpartition("::")[2].partition("_")[0]: line.rung.word for line in lines}


def results_of_today(project: Path, **stages: str) -> list[str]:
    """Options that read results of today's version of modules, which failed at a stage, or passed where it is empty."""
    settings = read_settings(project / "bringup/x.toml")
    with ResultsWriter(project / "none", new_session(selected=0, digest="")) as writer:
        writer.end(0)
    digests = {one.id: one.target.digest for one in read_found(settings, [project / "none"]).states}
    start = new_session(selected=len(stages), digest="")
    with ResultsWriter(project / "results", start) as writer:
        for module, stage in stages.items():
            nodeid = f"{HOME}::{module}_vmvx_sync"
            known = TargetRecord(nodeid=nodeid, runtime="sync", session=start.session, trial_digest=digests[nodeid])
            seen = Observation(stage=stage, signature="no") if stage else None
            ended = (Outcome.FAILED, Result.FAILED) if stage else (Outcome.PASSED, Result.PASSED)
            rung = {"": "matches", "compare": "completes"}.get(stage, "")
            known = replace(known, outcome=ended[0], result=ended[1], rung=rung)
            writer.write(replace(known, stage=stage or "compare", observation=seen))
        writer.end(0)
    return ["--results", str(project / "results")]


@pytest.mark.slow
def test_a_real_session_raises_a_ladder_that_holds_until_it_is_raised_by_hand(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(project / "cache"))
    assert main(["bringup", "x", "--raise"]) == 0
    said = capfd.readouterr().out
    assert rungs(project) == {"good": "matches", "refused": "none", "wrong": "completes"}
    assert re.fullmatch(
        r"bringup/x.ladder: written: \d+ added\n"
        r"x: 1 of 3 targets match \(33.3 %\); 2 below\n"
        r"bringup/x.ladder holds\n",
        said,
    )
    by_hand = (project / "bringup/x.ladder").read_text().replace("none", "matches")
    (project / "bringup/x.ladder").write_text(by_hand)
    assert main(["bringup", "x", "--check", "--results", "cache/bringup"]) == 1
    assert re.fullmatch(
        r"lower: 1 target fell to none: compile: .*\n"
        r"  bringup/x.ladder:\d+: s/suite.toml::s::refused_vmvx_sync  matches → none\n"
        r"  run just that: pytest s/suite.toml::s::refused_vmvx_sync\n"
        r"  mend it, or say why it may be lower: "
        r"retarget bringup x --lower s/suite.toml::s::refused_vmvx_sync --reason TEXT\n"
        r"x: 1 of 3 targets match \(33.3 %\); 2 below\n"
        r"bringup/x.ladder does not hold: 1 problem\n",
        capfd.readouterr().out,
    )
    suite_file = project / "s/suite.toml"
    suite_file.write_text(suite_file.read_text().replace("flags = [", 'flags = ["--iree-no-such-flag", '))
    assert main(["bringup", "x", "--check", "--results", "cache/bringup"]) == 1
    assert "not of today: 3 targets, such as s/suite.toml::s::good_vmvx_sync: its result is of another compile" in (
        capfd.readouterr().out
    )
    (project / "bringup/x.ladder").unlink()
    assert main(["bringup", "x", "--check", "--results", "cache/bringup"]) == 1
    assert "bringup/x.ladder: found no line of a target" in capfd.readouterr().out


def test_a_target_is_lowered_by_name_with_a_reason_and_by_nothing_else(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = results_of_today(project, good="", wrong="", refused="compile")
    assert main(["bringup", "x", "--raise", *before]) == 0
    assert rungs(project) == {"good": "matches", "refused": "none", "wrong": "matches"}
    shutil.rmtree(project / "results")
    (project / "s/wrong.mlir").write_text(f"{DIFFERS}// edited\n")
    now = results_of_today(project, good="", wrong="compare", refused="compile")
    assert main(["bringup", "x", "--raise", *now]) == 1
    assert rungs(project)["wrong"] == "matches"
    assert "wrong_vmvx_sync  matches → completes\n" in capsys.readouterr().out
    assert main(["bringup", "x", "--lower", "*wrong*", *now]) == 2
    assert main(["bringup", "x", "--check", "--reason", "why", *now]) == 2
    assert main(["bringup", "x", "--lower", "*good*", "--reason", "why", *now]) == 1
    assert "found '*good*', which is on its line, or was not tried; expected a target" in capsys.readouterr().err
    assert main(["bringup", "x", "--lower", "*wrong*", "--reason", "sums  in\thalves", *now]) == 2
    assert main(["bringup", "x", "--lower", "*wrong*", "--reason", "sums in  halves", *now]) == 0
    assert capsys.readouterr().out == (
        "bringup/x.ladder: written: 1 lowered\n"
        f"lowered: {HOME}::wrong_vmvx_sync, matches → completes: sums in halves\n"
        "x: 1 of 3 targets match (33.3 %); 2 below\n"
        "bringup/x.ladder holds\n"
    )
    assert " lowered from matches: sums in halves\n" in (project / "bringup/x.ladder").read_text()


@pytest.mark.slow
def test_a_line_that_was_removed_comes_back_from_the_last_commit(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = results_of_today(project, good="", wrong="", refused="compile")
    assert main(["bringup", "x", "--raise", *known]) == 0
    by = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "-q"], ["add", "bringup"], [*by, "commit", "-qm", "ladder"]):
        subprocess.run(["git", *command], check=True)
    ladder = project / "bringup/x.ladder"
    ladder.write_text(re.sub(r".*wrong.*\n", "", ladder.read_text()))
    capsys.readouterr()
    shutil.rmtree(project / "results")
    fell = results_of_today(project, good="", wrong="compare", refused="compile")
    assert main(["bringup", "x", "--check", *fell]) == 1
    assert f"new: 1 target without a line\n  {HOME}::wrong_vmvx_sync\n" in capsys.readouterr().out
    assert main(["bringup", "x", "--raise", *fell]) == 1
    assert rungs(project)["wrong"] == "matches"


def test_raise_names_what_it_drops_where_no_target_takes_the_rung_over(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bringup", "x", *results_of_today(project, good="", wrong="compare"), "--raise"]) == 0
    capsys.readouterr()
    for module in ("good", "wrong"):  # both are renamed, and one is edited, too
        (project / f"s/{module}.mlir").rename(project / f"s/new-{module}.mlir")
    (project / "s/new-good.mlir").write_text(DIFFERS)
    shutil.rmtree(project / "results")
    results = results_of_today(project, **{"new-good": "compare", "new-wrong": "compare"})
    assert main(["bringup", "x", *results, "--raise"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "bringup/x.ladder: written: 2 added, 2 dropped",
        "dropped: 1 line whose rung no target takes over",
        f"  {HOME}::good_vmvx_sync  matches",
    ]


def test_a_selection_of_nothing_has_its_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "bringup/x.toml").write_text('select = "vulcan"\n')
    with ResultsWriter(project / "results", new_session(selected=0, digest="")) as writer:
        writer.end(0)
    assert main(["bringup", "x", "--check", "--results", "results"]) == 1
    assert capsys.readouterr().err == "bringup/x.toml:1: select: found 'vulcan', which selects no target of .\n"


def test_settings_that_say_only_what_they_select_ask_for_three_runs_of_all_suites(project: Path) -> None:
    (project / "bringup/x.toml").write_text('select = "vmvx"\n')
    settings = read_settings(project / "bringup/x.toml")
    assert (settings.paths, settings.reference, settings.stable) == (["."], "", 3)


def test_without_a_name_the_ladders_and_the_next_step_are_listed(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "retarget bringup start NAME  # a new one; retarget bringup --help has examples\n"
    monkeypatch.chdir(project / "s")
    assert main(["bringup"]) == 0
    assert capsys.readouterr().out == f"retarget bringup x\n{start}"
    (project / "bringup/x.toml").unlink()
    assert main(["bringup"]) == 0
    assert capsys.readouterr().out == f"there is no ladder yet\n{start}"


def test_a_name_that_has_no_settings_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".git").mkdir()
    (project / "bringup/x.toml").rename(project / "bringup/vulkan.toml")
    for name, hint in (("vulcan", "; did you mean 'vulkan'?"), ("../x", "; expected one of: vulkan")):
        assert main(["bringup", name, "--check"]) == 1
        assert capsys.readouterr().err == (
            f"found no bringup/{name}.toml in {project} or in the folders above it{hint}\n"
        )


def test_a_module_that_cannot_be_had_here_is_not_judged_and_keeps_its_line(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = results_of_today(project, good="", wrong="compare", refused="compile")
    assert main(["bringup", "x", "--raise", *known]) == 0
    capsys.readouterr()
    generated = Engine.generated

    def without_good(engine: Engine, target: CompileTarget) -> CompileTarget:
        if target.module.name == "good":
            msg = "its package is not installed"
            raise UnavailableError(msg)
        return generated(engine, target)

    monkeypatch.setattr(Engine, "generated", without_good)
    for option in ("--check", "--raise"):
        assert main(["bringup", "x", option, *known]) == 0
        said = capsys.readouterr().out
        why = "it cannot be judged here: its package is not installed"
        assert f"not tried: 1 target, such as {HOME}::good_vmvx_sync: {why}\n" in said
    assert rungs(project) == {"good": "matches", "refused": "none", "wrong": "completes"}
