"""What is known to fail: xfail, skip, flaky; what happens where it is otherwise; rules that are errors themselves."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from acceptance_support import CPU, DOUBLE, DOUBLES, Project, alone_and_xdist, expecting, suite
from mlir_modules import DIFFERS, GOOD, REFUSED
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


@pytest.mark.slow
def test_a_failure_that_is_no_verdict_of_the_compiler_is_excused_by_no_rule(project: Project) -> None:
    project.doubles(lost="compile: trouble")
    expecting(project, rule("lost", "compile"))
    result = project.run(*DOUBLES)
    assert result.parseoutcomes() == {"failed": 1, "blocked": 1}
    assert block(result, "twice: lost_dc")[:3] == [
        "compile: the folding tool is not there",
        "",
        "hint: the compiler gave no verdict on the module: this is not stored, and no expectation applies to it",
    ]


@alone_and_xdist()
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
def test_a_diagnostic_that_became_a_crash_reports_it_above_the_usual_text(project: Project) -> None:
    project.doubles(a="compile: crash")
    expecting(project, rule("a", "compile", signature="cannot fold"))
    result = project.run(*DOUBLES, "-rf")
    result.stdout.fnmatch_lines(["*1 failed, 1 blocked in*"])
    lines = block(result, "twice: a_dc")
    assert lines[:9] == [
        "expected to fail at compile, but crashed: SIGFPE",
        *contradicted("compile: cannot fold", "crash: SIGFPE"),
        "next: if it is so now, change the rule, or let `pytest --retarget-update-expectations` do it",
        "",
        "compile: compiler crashed: SIGFPE",
    ]
    assert "about to crash" in lines
    assert "to reproduce this by hand:" in lines
    assert f"FAILED {ID}a_dc - expected to fail at compile, but crashed: SIGFPE" in result.outlines


@pytest.mark.slow
def test_a_rule_excuses_the_way_of_failing_that_it_names_and_no_other(project: Project) -> None:
    project.doubles(
        crashes="f: crash", passes="f: pass", hangs="f: hang", leaves="f: leave", raises="f: raise", differs="f: fail"
    )
    expecting(
        project,
        rule("crashes", "crash"),
        rule("passes", "crash"),  # is judged at the run target if the compile passes
        rule("hangs", "timeout"),
        rule("leaves", "run"),
        rule("raises", "compare", outcome="flaky", retries=2),
        rule("differs", "compare", signature="shape differs"),
    )
    result = project.run(*DOUBLES, "--retarget-run-timeout", "2")
    result.assert_outcomes(passed=6, xfailed=2, failed=4)
    assert block(result, "twice: passes_dc_dr")[0] == "expected to crash, but passed"
    assert block(result, "twice: leaves_dc_dr")[0].startswith("run: device worker ended")
    found = block(result, "twice: raises_dc_dr")[0]
    assert found == "expected to fail at compare, but failed at run: run: the double device lost its way"
    lines = block(result, "twice: differs_dc_dr")
    assert lines[0].startswith("expected to fail at compare in another way: compare: 1 of 2 elements differ")
    assert lines[4:6] == ["expected     compare: shape differs", "found        compare: values differ"]


@pytest.mark.slow
@alone_and_xdist()
def test_a_rule_excuses_a_target_only_if_it_allows_how_every_case_failed(
    project: Project, arguments: tuple[str, ...]
) -> None:
    both = "f: fail\ng: raise\nh: fail"
    project.doubles(a=both, b=both, c=both, d="f: fail\ng: pass\nh: fail", e="f: fail\ng: crash")
    expecting(
        project,
        rule("a", "compare", signature="values differ"),
        rule("b", "run"),
        '[[expectation]]\nmatch = "c"\nstage = ["run", "compare"]\nreason = "known"\n',
        rule("d", "compare", signature="values differ"),
        rule("e", "crash", signature="SIGFPE"),
    )
    result = project.run(*DOUBLES, *arguments)
    result.assert_outcomes(passed=5, failed=3, xfailed=2)
    lines = block(result, "twice: a_dc_dr")
    assert lines[:7] == [
        "expected to fail at compare, but case 'g' failed at run: run: the double device lost its way",
        *contradicted("compare: values differ", "run: the double device lost its way"),
        "case         g",
    ]
    printed = "expected to fail at run, but case 'f' failed at compare: compare: 1 of 2 elements differ"
    assert block(result, "twice: b_dc_dr")[0].startswith(printed)
    printed = "expected to crash, but case 'f' failed at compare: compare: 1 of 2 elements differ"
    assert block(result, "twice: e_dc_dr")[0].startswith(printed)


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
def test_artifacts_from_another_host_are_judged_like_those_compiled_here(project: Project) -> None:
    project.doubles(refused="compile: fail", crashes="compile: crash", differs="f: fail")
    expecting(project, rule("refused", "compile"), rule("crashes", "crash"), rule("differs", "compare"))
    project.run(*DOUBLES, "-m", "compile", "--retarget-export", "out").assert_outcomes(
        passed=1, xfailed=2, deselected=3
    )
    result = project.run(*DOUBLES, "-m", "run", "--retarget-artifacts", "out")
    result.assert_outcomes(xfailed=3, deselected=3)


@pytest.mark.slow
def test_how_it_failed_can_be_seen_of_a_known_failure_too(project: Project) -> None:
    project.doubles(a="compile: fail")
    expecting(project, rule("a", "compile"))
    result = project.run(*DOUBLES, "--xfail-tb", "-rx")
    lines = [line.strip("_ ") for line in result.outlines]
    start = lines.index("twice: a_dc")
    assert lines[start + 1] == "compile: error: cannot fold the widget"


@pytest.mark.slow
def test_known_failures_stand_in_junit_with_their_reason(project: Project) -> None:
    project.doubles(a="compile: fail")
    expecting(project, rule("a", "compile"))
    project.run(*DOUBLES, "--junitxml=junit.xml")
    skipped = [one for case in junit(project).values() for one in case.findall("skipped")]
    assert [(one.get("type"), one.get("message")) for one in skipped] == [
        ("pytest.xfail", "known"),
        ("pytest.xfail", "a_dc is expected to fail: known"),
    ]


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


@pytest.mark.slow
def test_flaky_targets_are_named_when_quiet_too(project: Project) -> None:
    project.doubles(a="f: fail-1", b="f: pass")
    expecting(project, rule("a", "compare", outcome="flaky", retries=1))
    result = project.run(*DOUBLES, "-q")
    assert result.ret == 0
    assert f"flaky: {ID}a_dc_dr passed at attempt 2 (known)" in result.outlines
    result.stdout.fnmatch_lines(["3 passed, 1 flaky in*"])


@pytest.mark.slow
def test_a_flaky_target_out_of_retries_fails_with_each_attempt(project: Project) -> None:
    project.doubles(a="f: fail")
    expecting(project, rule("a", "compare", outcome="flaky", retries=2))
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=1, failed=1)
    lines = block(result, "twice: a_dc_dr")
    assert lines[0].startswith("failed at each of 3 attempts: compare: 1 of 2 elements differ")
    assert lines[2:6] == [
        "attempt 1  compare: values differ",
        "attempt 2  compare: values differ",
        "attempt 3  compare: values differ",
        "flaky by   suites/expectations.toml:1: known",
    ]
    assert "to reproduce this by hand:" in lines


@pytest.mark.slow
@pytest.mark.parametrize("selection", [(), ("-m", "run")], ids=["all", "run"])
def test_a_flaky_compile_out_of_retries_is_not_tried_again_for_each_run_target(
    project: Project, selection: tuple[str, ...]
) -> None:
    project.doubles(a="compile: fail-9\nf: pass")
    second = '[[runtime_config]]\nname = "dr2"\ndriver = "double-device"\n'
    project.write({"matrix.toml": DOUBLE.replace('["dr"]', '["dr", "dr2"]') + "\n" + second})
    expecting(project, rule("a", "compile", outcome="flaky", retries=2))
    result = project.run(*DOUBLES, *selection, "-vv")
    assert (project.path / "suites/a.mlir.count").read_text() == "3"
    failed = ["a_dc_dr", "a_dc_dr2"] if selection else ["a_dc"]
    for name in failed:
        assert block(result, f"twice: {name}")[0].startswith(
            "failed at each of 3 attempts: compile: error: cannot fold"
        )
    result.stdout.fnmatch_lines([f"*{len(failed)} failed*"])


# ---------------------------------------------------------------- intermittent

TOMORROW = date.today() + timedelta(days=1)


@pytest.mark.slow
@alone_and_xdist()
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


@pytest.mark.slow
def test_another_failure_of_an_intermittent_target_is_a_failure(project: Project) -> None:
    project.doubles(a="f: raise", b="f: fail")
    expecting(
        project,
        rule("a", "compare", outcome="intermittent", until=TOMORROW),
        rule("b", "compare", outcome="intermittent", signature="shape differs", until=TOMORROW),
    )
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=2, failed=2)
    assert block(result, "twice: a_dc_dr")[0].startswith("expected to pass or fail at compare, but failed at run: ")
    lines = block(result, "twice: b_dc_dr")
    assert lines[0].startswith("expected to pass or fail at compare in another way: ")
    assert "expected     passed, or compare: shape differs" in lines
    assert "next: if it is so now, change the rule" in lines


@pytest.mark.slow
def test_a_compile_that_failed_by_chance_is_tried_anew_in_the_next_session(project: Project) -> None:
    project.doubles(a="compile: fail-1\nf: pass")
    expecting(project, rule("a", "compile", outcome="intermittent", until=TOMORROW))
    first, second = project.run(*DOUBLES), project.run(*DOUBLES)
    first.stdout.fnmatch_lines(["*2 intermittent in*"])
    second.stdout.fnmatch_lines(["*1 passed, 1 intermittent in*"])
    assert (first.ret, second.ret) == (0, 0)


@pytest.mark.slow
def test_an_update_leaves_an_intermittent_rule_alone(project: Project) -> None:
    project.doubles(a="f: pass", b="f: raise", c="f: fail")
    rules = [rule(name, "compare", outcome="intermittent", until=TOMORROW) for name in "abc"]
    expecting(project, *rules)
    result = project.run(*DOUBLES, "--retarget-update-expectations")
    result.stdout.fnmatch_lines(["*1 failed, 3 passed, 2 intermittent in*"])
    assert section(result, "expectations")[:2] == [
        "expectations: nothing to change, 1 failure as expected",
        "expectations: left to you, as flaky, intermittent or past their date: b_dc_dr",
    ]
    assert (project.path / "suites/expectations.toml").read_text() == "\n".join(rules)


# ---------------------------------------------------------------- rules that are errors


@pytest.mark.slow
@alone_and_xdist()
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


@pytest.mark.slow
def test_a_rule_is_not_judged_where_suites_that_it_serves_were_left_out(project: Project) -> None:
    project.doubles(b="f: pass")
    project.write(
        {
            "expectations.toml": rule("other", "compare"),
            "more/suite.toml": suite("more", kind="double", targets="doubles"),
            "more/other.mlir": "f: fail",
        }
    )
    assert project.run(*DOUBLES).ret == 0
    assert project.run(*DOUBLES, "suites").ret == 0
    assert project.run(*DOUBLES, "--ignore=more").ret == 0
    (project.path / "more/other.mlir").rename(project.path / "more/else.mlir")
    assert project.run(*DOUBLES).ret == 1


def test_rules_that_contradict_each_other_are_reported_when_collected(project: Project) -> None:
    project.doubles(a="f: fail")
    expecting(project, rule("a", "compare"), rule("a", "run"))
    result = project.run(*DOUBLES)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "suites/expectations.toml:6: expectation?1?: found another stage, signature, outcome or date than "
            "expectation?0? at suites/expectations.toml:1, which is as specific and also matches a_dc_dr; *"
        ]
    )


def test_a_file_of_expectations_named_on_the_command_line_says_what_to_do(project: Project) -> None:
    project.doubles(a="f: pass")
    expecting(project, rule("a", "compare"))
    result = project.run(*DOUBLES, "suites/expectations.toml")
    result.stdout.fnmatch_lines(["*suites/expectations.toml: holds expectations *such as: pytest suites"])


# ---------------------------------------------------------------- the real compiler


@pytest.mark.slow
def test_rules_hold_for_the_real_compiler_and_its_drivers(project: Project) -> None:
    project.cpu(refused=REFUSED, differs=DIFFERS, good=GOOD)
    expecting(
        project,
        rule("refused", "compile", signature="'arith.addi' op operand #0 must be signless"),
        rule("differs", "compare", signature="values differ", when="local-sync or local-task"),
    )
    result = project.run()
    assert result.ret == 0
    result.assert_outcomes(passed=4, xfailed=5)
    assert "linalg  4 ok, 5 xfail" in result.outlines
    assert project.run("--lf", "--lfnf=none").parseoutcomes() == {"deselected": 9}
    raw = project.run("--retarget-ignore-expectations")
    raw.stdout.fnmatch_lines(["*3 failed, 4 passed, 2 blocked in*"])


@alone_and_xdist()
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


REFERENCE = """\
import os
from pathlib import Path


def every_other_time(a):
    count = Path(__file__).with_name(f"{os.getpid()}.count")
    calls = int(count.read_text()) if count.exists() else 0
    count.write_text(str(calls + 1))
    return a + a + (calls % 2 == 0)
"""


@alone_and_xdist()
@pytest.mark.slow
def test_a_run_of_the_real_compilers_artifact_that_fails_at_first_is_flaky(
    project: Project, arguments: tuple[str, ...]
) -> None:
    twice = "func.func @twice(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
    twice += "  %b = arith.addf %a, %a : tensor<2xf32>\n  return %b : tensor<2xf32>\n}\n"
    project.cpu(chance=twice, never=twice)
    project.write(
        {
            "suites/suite.toml": suite(kind="cases"),
            "suites/chance.cases.toml": '[[case]]\ninputs = [[1, 2]]\nreference = "ref.py:every_other_time"\n',
            "suites/never.cases.toml": "[[case]]\ninputs = [[1, 2]]\nexpected = [[2, 5]]\n",
            "suites/ref.py": REFERENCE,
        }
    )
    expecting(project, rule("*", "compare", signature="values differ", outcome="flaky", retries=1))
    result = project.run(*arguments, "-vv")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*2 failed, 2 passed, 2 flaky in*"])
    printed = {line for line in result.outlines if line.startswith("flaky: ")}
    assert printed == {
        f"flaky: {SUITE}::linalg::chance_vmvx_{runtime} passed at attempt 2 (known)" for runtime in ("sync", "task")
    }
    assert block(result, "linalg: never_vmvx_sync")[0].startswith("failed at each of 2 attempts: compare: result 0: ")


@pytest.mark.slow
def test_a_project_without_rules_shows_nothing_of_them(project: Project) -> None:
    project.doubles(a="f: pass")
    assert not Path(project.path / "suites/expectations.toml").exists()
    result = project.run(*DOUBLES)
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*expectation*")
