"""What is known to fail: xfail, skip, flaky; what happens where it is otherwise; rules that are errors themselves."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from acceptance_support import CPU, DOUBLES, Project, alone_and_xdist, expecting, suite
from mlir_modules import DIFFERS
from session_output import block, junit, properties, section

SUITE = "suites/suite.toml"
ID = f"{SUITE}::twice::"


def rule(match: str, stage: str = "", **keys: object) -> str:
    """One rule; its reason is `known`."""
    lines = ["[[expectation]]", f"match = {match!r}", f"stage = {stage!r}" if stage else "", 'reason = "known"']
    lines += [f"{key} = {value!r}" if isinstance(value, str) else f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(line for line in lines if line) + "\n"


def contradicted(expected: str, found: str) -> list[str]:
    """What a failure shows between its first line and the next step, of a rule of a project's first line."""
    rule = ["", "expectation  suites/expectations.toml:1", "reason       known"]
    return [*rule, f"expected     {expected}", f"found        {found}"]


@alone_and_xdist()
def test_known_failures_are_xfailed_with_their_reason_and_the_run_succeeds(
    project: Project, arguments: tuple[str, ...]
) -> None:
    compiled = {"refused": "compile: fail", "crashes": "compile: crash"}
    project.doubles(**compiled, differs="f: fail", dies="f: crash", lost="f: raise", ok="f: pass")
    expecting(
        project,
        rule("refused", "compile", signature="cannot fold the widget", issue="https://example.org/7"),
        rule("crashes", "crash", signature="SIGFPE"),
        rule("differs", "compare", signature="values differ", when="double-device"),
        rule("dies", "crash"),
        rule("lost", "run", signature="the double device lost its way"),
    )
    result = project.run(*DOUBLES, *arguments, "-rx")
    assert result.ret == 0
    result.assert_outcomes(passed=5, xfailed=7)
    assert "twice  5 ok, 7 xfail" in result.outlines
    printed = [line for line in result.outlines if line.startswith("XFAIL ")]
    assert set(printed) == {
        f"XFAIL {ID}refused_dc - known (https://example.org/7)",
        f"XFAIL {ID}refused_dc_dr - refused_dc is expected to fail: known (https://example.org/7)",
        f"XFAIL {ID}crashes_dc - known",
        f"XFAIL {ID}crashes_dc_dr - crashes_dc is expected to fail: known",
        f"XFAIL {ID}differs_dc_dr - known",
        f"XFAIL {ID}dies_dc_dr - known",
        f"XFAIL {ID}lost_dc_dr - known",
    }


@alone_and_xdist(in_ci=False)
def test_a_known_failure_that_passes_fails_and_goes_on_to_run(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(mended="f: fail", fixed="f: pass")
    expecting(project, rule("mended", "compile"), rule("fixed", "compare", issue="x/1"))
    result = project.run(*DOUBLES, *arguments)
    result.assert_outcomes(passed=1, failed=3)
    assert block(result, "twice: mended_dc") == [
        "expected to fail at compile, but passed",
        *contradicted("compile", "passed"),
        "next: take the target out of the rule, or let `pytest --retarget-update-expectations` do it",
    ]
    assert block(result, "twice: fixed_dc_dr")[:5] == [
        "expected to fail at compare, but passed",
        "",
        "expectation  suites/expectations.toml:6",
        "reason       known",
        "issue        x/1",
    ]
    assert block(result, "twice: mended_dc_dr")[0].startswith("compare: 1 of 2 elements differ")


@pytest.mark.slow
def test_where_the_compile_target_is_deselected_the_run_target_is_judged_by_its_rule(project: Project) -> None:
    project.doubles(a="compile: fail", b="f: pass")
    expecting(project, rule("a", "compile"), rule("b", "compile"))
    result = project.run(*DOUBLES, "-m", "run", "-rx")
    result.assert_outcomes(xfailed=1, failed=1, deselected=2)
    assert f"XFAIL {ID}a_dc_dr - known" in result.outlines
    assert block(result, "twice: b_dc_dr")[0] == "expected to fail at compile, but passed"


@pytest.mark.slow
def test_what_is_skipped_is_not_even_compiled(project: Project) -> None:
    project.doubles(a="compile: hang", b="f: pass")
    expecting(project, rule("a", outcome="skip", issue="x/1"))
    result = project.run(*DOUBLES, "-rs")
    result.assert_outcomes(passed=2, skipped=2)
    assert "skipped: known (x/1) (2 targets)" in result.outlines
    assert not (project.path / "suites/a.mlir.pid").exists()


@pytest.mark.slow
def test_ignoring_expectations_shows_everything_raw(project: Project) -> None:
    project.doubles(a="compile: fail", b="f: pass")
    expecting(project, rule("a", "compile"), rule("b", "compare"), rule("nothing", "compile"))
    for option in ("--retarget-ignore-expectations", "--runxfail"):
        result = project.run(*DOUBLES, option)
        result.stdout.fnmatch_lines(["*1 failed, 2 passed, 1 blocked in*"])
        assert block(result, "twice: a_dc")[0].startswith("compile: error: cannot fold the widget")


@pytest.mark.slow
def test_how_it_failed_can_be_seen_of_a_known_failure_too(project: Project) -> None:
    project.doubles(a="compile: fail")
    expecting(project, rule("a", "compile"))
    result = project.run(*DOUBLES, "--xfail-tb", "-rx")
    lines = [line.strip("_ ") for line in result.outlines]
    start = lines.index("twice: a_dc")
    assert lines[start + 1] == "compile: error: cannot fold the widget"


# ---------------------------------------------------------------- flaky


@alone_and_xdist()
def test_a_flaky_target_is_tried_again_and_counted_apart(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: fail-2", b="compile: fail-1\nf: pass", c="f: pass")
    expecting(
        project,
        rule("a", "compare", outcome="flaky", retries=2),
        rule("b", "compile", outcome="flaky", retries=1, when="compile"),
        rule("c", "compare", outcome="flaky", retries=1),
    )
    result = project.run(*DOUBLES, *arguments, "-v", "--junitxml=junit.xml")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*4 passed, 2 flaky in*"])
    assert f"flaky: {ID}a_dc_dr passed at attempt 3 (known)" in result.outlines
    assert f"flaky: {ID}b_dc passed at attempt 2 (known)" in result.outlines
    result.stdout.fnmatch_lines([f"*{ID}a_dc_dr*" if arguments else f"{ID}a_dc_dr FLAKY*"])
    case = junit(project)["a_dc_dr"]
    assert properties(case)["retarget.attempts"] == "3"
    assert [one.get("name") for one in case.iter("property")].count("retarget.stage") == 1


# ---------------------------------------------------------------- intermittent

TOMORROW = date.today() + timedelta(days=1)


@pytest.mark.slow
@alone_and_xdist(in_ci=False)
def test_intermittent_targets_are_tried_once_and_counted_apart_pass_or_fail(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.doubles(a="f: fail-1", b="f: pass", c="f: pass", d="compile: fail")
    expecting(
        project,
        rule("[ab]", "compare", outcome="intermittent", signature="values differ", until=TOMORROW),
        rule("d", "compile", outcome="intermittent", until=TOMORROW),
        rule("c", "crash", outcome="intermittent", until=TOMORROW),  # its compile target passes, and is just passed
    )
    result = project.run(*DOUBLES, *arguments, "-v", "--junitxml=junit.xml")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*3 passed, 5 intermittent in*"])
    assert (project.path / "suites/a.mlir.count").read_text() == "1"
    (printed,) = (line for line in result.outlines if line.startswith("intermittent: "))
    head, _, results = printed.rstrip(")").rpartition(": ")
    assert head == "intermittent: known (5 targets"
    assert {*results.split(", ")} == {"1 failed at compare", "2 passed", "1 failed at compile", "1 not compiled"}
    result.stdout.fnmatch_lines([f"*{ID}a_dc_dr*" if arguments else f"{ID}a_dc_dr INTERMITTENT*"])
    found = {}
    for name, case in junit(project).items():
        skipped = case.find("skipped")
        found[name] = (
            properties(case).get("retarget.intermittent"),
            None if skipped is None else (skipped.get("type"), skipped.get("message")),
        )
    assert found["a_dc_dr"] == ("compare: values differ", ("pytest.xfail", "known"))
    assert found["b_dc_dr"] == ("passed", None)
    assert (found["c_dc"], found["c_dc_dr"]) == ((None, None), ("passed", None))
    assert found["d_dc"] == ("compile: cannot fold the widget", ("pytest.xfail", "known"))
    blocked = "d_dc failed, which is intermittent: known"
    assert found["d_dc_dr"] == ("not compiled", ("pytest.xfail", blocked))
    if not arguments:
        again = project.run(*DOUBLES, "--last-failed", "-q")
        assert again.outlines[0].startswith(".i.i.iii")  # none of them counts as failed: all run
        assert "intermittent: known (5 targets: 3 passed, 1 failed at compile, 1 not compiled)" in again.outlines


# ---------------------------------------------------------------- rules that are errors


@pytest.mark.slow
@alone_and_xdist(in_ci=False)
def test_an_expired_rule_excuses_nothing_and_ends_the_run_with_an_error(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.doubles(a="compile: fail", b="f: pass")
    yesterday = date.today() - timedelta(days=1)
    expecting(project, rule("a", "compile", until=yesterday), rule("b", "compile", until=yesterday))
    result = project.run(*DOUBLES, *arguments)
    result.stdout.fnmatch_lines(["*1 failed, 2 passed, 1 blocked in*"])
    lines = block(result, "twice: a_dc")
    assert lines[0].startswith(f"its expectation expired on {yesterday}: compile: error: cannot fold the widget")
    assert [line.partition(": found")[0] for line in section(result, "expectations")] == [
        "suites/expectations.toml:5: expectation[0].until",
        "suites/expectations.toml:11: expectation[1].until",
    ]
    (project.path / "suites/a.mlir").write_text("f: pass")
    assert project.run(*DOUBLES, *arguments, "-q").ret == 1


@pytest.mark.parametrize(
    ("arguments", "is_full"),
    [
        pytest.param(words, is_full, marks=() if number < 2 else pytest.mark.slow, id=" ".join(words) or "all")
        for number, (words, is_full) in enumerate(
            [
                (("-m", "run"), True),
                ((f"{ID}b_dc",), False),
                ((), True),
                (("-q",), True),
                (("suites",), True),
                (("-n2",), True),
                ((SUITE,), False),
                (("suites/b.mlir",), False),
                (("--collect-only",), False),
                (("-n2", "suites/b.mlir"), False),
            ]
        )
    ],
)
def test_a_rule_without_effect_fails_a_full_run_whatever_was_selected(
    project: Project, arguments: tuple[str, ...], is_full: bool
) -> None:
    project.doubles(a="compile: fail", b="f: pass")
    expecting(project, rule("a", "compile"), rule("bb", "compile"))
    diagnostic = (
        "suites/expectations.toml:7: expectation[1].match: found 'bb', which names no module that this rule serves;"
        " did you mean 'b'?"
    )
    result = project.run(*DOUBLES, *arguments)
    assert result.ret == (1 if is_full else 0)
    if is_full:
        assert section(result, "expectations")[0] == diagnostic
    else:
        result.stdout.no_fnmatch_line("*expectation?1?*")


def test_a_file_of_expectations_named_on_the_command_line_says_what_to_do(project: Project) -> None:
    project.doubles(a="f: pass")
    expecting(project, rule("a", "compare"))
    result = project.run(*DOUBLES, "suites/expectations.toml")
    result.stdout.fnmatch_lines(["*suites/expectations.toml: holds expectations *such as: pytest suites"])


# ---------------------------------------------------------------- the real compiler


@alone_and_xdist(in_ci=False)
def test_rules_of_three_files_of_one_folder_that_contradict_each_other_are_reported_at_once(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.write(
        {
            "matrix.toml": CPU + rule("differs", "run"),
            "suite.toml": suite() + rule("differs", "compare"),
            "expectations.toml": rule("differs", "compare", signature="shape differs"),
            "differs.mlir": DIFFERS,
        }
    )
    result = project.run(*arguments, "--retarget-update-expectations")
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if arguments else pytest.ExitCode.INTERRUPTED)
    lines = block(result, "ERROR collecting suite.toml")
    printed = [line for line in lines if "is as specific" in line]
    assert [line.partition(": found another stage")[0] for line in printed] == [
        "expectations.toml:1: expectation[0]",
        "suite.toml:6: expectation[0]",
    ]
    where = CPU.count("\n") + 1
    assert all(f"than expectation[0] at matrix.toml:{where}, which is as specific" in line for line in printed)
    assert "differs" in (project.path / "expectations.toml").read_text()
