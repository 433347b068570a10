"""What a failure says of the other targets of its module."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from acceptance_support import DOUBLES_FILE, Project, hooks, matrix, suite
from declaration_texts import compiler, runtime, target
from retarget.session import Commands
from session_output import block, properties, shell

pytestmark = pytest.mark.slow  # many sessions, some of the real compiler: the CI runs them, and make test-slow

CONFIGS = matrix(
    *(compiler(name, "double") for name in ("good", "bad", "other")),
    *(runtime(name, "double-device") for name in ("one", "two")),
    runtime("away", "double-device", device="absent"),
    target("doubles", ["good", "bad", "other"], ["one", "two"]),
)

FACULTIES = """\
import fnmatch

from doubles import *
import doubles


class Faulty(doubles.DoubleDevice):
    def __init__(self, config):
        super().__init__(config)
        self._config = config

    def load(self, artifact):
        compiler, _, text = artifact.decode().partition("\\n")
        lines = text.split("\\n")
        functions = {"f": "pass"}
        for line in lines:
            where, _, printed = line.removeprefix("@").partition(" ")
            name, _, behaviour = printed.rpartition(":")
            if line.startswith("@"):
                fits = fnmatch.fnmatch(f"{compiler}/{self._config.name}", where)
                functions[name or "f"] = behaviour if fits else functions.get(name or "f", "pass")
        return doubles.DoubleProgram("\\n".join([lines[0], *(": ".join(pair) for pair in functions.items())]))


class FaultyDriver(doubles.DoubleDriver):
    def open(self, config):
        if "absent" in config.devices:
            return super().open(config)
        return Faulty(config)

    def functions(self, artifact):
        return Faulty(None).load(artifact).functions


class FaultyCompiler(doubles.DoubleCompiler):
    def resolve(self, config, flags):
        return Resolved(build_id="double-1", flags=(config.name,), facts=(("folder", str(Path.cwd())),))

    def compile(self, request):
        text = f"{request.resolved.flags[0]}\\n{request.source_path}\\n{request.source.decode()}"
        return Compiled(artifact=text.encode())

""" + hooks(compiler="FaultyCompiler", driver="FaultyDriver")
"""Doubles whose modules say which compiler's artifact misbehaves on which runtime config: `@bad/one fail`;
and in which function, if that is not `f`: `@bad/* g:fail`."""

SECTION = "what the others did"


def faulty(project: Project, more: str = "", **modules: str) -> None:
    project.write(
        {"matrix.toml": CONFIGS, "suites/suite.toml": suite("twice", kind="double", targets="doubles") + more}
    )
    project.write({f"suites/{name}.mlir": text for name, text in modules.items()})
    project.write({"faulty.py": FACULTIES, "doubles.py": DOUBLES_FILE.read_text()})


def printed(lines: list[str]) -> list[str]:
    """The lines of the section in a failure."""
    start = next(at for at, line in enumerate(lines) if line.strip("- ") == SECTION)
    return lines[start + 1 :]


RUN = ("--retarget-extension", "faulty", "-p", "no:cacheprovider")


def test_one_runtime_config_of_several_is_pointed_to(project: Project) -> None:
    faulty(project, m="@bad/one fail\n")
    result = project.run(*RUN)
    result.assert_outcomes(passed=8, failed=1)
    lines = printed(block(result, "twice: m_bad_one"))
    assert lines[0] == (
        "This points to runtime config one (driver double-device): the same artifact passes on two. "
        "But what good and other made of this module passes on one too."
    )
    assert "  m_bad_two    passed" in lines
    assert "  m_good_one   passed" in lines
    hint = "to compare them by hand: "
    (by_hand,) = [line.removeprefix(hint) for line in lines if line.startswith(hint)]
    assert (
        by_hand
        == f"{Commands.program('retarget')} compare --retarget-extension faulty suites/m.mlir --configs bad/one,bad/two"
    )
    compared = shell([f"cd {project.path}", by_hand])
    assert (compared.returncode, compared.stderr) == (1, "")
    assert compared.stdout.splitlines()[3] == "first difference: f, check 1:"
    assert not any(line.startswith("to run what has not run") for line in lines)


def test_nothing_is_reported_of_what_did_not_run_but_how_to_run_it(project: Project) -> None:
    faulty(project, m="@bad/one fail\n")
    result = project.run(*RUN, "suites/suite.toml::twice::m_bad_one")
    result.assert_outcomes(failed=1)
    lines = printed(block(result, "twice: m_bad_one"))
    assert lines[0] == "Inconclusive: nothing else has run this module."
    command = next(line for line in lines if line.startswith("to run "))
    assert command == "to run all of them: pytest --retarget-extension faulty suites/m.mlir"
    again = project.run(*command.removeprefix("to run all of them: pytest ").split())
    again.assert_outcomes(passed=8, failed=1)
    most = project.run(*RUN, *(f"suites/suite.toml::twice::m_{name}" for name in ("bad_one", "good_one", "other_one")))
    command = next(line for line in printed(block(most, "twice: m_bad_one")) if line.startswith("to run "))
    assert command == (
        "to run what has not run: pytest --retarget-extension faulty suites/suite.toml::twice::m_good_two "
        "suites/suite.toml::twice::m_bad_two suites/suite.toml::twice::m_other_two"
    )
    project.run(*command.removeprefix("to run what has not run: pytest ").split()).assert_outcomes(passed=3)


@pytest.mark.parametrize(
    "arguments",
    [(), pytest.param(("-n2",), marks=pytest.mark.slow), ("--tb=no",)],
    ids=["alone", "xdist", "without tracebacks"],
)
def test_junit_shows_it_too(project: Project, arguments: tuple[str, ...]) -> None:
    faulty(project, m="@bad/* fail\n", n="@bad/one fail\n")
    project.run(*RUN, "--junitxml=out/report.xml", *arguments).assert_outcomes(passed=15, failed=3)
    root = ET.parse(project.path / "out" / "report.xml").getroot()  # noqa: S314
    printed = {}
    for case in root.iter("testcase"):
        found = properties(case)
        assert found["retarget.nodeid"] == f"suites/suite.toml::twice::{case.attrib['name']}"
        if (failure := case.find("failure")) is None:
            assert "retarget.attribution" not in found
        else:
            printed[case.attrib["name"]] = (found["retarget.attribution"], (failure.text or "").split("\n"))
    assert set(printed) == {"m_bad_one", "m_bad_two", "n_bad_one"}
    for sentence, lines in printed.values():
        head = lines.index(f" {SECTION} ".center(80, "-"))
        assert lines[:head].count("to reproduce this by hand:") == 1
        assert lines[head + 1] == sentence
    assert printed["n_bad_one"][0] == (
        "This points to runtime config one (driver double-device): the same artifact passes on two. "
        "But what good and other made of this module passes on one too."
    )
    assert printed["m_bad_two"][0].startswith("This points to compiler config bad: its artifact fails alike on every")
    assert "  m_bad_one    failed alike" in printed["m_bad_two"][1]
    assert root[0].attrib["failures"] == "3"
    assert [path.name for path in (project.path / "out").iterdir()] == ["report.xml"]
