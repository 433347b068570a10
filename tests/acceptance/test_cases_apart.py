"""Cases of a module: each has its own outcome, its own expectation, its place in reports; some can be run alone."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, expecting
from session_output import block, properties

ID = "suites/suite.toml::twice::"


def rule(match: str, case: str | Sequence[str], **keys: object) -> str:
    """One rule that names cases; they fail at compare unless it says otherwise."""
    given = {"match": match, "case": case, "stage": "compare", "reason": "known", **keys}
    lines = [f"{key} = {list(value) if isinstance(value, tuple) else value!r}" for key, value in given.items() if value]
    return "\n".join(["[[expectation]]", *lines, ""])


MODULES = {
    "known": "good: pass\nbad: fail\nlost: raise\n",
    "new": "good: pass\nbad: fail\nother: fail\n",
    "mended": "good: pass\nbad: pass\n",
    "dies": "good: pass\nbad: crash\nlast: pass\n",
    "one": "only: fail\n",
}
RULES = (
    rule("known", "lost", stage="run"),
    rule("*", "bad", when="run", stage=("compare", "crash")),
    rule("one", "only"),
)


@alone_and_xdist(in_ci=False)
@pytest.mark.slow
def test_each_case_has_its_outcome_and_a_rule_excuses_no_other_case(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.doubles(**MODULES)
    expecting(project, *RULES)
    result = project.run(*DOUBLES, *arguments, "-v", "-rx", "--junitxml=junit.xml", "--maxfail=3")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*= 2 failed, 5 passed, 3 xfailed, 4 subtests passed, 2 subtests failed, 1 subtests skipped, "
            "4 subtests xfailed in *"
        ]
    )
    printed = [line for line in result.outlines if line.startswith("XFAIL ")]
    assert set(printed) == {
        f"XFAIL {ID}known_dc_dr - 2 of 3 cases failed as expected: known",
        f"XFAIL {ID}dies_dc_dr - 1 of 3 cases failed as expected, 1 not run: known",
        f"XFAIL {ID}one_dc_dr - known",
    }
    new = block(result, "twice: new_dc_dr")
    assert new[0].startswith("compare: other: 1 of 2 elements differ")
    assert "failed as expected: bad" in new
    assert "1 of 3 cases failed, and 1 as expected" in new
    assert block(result, "twice: mended_dc_dr")[:8] == [
        "case 'bad' is expected to fail at compare or crash, but passed",
        "",
        "case         bad",
        "expectation  suites/expectations.toml:7",
        "reason       known",
        "expected     compare or crash",
        "found        passed",
        "next: take the case out of the rule, or let `pytest --retarget-update-expectations` do it",
    ]
    text = result.stdout.str()
    for shown in (
        f"{ID}new_dc_dr SUBFAILED[other]",
        f"{ID}new_dc_dr SUBPASSED[good]",
        f"{ID}known_dc_dr SUBXFAIL[lost] (known)",
        f"{ID}dies_dc_dr SUBSKIPPED[last] (the run ended before it)",
    ):
        word, _, name = shown.partition(" ")
        assert shown in text if not arguments else f"{name.partition(' (')[0]} {word}" in text
    assert "[only]" not in text

    suite = next(ET.parse(project.path / "junit.xml").iter("testsuite"))  # noqa: S314
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("10", "2", "3")
    (case,) = suite.findall("testcase[@name='dies_dc_dr']")
    found = properties(case)
    outcomes = {name: found[f"retarget.case_outcome.{name}"] for name in ("good", "bad", "last")}
    assert outcomes == {"good": "passed", "bad": "xfailed", "last": "not run"}
    assert float(found["retarget.case_seconds.good"]) > 0
    (case,) = suite.findall("testcase[@name='new_dc_dr']")
    assert len(case.findall("failure")) == 1


@pytest.mark.slow
def test_some_cases_are_run_alone_and_no_rule_of_others_is_judged(project: Project) -> None:
    project.doubles(m="good: pass\nbad: fail\n", n="odd: pass\n")
    expecting(project, rule("m", "bad"))
    result = project.run(*DOUBLES, "--retarget-case", "g*d", "-rs", "-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*= 3 passed, 1 skipped, 1 subtests passed, 1 subtests skipped in *"])
    assert "skipped: no case matches --retarget-case g*d (1 target)" in result.outlines

    none = project.run(*DOUBLES, "--retarget-case", "god", "--retarget-case", "bad")
    assert none.ret == pytest.ExitCode.USAGE_ERROR
    none.assert_outcomes(passed=2, xfailed=1, skipped=1)
    wanted = (
        "ERROR: --retarget-case: found 'god', which matches no case of the modules that were run; did you mean 'good'?"
    )
    assert wanted in none.outlines


@pytest.mark.slow
def test_an_update_names_cases_where_they_differ_and_the_next_run_is_green(project: Project) -> None:
    project.doubles(
        m="good: pass\nbad: fail\nlost: raise\n",
        alike="a: fail\nb: fail\n",
        old="a: fail\nb: pass\n",
        cut="a: pass\nb: fail\n",
    )
    old = '[[expectation]]\nmatch = "old"  # since May\nstage = "compare"\nreason = "exp is imprecise"\n'
    cut = rule("cut", ("a", "b"), reason="both")
    expecting(project, old, cut)
    result = project.run(*DOUBLES, "--retarget-update-expectations", "--retarget-case", "a", "-k", "old or cut")
    assert result.ret == 0
    text = (project.path / "suites/expectations.toml").read_text()
    assert text.startswith(old)  # a rule of all cases cannot be judged by one of them
    assert "match = 'cut'\ncase = [\"b\"]\n" in text

    result = project.run(*DOUBLES, "--retarget-update-expectations")
    assert result.ret == 0
    text = (project.path / "suites/expectations.toml").read_text()
    assert text.startswith(old.replace("# since May\n", '# since May\ncase = "a"\n'))
    assert 'match = "alike"\nstage = "compare"\n' in text
    assert 'match = "m"\ncase = "bad"\nstage = "compare"\n' in text
    assert 'match = "m"\ncase = "lost"\nstage = "run"\n' in text
    again = project.run(*DOUBLES, "--retarget-update-expectations")
    assert again.ret == 0
    assert "expectations: nothing to change, 4 failures as expected" in again.outlines
    green = project.run(*DOUBLES)
    assert green.ret == 0
    green.assert_outcomes(passed=4, xfailed=4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "selected", [[f"{ID}m_dc_dr"], [f"{ID}m_dc", f"{ID}m_dc_dr"], ["suites/m.mlir"], ["suites", "-k", "m_dc"]], ids=str
)
def test_a_rule_for_a_case_that_there_is_not_is_an_error_wherever_all_its_modules_were_run(
    project: Project, selected: list[str]
) -> None:
    project.doubles(m="good: pass\nbad: fail\n", n="odd: pass\n")
    expired = rule("m", "good", until="2020-01-31").replace("'2020-01-31'", "2020-01-31")
    expecting(project, rule("m", ("bad", "godd")), rule("[mn]", ("bad", "oddd")), expired)
    result = project.run(*DOUBLES, *selected)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (unknown,) = [line for line in result.outlines if "matches no case" in line]
    assert "expectations.toml:3: expectation[0].case[1]: found 'godd', which matches no case" in unknown
    assert unknown.endswith("; did you mean 'good'?")
    assert any("found 2020-01-31, which is past" in line for line in result.outlines)
