"""One run with `--retarget-update-expectations` settles what is known to fail; the next changes nothing."""

from __future__ import annotations

import json
import signal
import stat
import subprocess

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
    known(["b", "c"], "compile", "cannot fold the widget", "double does not compile it"), known("d", *DIFFERENCE)
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


WAYS = HEADER + declarations(
    known("a", *DIFFERENCE, case=["f", "h"]),
    known("b", *DIFFERENCE, case="f"),
    known("b", "crash", "SIGFPE", "the run crashes", case="g"),
    known("a", "run", "the double device lost its way", "the call fails", case="g"),
)


@alone_and_xdist()
def test_cases_that_fail_in_different_ways_are_named_in_place_of_a_rule_that_knows_the_first(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.doubles(a="f: fail\ng: raise\nh: fail", b="f: fail\ng: crash")
    project.write({FILE: HEADER + WRITTEN[len(HEADER) :].partition("\n\n")[2].replace('"d"', '"a"')})
    assert project.run(*DOUBLES, *arguments).ret == 1
    first = project.run(*UPDATE, *arguments)
    assert first.ret == 0
    assert (project.path / FILE).read_text() == WAYS
    second = project.run(*DOUBLES, *arguments, "-rx")
    assert second.ret == 0
    second.stdout.fnmatch_lines(["*2 passed, 2 xfailed in*"])
    again = project.run(*UPDATE, *arguments)
    assert section(again, "expectations")[0] == "expectations: nothing to change, 2 failures as expected"
    assert (project.path / FILE).read_text() == WAYS


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
        'stage = "crash"\nsignature = "SIGFPE"\nreason = "double crashes on it: SIGFPE"'
        in (project.path / FILE).read_text()
    )
    assert project.run(*DOUBLES).ret == 0


@alone_and_xdist()
def test_suites_outside_of_pytests_root_folder_are_updated_too(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: differ")
    project.write({"root/pytest.ini": ""})
    first = project.run(*UPDATE, "--rootdir=root", "-c", "root/pytest.ini", *arguments, "suites")
    assert first.ret == 0
    assert f"expectations: 1 rule for 1 target in {FILE} (+1, -0, ~0)" in section(first, "expectations")
    second = project.run(*DOUBLES, "--rootdir=root", "-c", "root/pytest.ini", *arguments, "suites")
    second.stdout.fnmatch_lines(["*1 passed, 1 xfailed in*"])


LEFT = """\
[[expectation]]
match = "a"
stage = "compare"
outcome = "flaky"
retries = 1
reason = "sometimes"

[[expectation]]
match = "b"
stage = "compile"
reason = "for a while"
until = 2024-01-01
"""


def test_what_only_a_person_can_settle_stays_a_failure(project: Project) -> None:
    project.doubles(a="f: differ", b="compile: fail\nf: pass")
    project.write({FILE: LEFT})
    result = project.run(*UPDATE)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*2 failed, 1 passed, 1 blocked in*"])
    lines = section(result, "expectations")
    assert lines[0] == "expectations: nothing to change, 0 failures as expected"
    assert lines[1] == "expectations: left to you, as flaky, intermittent or past their date: a_dc_dr, b_dc"
    assert lines[2].startswith(f"{FILE}:12: expectation[1].until: found 2024-01-01, which is past")
    assert (project.path / FILE).read_text() == LEFT


def test_a_rule_past_its_date_that_excuses_nothing_goes_and_is_no_error_any_more(project: Project) -> None:
    project.doubles(a="f: pass", b="compile: fail\nf: pass")
    gone, left = LEFT.replace('outcome = "flaky"\nretries = 1', "until = 2024-01-01").split("\n\n")
    project.write({FILE: f"# first\n\n{gone}\n\n{left}"})
    result = project.run(*UPDATE)
    assert (project.path / FILE).read_text() == f"# first\n\n{left}"
    diagnostics = [line for line in section(result, "expectations") if "which is past" in line]
    assert [line.partition(": found")[0] for line in diagnostics] == [f"{FILE}:7: expectation[0].until"]
    (project.path / "suites/b.mlir").write_text("f: pass")
    last = project.run(*UPDATE)
    assert last.ret == 0
    assert (project.path / FILE).read_text() == "# first\n"


def test_rules_about_what_is_not_there_stay_unless_a_whole_run_and_git_tell_that_it_is_gone(project: Project) -> None:
    project.doubles(a="f: differ", b="f: pass")
    names = ["a", "b", *(f"gone{number}" for number in range(6))]
    rules = (
        f"[[expectation]]\nmatch = {json.dumps(names)}\nstage = 'compare'\nreason = 'known'\n"
        "\n[[expectation]]\nmatch = 'x*'\nstage = 'run'\nreason = 'x'\n"
    )
    project.write({FILE: rules})
    partial = project.run(*UPDATE)
    assert partial.ret == 0
    kept = "expectations: 7 entries of `match` match nothing here and stay in suites/expectations.toml: "
    few = "'gone0', 'gone1', 'gone2', 'gone3', … (-vv shows all); "
    why = ", so they may be missing rather than gone: remove by hand what is gone"
    assert section(partial, "expectations")[-1] == f"{kept}{few}git does not know which files belong to suites{why}"
    assert (project.path / FILE).read_text() == rules.replace('"b", ', "")
    for words in (["init"], ["add", "."]):
        subprocess.run(["git", *words], cwd=project.path, check=True, capture_output=True)
    selected = project.run(*UPDATE, "-k", "a_dc")
    left_out = f"this run left out 2 targets of the suites there{why}"
    assert section(selected, "expectations")[-1] == f"{kept}{few}{left_out}"
    whole = project.run(*UPDATE, "-n2")
    assert (whole.ret, section(whole, "expectations")[-1]) == (
        0,
        "expectations: 1 rule for 1 target in suites/expectations.toml (+0, -1, ~1)",
    )
    assert (
        project.path / FILE
    ).read_text() == "[[expectation]]\nmatch = [\"a\"]\nstage = 'compare'\nreason = 'known'\n"


def test_a_run_that_ends_early_writes_nothing(project: Project) -> None:
    project.doubles(a="f: differ", b="f: differ")
    project.write({FILE: LEFT})
    result = project.run(*UPDATE, "-x")
    assert section(result, "expectations") == [
        "expectations: nothing was written, because the run ended early: stopping after 1 failures"
    ]
    assert (project.path / FILE).read_text() == LEFT


@alone_and_xdist()
def test_an_interrupted_run_writes_nothing(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: differ", b="f: hang")
    process = project.start(*UPDATE, *arguments)
    project.wait_for("suites/b.mlir.pid")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert "expectations: nothing was written, because the run was interrupted" in output.splitlines()
    assert not (project.path / FILE).exists()


@pytest.mark.slow
def test_a_run_in_which_a_pytest_worker_died_writes_nothing(project: Project) -> None:
    project.doubles(a="f: differ")
    project.write({"test_dies.py": "import os\n\n\ndef test_dies():\n    os._exit(3)\n"})
    result = project.run(*UPDATE, "-n2")
    (line,) = section(result, "expectations")
    assert line.startswith("expectations: nothing was written, because the pytest worker gw")
    assert not (project.path / FILE).exists()


def test_a_read_only_file_is_an_error_and_stays(project: Project) -> None:
    project.doubles(a="f: differ")
    project.write({FILE: "# mine\n"})
    (project.path / FILE).chmod(stat.S_IRUSR)
    result = project.run(*UPDATE)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert section(result, "expectations")[-1] == (
        f"{FILE}: cannot be written: it is read-only; no expectations were written"
    )
    assert (project.path / FILE).read_text() == "# mine\n"


def test_errors_of_a_suite_that_a_rule_serves_are_reported_and_nothing_is_written(project: Project) -> None:
    project.doubles(a="f: pass")
    text = '[[expectation]]\nmatch = "a"\nstage = "compare"\nreason = "known"\n'
    project.write({"expectations.toml": text, "more/suite.toml": ""})
    result = project.run(*UPDATE, "--continue-on-collection-errors")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    diagnostic, printed = section(result, "expectations")
    assert diagnostic == "more/suite.toml: found no [[module_test_suite]], expected one"
    assert printed == "expectations: nothing was written, because of these errors"
    assert (project.path / "expectations.toml").read_text() == text


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
