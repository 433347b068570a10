"""What a failure says, and that its commands do what they claim."""

from __future__ import annotations

import re

import pytest
from acceptance_support import DOUBLE, DOUBLES, Project, alone_and_xdist, suite
from mlir_modules import DIFFERS, REFUSED
from session_output import block, commands, junit, section, shell


def test_a_mismatch_shows_where_it_differs_and_commands_that_repeat_it(project: Project) -> None:
    project.cpu(differs=DIFFERS)
    result = project.run("-k", "not task")
    result.assert_outcomes(passed=1, failed=1, deselected=1)
    lines = block(result, "linalg: differs_vmvx_sync")
    assert lines[0] == "compare: wrong: 1 of 3 elements differ, first at [2]: actual 6.0, expected 7.0"
    assert "function wrong:" in lines
    assert "  1 of 3 elements differ (3xfloat32; atol 0.0001, rtol 0)" in lines
    assert "passed: fine" in lines
    assert not any("Traceback" in line for line in lines)
    pasted = commands(lines)
    assert len(pasted) == 3
    again = shell(pasted)
    assert again.returncode == 1, again.stderr
    assert "actual 6.0, expected 7.0" in again.stdout
    assert shell([pasted[0], pasted[2].replace("=wrong", "=fine")]).returncode == 0


@pytest.mark.slow
def test_the_compilers_colours_are_kept_on_a_terminal_and_dropped_elsewhere(project: Project) -> None:
    project.doubles(red="compile: fail")
    arguments = ("-m", "compile", *DOUBLES)
    coloured = project.run("--color=yes", *arguments)
    assert "suites/red.mlir:1:1: \x1b[31merror\x1b[0m: cannot fold the widget" in coloured.outlines
    assert "\x1b[31m\x1b[1mcompile: error: cannot fold the widget\x1b[0m" in coloured.outlines
    plain = project.run("--color=no", *arguments)
    assert "compile: error: cannot fold the widget" in plain.outlines
    assert "suites/red.mlir:1:1: error: cannot fold the widget" in plain.outlines
    through_xdist = project.run("--color=yes", "-n1", *arguments)
    assert "suites/red.mlir:1:1: \x1b[31merror\x1b[0m: cannot fold the widget" in through_xdist.outlines


def test_crashes_and_hangs_of_compiler_and_device_cost_their_targets_only(project: Project) -> None:
    project.doubles(a="f: pass", b="compile: crash\nf: pass", c="f: pass\ng: crash\nh: pass", e="f: pass")
    hanging = suite("hangs", kind="double", targets="doubles") + "timeout = 1.5\n"
    project.write({"suites/h/suite.toml": hanging, "suites/h/d.mlir": "f: hang"})
    project.write({"suites/h/x.mlir": "compile: hang\nf: pass"})
    result = project.run(*DOUBLES, "-v")
    result.stdout.fnmatch_lines(
        ["*4 failed, 6 passed, 1 subtests passed, 1 subtests failed, 1 subtests skipped, 2 blocked in*"]
    )
    assert block(result, "twice: b_dc")[0] == "compile: compiler crashed: SIGFPE"
    assert "about to crash" in block(result, "twice: b_dc")
    crashed = block(result, "twice: c_dc_dr")
    assert crashed[0] == "run: device worker crashed: SIGFPE in function 'g'"
    assert "passed: f" in crashed
    assert block(result, "hangs: d_dc_dr")[0] == "run: run timed out after 1.5 s in function 'f'"
    assert block(result, "hangs: x_dc")[0] == "compile: compile timed out after 1.5 s"
    result.stdout.fnmatch_lines(["suites/suite.toml::twice::e_dc_dr PASSED*"])


def test_a_compiler_that_is_not_installed_skips_and_a_requirement_makes_that_an_error(project: Project) -> None:
    project.doubles(a="f: pass")
    matrix = (project.path / "matrix.toml").read_text()
    project.write({"matrix.toml": matrix.replace('"double"\n', '"double"\nflags = ["--not-installed"]\n')})
    result = project.run(*DOUBLES, "-rs")
    result.assert_outcomes(skipped=2)
    assert "skipped: the double compiler is not installed (2 targets)" in result.outlines
    required = project.run(*DOUBLES, "--retarget-require", "double-backend")
    required.assert_outcomes(errors=1)
    required.stdout.fnmatch_lines(["blocked by suites/suite.toml::twice::a_dc (1 target)"])
    lines = block(required, "ERROR at setup of twice: a_dc")
    assert lines == [
        "the double compiler is not installed",
        "--retarget-require 'double-backend' does not let this target be skipped",
        "hint: pip install double",
    ]


@pytest.mark.parametrize(
    ("word", "instead", "title", "message"),
    [
        (
            "double-device",
            "doubel-device",
            "twice: a_dc_dr",
            r"found the driver 'doubel-device', expected a registered",
        ),
        ('"double"', '"doubel"', "twice: a_dc", r"found the compiler 'doubel', expected a registered one: .*double.*"),
    ],
)
def test_an_unknown_driver_or_compiler_is_an_error_of_its_targets(
    project: Project, word: str, instead: str, title: str, message: str
) -> None:
    project.doubles(a="f: pass")
    matrix = (project.path / "matrix.toml").read_text()
    project.write({"matrix.toml": matrix.replace(word, instead)})
    result = project.run(*DOUBLES)
    lines = block(result, f"ERROR at setup of {title}")
    assert len(lines) == 1
    assert re.match(message, lines[0])
    assert result.parseoutcomes()["errors" if "errors" in result.parseoutcomes() else "error"] == 1


@pytest.mark.slow
@alone_and_xdist(1, in_ci=False)
def test_line_style_is_one_line_per_failure_at_the_place_in_the_module(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.cpu(differs=DIFFERS, refused=REFUSED)
    result = project.run("--tb=line", "-k", "not task", *arguments)
    shown = [line for line in section(result, "FAILURES") if not line.startswith("[gw")]
    assert len(shown) == 2
    assert shown[0].startswith(f"{project.path}/suites/suite.toml:1: compare: wrong: 1 of 3 elements differ")
    assert shown[1].startswith(f"{project.path}/suites/refused.mlir:2: compile: error: 'arith.addi' op")


@pytest.mark.slow
@alone_and_xdist()
def test_a_failure_that_targets_share_is_shown_once_with_a_line_for_each_of_the_others(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.doubles(refused="compile: fail", denied="compile: fail", raises="f: raise", wrong="f: fail")

    def run(*more: str) -> tuple[pytest.RunResult, list[str]]:
        result = project.run(*DOUBLES, *arguments, *more)
        result.stdout.fnmatch_lines(["*4 failed, 2 passed, 2 blocked in*"])
        assert sum(line.startswith("FAILED ") for line in result.outlines) == 4
        return result, [line.strip("_ ") for line in result.outlines if re.fullmatch(r"_+ twice: .* _+", line)]

    result, heads = run("--junitxml=junit.xml")
    (shared,) = {"twice: refused_dc", "twice: denied_dc"} & set(heads)
    (other,) = {"twice: refused_dc", "twice: denied_dc"} - {shared}
    assert len(heads) == 3
    at = next(number for number, line in enumerate(result.outlines) if "more failed alike" in line)
    assert result.outlines[at].strip("- ") == "1 more failed alike (-vv shows all in full)"
    assert result.outlines[at + 1] == other
    failures = [failure for case in junit(project).values() for failure in case.iter("failure")]
    assert len(failures) == 4
    assert all("to reproduce this by hand:" in (failure.text or "") for failure in failures)
    if arguments:  # with those that run as slow ones
        assert len(run("-vv")[1]) == 4
        assert sum(": compile: error: cannot fold the widget" in line for line in run("--tb=line")[0].outlines) == 2


@pytest.mark.slow
def test_an_extension_of_an_option_is_loaded_behind_run_under_too(project: Project) -> None:
    project.doubles(a="f: pass")
    under = DOUBLE.replace('driver = "double-device"', 'driver = "double-device"\nrun_under = ["env"]')
    case = '[[case]]\nfunction = "f"\nexpected = [{ fill = 1, shape = [2], dtype = "f32" }]\n'
    project.write({"matrix.toml": under, "suites/suite.toml": suite("twice", kind="cases", targets="doubles")})
    project.write({"suites/a.cases.toml": case})
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=1, failed=1)
    assert block(result, "twice: a_dc_dr")[0] == "compare: 0 results, expected 1"
