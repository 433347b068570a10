"""`--retarget-changed` and `--retarget-reuse-results`: what cannot have changed does not run again, and is never shown
as run."""

from __future__ import annotations

import platform
from typing import Any

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, expecting, hooks, matrix
from declaration_texts import compiler, runtime, target
from retarget.model import RunOutcome
from retarget.results import Sessions
from retarget.session import RunService
from retarget.session.compile.pool import CompilePool
from retarget.worker.messages import RunModule

CHANGED = (*DOUBLES, "--retarget-changed")
REUSE = (*DOUBLES, "--retarget-reuse-results")


def refuse(*_: object, **__: object) -> None:
    msg = "something was compiled or run"
    raise AssertionError(msg)


@pytest.mark.slow
def test_only_what_changed_runs_failures_first_and_the_rest_is_unchanged(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.doubles(a="f: pass", b="f: pass", c="f: fail")
    project.run(*DOUBLES).assert_outcomes(passed=5, failed=1)  # any session counts, not only one with the option
    project.write({"suites/b.mlir": "g: pass"})
    second = project.run(*CHANGED, "-v", "--retarget-results", "results")
    assert second.parseoutcomes() == {"passed": 2, "failed": 1, "unchanged": 3}
    second.stdout.fnmatch_lines(
        [
            "suites/suite.toml::twice::c_dc_dr FAILED*",
            "suites/suite.toml::twice::a_dc UNCHANGED (passed)*",
            "suites/suite.toml::twice::a_dc_dr UNCHANGED (passed *)*",
            "suites/suite.toml::twice::b_dc PASSED*",
            "suites/suite.toml::twice::b_dc_dr PASSED*",
            "suites/suite.toml::twice::c_dc UNCHANGED (passed)*",
            "unchanged since their last run: 3 targets (3 passed); without --retarget-changed they run, too",
        ]
    )
    (results,) = Sessions.read([project.path / "results"])
    records = {record.target: record for record in results.records}
    kept = records["a_dc_dr"]
    assert (kept.outcome, kept.unchanged, len(kept.cases), kept.devices[0].name) == ("passed", True, 1, "Double 9000")
    assert kept.reused is not None
    assert (kept.reused.host, kept.reused.ended < results.start.started) == (platform.node(), True)
    assert not records["b_dc_dr"].unchanged
    (project.path / "suites/c.mlir").unlink()
    monkeypatch.setattr(RunService, "run", refuse)
    monkeypatch.setattr(CompilePool, "compile", refuse)
    third = project.run(*CHANGED)
    assert (third.ret, third.parseoutcomes()) == (0, {"unchanged": 4})
    assert project.run(*CHANGED, "-m", "run", "-k", "a_").parseoutcomes() == {"unchanged": 1, "deselected": 3}


@pytest.mark.slow
def test_results_that_hold_are_reused_where_a_compile_gives_the_same_artifact_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.doubles(a="f: pass\ng: pass", b="f: fail", c="f: fail")
    expecting(project, '[[expectation]]\nmatch = ["c"]\nstage = "compare"\nreason = "known"\n')
    project.run(*DOUBLES).assert_outcomes(passed=4, failed=1, xfailed=1)
    ran: list[str] = []
    run = RunService.run

    def counted(service: RunService, request: RunModule, **more: Any) -> RunOutcome:
        ran.append(request.target.name)
        return run(service, request, **more)

    monkeypatch.setattr(RunService, "run", counted)
    flagged = compiler("dc", "double", flags=["--another-key"])
    project.write({"matrix.toml": matrix(flagged, runtime("dr", "double-device"), target("doubles", "dc", ["dr"]))})
    again = project.run(*REUSE, "-v", "--retarget-results", "results", "--junitxml", "junit.xml")
    assert (ran, again.parseoutcomes()) == (["b_dc_dr"], {"passed": 3, "failed": 1, "subtests": 2, "reused": 2})
    again.stdout.fnmatch_lines(
        [
            "suites/suite.toml::twice::a_dc PASSED*",
            "suites/suite.toml::twice::a_dc_dr PASSED (reused)*",
            "suites/suite.toml::twice::b_dc_dr FAILED*",
            "suites/suite.toml::twice::c_dc_dr XFAIL (reused)*",
            f"reused: 2 targets (1 passed, 1 xfailed), run ??:?? on {platform.node()}; "
            "without --retarget-reuse-results they run again",
            "device: double-device: Double 9000 (dr)",
            "compiled 3, reused 0;*",
        ]
    )
    (results,) = Sessions.read([project.path / "results"])
    records = {record.target: record for record in results.records}
    assert [name for name, record in records.items() if record.unchanged] == ["a_dc_dr", "c_dc_dr"]
    passed, failed = records["a_dc_dr"], records["c_dc_dr"]
    assert (passed.outcome, len(passed.cases), failed.outcome) == ("passed", 2, "xfailed")
    assert failed.observation == records["b_dc_dr"].observation
    assert passed.run is not None
    assert passed.run.started == 0
    junit = (project.path / "junit.xml").read_text()
    assert junit.count(f'Z on {platform.node()}"') == junit.count("retarget.result_reused") == 2

    (project.path / "suites/unplugged").touch()
    project.run(*REUSE, "-m", "run").assert_outcomes(errors=3)


READING = """
class DoubleCases(doubles.DoubleCases):
    def load(self, request):
        request.source.read_bytes()
        named = request.source.with_suffix(".names").read_text().split()
        cases = [case for case in super().load(request) if case.name in named]
        return [Case(name=one.name, function=one.name, read=self.read) for one in cases]

    def read(self):
        return Path("suites/values").read_text() and CaseData()
"""


@pytest.mark.slow
def test_files_that_a_kind_reads_and_does_not_declare_count(project: Project) -> None:
    project.doubles(a="f: pass\ng: fail")
    names = "from pathlib import Path\nimport doubles\nfrom retarget.extension import Case, CaseData, hookimpl\n"
    classes = {"compiler": "doubles.DoubleCompiler", "driver": "doubles.DoubleDriver", "cases": "DoubleCases"}
    project.write({"reading.py": names + READING + hooks(**classes)})
    project.write({"suites/a.names": "f", "suites/values": "1"})
    reuse = ("--retarget-extension", "reading", "--retarget-reuse-results")
    project.run(*reuse).assert_outcomes(passed=2)
    assert project.run(*reuse).parseoutcomes()["reused"] == 1
    project.write({"suites/values": "2"})
    assert "reused" not in project.run(*reuse).parseoutcomes()
    assert project.run(*reuse).parseoutcomes()["reused"] == 1
    project.write({"suites/a.names": "f g"})
    project.run(*reuse).assert_outcomes(passed=1, failed=1)


@alone_and_xdist(in_ci=False)
@pytest.mark.slow
@pytest.mark.parametrize("build_has_code", [False, True])
def test_an_edit_of_an_extension_runs_all_and_compiles_all_unless_its_build_says_what_counts(
    project: Project, arguments: tuple[str, ...], build_has_code: bool
) -> None:
    project.doubles(a="f: pass", b="f: pass")
    text = (project.path / "doubles.py").read_text()
    name = '    artifact_suffix = ".double"\n'
    project.write({"doubles.py": text.replace(name, f"{name}    build_has_code = {build_has_code}\n")})
    assert project.run(*CHANGED, *arguments, "-m", "run", apart=True).parseoutcomes()["passed"] == 2
    assert project.run(*CHANGED, *arguments, apart=True).parseoutcomes() == {"unchanged": 4}
    with (project.path / "doubles.py").open("a") as file:
        file.write("# edited\n")
    edited = project.run(*CHANGED, *arguments, "-m", "run", apart=True)
    assert edited.parseoutcomes()["passed"] == 2
    edited.stdout.fnmatch_lines(["compiled 0, *" if build_has_code else "compiled 2, *"])


OPENING = """
class ReadingProgram(doubles.DoubleProgram):
    def call(self, *arguments):
        with tempfile.NamedTemporaryFile("w+") as written:
            Path(written.name).read_text()
        Path("suites/microcode").read_text()
        subprocess.run(["sh", "simulator"], cwd="suites", check=True)
        subprocess.run("sh suites/model", shell=True, check=True)
        return super().call(*arguments)

class ReadingDriver(doubles.DoubleDriver):
    def open(self, config):
        device = super().open(config)
        with suppress(FileNotFoundError):
            Path("suites/clock").read_text()
        device.load = lambda artifact: ReadingProgram(bytes(artifact).decode())
        return device
"""


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--retarget-reuse-results", "--retarget-changed"])
def test_files_that_a_driver_reads_count_whether_it_opens_the_device_or_runs(project: Project, option: str) -> None:
    project.doubles(a="f: pass")
    names = "import subprocess, tempfile\nfrom contextlib import suppress\nfrom pathlib import Path\nimport doubles\n"
    names += "from retarget.extension import hookimpl\n"
    classes = {"compiler": "doubles.DoubleCompiler", "driver": "ReadingDriver", "cases": "doubles.DoubleCases"}
    project.write({"opening.py": names + OPENING + hooks(**classes), "suites/microcode": "1"})
    project.write({"suites/simulator": "exit", "suites/model": "exit"})
    options = ("--retarget-extension", "opening", option)
    word = "reused" if option == "--retarget-reuse-results" else "unchanged"
    project.run(*options).assert_outcomes(passed=2)
    again = project.run(*options).parseoutcomes()
    edits = (("microcode", "2"), ("clock", "800"), ("clock", "900"), ("simulator", "exit 0"), ("model", "exit 0"))
    for name, content in edits:
        assert project.run(*options).parseoutcomes() == again
        assert word in again
        project.write({f"suites/{name}": content})
        assert project.run(*options).parseoutcomes().get(word, 0) < again[word]


@pytest.mark.slow
def test_variables_that_a_driver_names_and_files_that_its_import_reads_count(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.doubles(a="f: pass")
    names = "import os\nfrom pathlib import Path\nimport doubles\nfrom retarget.extension import hookimpl\n"
    names += f"Path({str(project.path / 'suites/firmware')!r}).read_text()\nMODE = os.environ.get('MYCHIP_MODE')\n"
    classes = {"compiler": "doubles.DoubleCompiler", "driver": "NamingDriver", "cases": "doubles.DoubleCases"}
    driver = "class NamingDriver(doubles.DoubleDriver):\n    pass\n"
    project.write({"naming.py": names + driver + hooks(**classes), "suites/firmware": "1"})
    options = ("--retarget-extension", "naming", "--retarget-reuse-results")

    def reused() -> int:
        return project.run(*options).parseoutcomes().get("reused", 0)

    assert [reused(), reused()] == [0, 1]
    monkeypatch.setenv("MYCHIP_MODE", "fast")
    assert [reused(), reused()] == [0, 1]
    project.write({"suites/firmware": "2"})
    assert [reused(), reused()] == [0, 1]
