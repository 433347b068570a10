"""Bad input of every sort, with the words that the user gets."""

from __future__ import annotations

import os

import pytest
from acceptance_support import CPU, DOUBLES, Project, alone_and_xdist, hooks, suite
from mlir_modules import GOOD
from session_output import block


def test_errors_are_lines_without_traceback_and_exit_status_2(project: Project) -> None:
    project.cpu(one=GOOD)
    project.write({"suites/suite.toml": suite().replace("targets", "target")})
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    lines = block(result, "ERROR collecting suites/suite.toml")
    assert lines
    assert all(line.startswith("suites/suite.toml:") for line in lines)
    assert any("did you mean 'targets'?" in line for line in lines)


@alone_and_xdist(1)
@pytest.mark.slow
def test_the_short_summary_names_the_first_error(project: Project, arguments: tuple[str, ...]) -> None:
    project.cpu(one=GOOD)
    project.write({"suites/suite.toml": suite().replace("targets", "target")})
    result = project.run("--tb=no", *arguments)
    result.stdout.fnmatch_lines(["ERROR suites/suite.toml - suites/suite.toml:*"])
    named = project.run("--tb=no", "matrix.toml", *arguments)
    named.stdout.fnmatch_lines(["ERROR matrix.toml - matrix.toml: holds configs*"])


@alone_and_xdist(in_ci=False)
def test_the_errors_of_a_shared_file_are_reported_once(project: Project, arguments: tuple[str, ...]) -> None:
    project.write({"matrix.toml": CPU.replace("driver =", "drivre =", 1)})
    for name in "abcd":
        project.write({f"{name}/suite.toml": suite(name), f"{name}/one.mlir": GOOD})
    result = project.run(*arguments)
    assert result.ret in {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.TESTS_FAILED}  # the latter is what xdist says
    printed = [line for line in block(result, "ERROR collecting a/suite.toml") if "did you mean 'driver'?" in line]
    assert len(printed) == 1
    assert printed[0].startswith("matrix.toml:")
    expected = "b/suite.toml: not collected, because of the errors listed at a/suite.toml"
    shown, title, *others = block(result, "ERROR collecting b/suite.toml")
    assert (shown, title.strip("- ")) == (expected, "2 more failed alike (-vv shows all in full)")
    assert others == ["c/suite.toml", "d/suite.toml"]
    assert result.outlines.count(expected) == 1  # not once for each worker


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_a_suite_file_that_is_no_regular_file_is_an_error(project: Project) -> None:
    for name in ("link", "pipe", "folder/suite.toml", "ignored"):
        (project.path / name).mkdir(parents=True)
    (project.path / "link" / "suite.toml").symlink_to("gone.toml")
    (project.path / "ignored" / "suite.toml").symlink_to("gone.toml")
    os.mkfifo(project.path / "pipe" / "suite.toml")
    result = project.run("--ignore", "ignored")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert [line for line in result.outlines if "cannot be read: " in line and not line.startswith("ERROR")] == [
        "folder/suite.toml: cannot be read: found a folder; expected a TOML file",
        "link/suite.toml: cannot be read: found a link to 'gone.toml', which cannot be followed: "
        "No such file or directory; expected a TOML file",
        "pipe/suite.toml: cannot be read: found a named pipe; expected a TOML file",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--retarget-jobs", "none"),
            "--retarget-jobs: found 'none', expected a whole number of compiles at a time, 1 or more",
        ),
        (
            ("--retarget-run-timeout", "0"),
            "--retarget-run-timeout: found '0', expected a number of seconds above 0, such as 90 or 0.5",
        ),
        *(
            (
                (f"--retarget-run-timeout={value}",),
                f"--retarget-run-timeout: found '{value}', expected a number of seconds above 0, such as 90 or 0.5",
            )
            for value in ("nan", "inf", "-1", "")
        ),
        (("--retarget-extension=",), "--retarget-extension: found an empty text, expected the name of a module"),
        (
            ("--retarget-require", "a and"),
            "--retarget-require: 'a and': at column 6: expected not OR left parenthesis OR identifier; got end of input"
            "; expected an expression as -m takes",
        ),
        (
            ("--retarget-artifacts", "nowhere"),
            "--retarget-artifacts: no folder {path}/nowhere; expected one filled by "
            "`pytest -m compile --retarget-export DIR` on the host that compiles",
        ),
        (("--retarget-export", "matrix.toml"), "--retarget-export: {path}/matrix.toml is a file, expected a folder"),
        (
            ("--retarget-export", "out", "--retarget-artifacts", "out"),
            "--retarget-export and --retarget-artifacts were both given; expected one of them: "
            "the first writes artifacts where they are compiled, the second runs them elsewhere",
        ),
        (
            ("--retarget-no-cache", "--retarget-cache-dir", "x"),
            "--retarget-no-cache and --retarget-cache-dir were both given; expected one of them",
        ),
        (
            ("-o", "retarget_run_timeout=0"),
            "retarget_run_timeout in the ini file: found '0', expected a number of seconds above 0, such as 90 or 0.5",
        ),
    ],
)
def test_a_bad_option_is_a_usage_error_with_the_expected_form(
    project: Project, arguments: tuple[str, ...], message: str
) -> None:
    project.write({"matrix.toml": CPU})
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {message.format(path=project.path)}" in result.errlines


@pytest.mark.slow
def test_a_module_that_goes_away_after_collection_fails_its_compile_target(project: Project) -> None:
    project.cpu(one=GOOD)
    lines = ["import pathlib", "", "def pytest_collection_finish(session):"]
    lines += ["    pathlib.Path('suites/one.mlir').unlink(missing_ok=True)", ""]
    project.write({"conftest.py": "\n".join(lines)})
    result = project.run()
    result.stdout.fnmatch_lines(["*1 failed, 2 blocked in*"])
    assert "cannot be read: No such file or directory" in block(result, "linalg: one_vmvx")[0]


BREAKS_PROTOCOLS = """
from doubles import DoubleCases, DoubleCompiler, DoubleDevice, DoubleDriver, DoubleProgram
from retarget.extension import hookimpl


class Compiler(DoubleCompiler):
    def compile(self, request):
        return None if request.source_name == "a.mlir" else super().compile(request)


class Program(DoubleProgram):
    def call(self, function, inputs, on_check):
        return [1.5]


class Device(DoubleDevice):
    def load(self, artifact):
        return Program(artifact.decode())


class Driver(DoubleDriver):
    def open(self, config):
        return Device(config)


class Cases(DoubleCases):
    def load(self, request):
        return ["f"] if request.module == "c" else super().load(request)

""" + hooks(compiler="Compiler", driver="Driver", cases="Cases")


def test_an_extension_that_breaks_its_protocol_is_named_without_a_traceback(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass", c="f: pass")
    project.write({"broken.py": BREAKS_PROTOCOLS})
    result = project.run("--retarget-extension", "broken")
    assert result.parseoutcomes() == {"passed": 2, "failed": 3, "blocked": 1}
    assert "Traceback" not in result.stdout.str()
    for title, words in {
        "twice: a_dc": "compiler 'double': compile() returned None, expected Compiled",
        "twice: b_dc_dr": "driver 'double-device': open(): load(): call()[0] is 1.5 (float), expected a NumPy array",
        "twice: c_dc_dr": "case loader 'double': load()[0] is 'f' (str), expected Case",
    }.items():
        lines = block(result, title)
        assert f"extension 'broken': {words}" in lines[0]
        assert "report this to the authors of the extension" in "\n".join(lines)


def test_targets_with_a_plugin_that_forks_for_each_item_are_refused(project: Project) -> None:
    project.doubles(a="f: pass")
    project.write({"conftest.py": "def pytest_addoption(parser): parser.addoption('--forked', action='store_true')"})
    result = project.run(*DOUBLES, "--forked")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --forked: found targets of retarget, which run in workers of their own; *"])
