"""One run with `--retarget-update-expectations` settles what is known to fail; the next changes nothing."""

from __future__ import annotations

import signal

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist
from declaration_texts import declarations, table
from session_output import section

pytestmark = pytest.mark.slow  # many sessions, some of the real compiler: the CI runs them, and make test-slow

UPDATE = (*DOUBLES, "--retarget-update-expectations")
FILE = "suites/expectations.toml"

HEADER = """\
# What is known to fail here, and why. `pytest --retarget-update-expectations` keeps this file true to what a run shows;
# reasons, comments and the order of the rules are yours to change.

"""
DIFFERENCE = ("compare", "values differ", "the results are not those expected")


def known(match: str | list[str], stage: str, signature: str, what: str, **case: str | list[str]) -> str:
    """A rule as an update writes it."""
    return table("expectation", match=match, **case, stage=stage, signature=signature, reason=f"{what}: {signature}")


WRITTEN = HEADER + declarations(
    known(["b", "c"], "compile", "cannot fold the widget", "it does not compile"), known("d", *DIFFERENCE)
)


@alone_and_xdist()
def test_one_run_writes_the_rules_and_the_next_is_green_and_changes_nothing(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.doubles(a="f: pass", b="compile: fail\nf: pass", c="compile: fail\nf: pass", d="f: differ")
    first = project.run(*UPDATE, *arguments)
    assert first.ret == 0
    assert (project.path / FILE).read_text() == WRITTEN
    lines = section(first, "expectations")
    assert lines[:3] == ["--- /dev/null", f"+++ {FILE}", "@@ -0,0 +1,14 @@"]
    assert f"expectations: 2 rules for 3 targets in {FILE} (+2, -0, ~0)" in lines
    first.stdout.fnmatch_lines(["*3 passed, 5 xfailed in*"])
    second = project.run(*DOUBLES, *arguments)
    assert second.ret == 0
    second.stdout.fnmatch_lines(["*3 passed, 5 xfailed in*"])
    again = project.run(*UPDATE, *arguments)
    assert section(again, "expectations")[0] == "expectations: nothing to change, 3 failures as expected"
    assert (project.path / FILE).read_text() == WRITTEN


KEPT = """\
# Known failures of the doubles.

# Ann looks after these two.
[[expectation]]  # since spring
match = [
    "a",  # the oldest
    # all since spring
    "b",
]
stage = "compile"
signature = "cannot fold"   # any of them
reason = "folding is not there yet"
issue = "https://example.org/7"

# Nobody knows.
[[expectation]]
match = "d"
stage = "run"
reason = "lost its way"
"""
MENDED = KEPT.replace('    "b",\n', "").partition("\n# Nobody")[0]


def test_what_compiles_now_goes_on_to_run_in_the_same_run_and_the_rest_of_the_file_stays(project: Project) -> None:
    project.doubles(a="compile: fail\nf: pass", b="f: differ", d="f: pass")
    project.write({FILE: KEPT})
    first = project.run(*UPDATE)
    assert first.ret == 0
    text = (project.path / FILE).read_text()
    assert text.startswith(MENDED)
    assert text.removeprefix(MENDED) == (
        '\n[[expectation]]\nmatch = "b"\nstage = "compare"\nsignature = "values differ"\n'
        'reason = "the results are not those expected: values differ"\n'
    )
    assert f"expectations: 2 rules for 2 targets in {FILE} (+1, -1, ~1)" in section(first, "expectations")
    second = project.run(*DOUBLES)
    assert second.ret == 0
    second.stdout.fnmatch_lines(["*3 passed, 3 xfailed in*"])


def test_a_compile_that_only_a_run_target_reports_gets_the_rule_too(project: Project) -> None:
    project.doubles(a="f: pass", b="compile: crash\nf: pass")
    assert project.run(*UPDATE, "-m", "run").ret == 0
    assert (
        'stage = "crash"\nsignature = "SIGFPE"\nreason = "the compiler crashes: SIGFPE"'
        in (project.path / FILE).read_text()
    )
    assert project.run(*DOUBLES).ret == 0


@alone_and_xdist(in_ci=False)
def test_suites_outside_of_pytests_root_folder_are_updated_too(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: differ")
    project.write({"root/pytest.ini": ""})
    first = project.run(*UPDATE, "--rootdir=root", "-c", "root/pytest.ini", *arguments, "suites")
    assert first.ret == 0
    assert f"expectations: 1 rule for 1 target in {FILE} (+1, -0, ~0)" in section(first, "expectations")
    second = project.run(*DOUBLES, "--rootdir=root", "-c", "root/pytest.ini", *arguments, "suites")
    second.stdout.fnmatch_lines(["*1 passed, 1 xfailed in*"])


@alone_and_xdist()
def test_an_interrupted_run_writes_nothing(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: differ", b="f: hang")
    process = project.start(*UPDATE, *arguments)
    project.wait_for("suites/b.mlir.pid")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=600)
    assert "expectations: nothing was written, because the run was interrupted" in output.splitlines()
    assert not (project.path / FILE).exists()


def test_words_of_an_extension_that_was_not_requested_are_neither_taken_out_nor_called_unknown(
    project: Project,
) -> None:
    project.doubles(a="f: differ")
    text = '[[expectation]]\nmatch = "a"\nwhen = "double-hal"\nstage = "compare"\nreason = "known"\n'
    project.write({FILE: text})
    assert project.run(*DOUBLES).ret == 0
    result = project.run("--retarget-update-expectations")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    *unknown, printed = section(result, "expectations")
    assert [line.partition(", expected")[0] for line in unknown] == [
        "found the compiler 'double'",
        "found the driver 'double-device'",
        "found the case loader 'double'",
    ]
    assert printed == "expectations: nothing was written, because without these nothing is known"
    assert (project.path / FILE).read_text() == text
    project.run().stdout.no_fnmatch_line("*which no target has as a tag*")


@pytest.mark.parametrize("option", ["--retarget-ignore-expectations", "--runxfail"])
def test_what_is_ignored_cannot_be_updated(project: Project, option: str) -> None:
    project.doubles(a="f: pass")
    result = project.run(*UPDATE, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            f"ERROR: --retarget-update-expectations and {option} were both given; expected one of them: "
            "what is ignored cannot be updated"
        ]
    )
