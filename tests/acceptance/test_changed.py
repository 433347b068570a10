"""`--retarget-changed`: what cannot have changed does not run again, and is never shown as passed."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, expecting
from retarget.results.files import read_results
from retarget.worker.process import WorkerProcess

CHANGED = (*DOUBLES, "--retarget-changed")


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
            "suites/suite.toml::twice::a_dc UNCHANGED (passed *)*",
            "suites/suite.toml::twice::a_dc_dr UNCHANGED (passed *)*",
            "suites/suite.toml::twice::b_dc PASSED*",
            "suites/suite.toml::twice::b_dc_dr PASSED*",
            "suites/suite.toml::twice::c_dc UNCHANGED (passed *)*",
            "unchanged since their last run: 3 targets (3 passed); without --retarget-changed they run, too",
        ]
    )
    (results,) = read_results([project.path / "results"])
    records = {record.target: record for record in results.records}
    kept = records["a_dc_dr"]
    assert (kept.outcome, kept.unchanged, len(kept.cases), kept.devices[0].name) == ("passed", True, 1, "Double 9000")
    assert kept.ended < records["b_dc_dr"].started
    assert not records["b_dc_dr"].unchanged
    (project.path / "suites/c.mlir").unlink()

    def refuse(*_: object, **__: object) -> None:
        msg = "a worker was started"
        raise AssertionError(msg)

    monkeypatch.setattr(WorkerProcess, "__init__", refuse)
    third = project.run(*CHANGED)
    assert (third.ret, third.parseoutcomes()) == (0, {"unchanged": 4})
    assert project.run(*CHANGED, "-m", "run", "-k", "a_").parseoutcomes() == {"unchanged": 1, "deselected": 3}


def test_an_expected_failure_is_unchanged_until_its_rule_is_another(project: Project) -> None:
    project.doubles(a="f: fail", b="compile: fail\nf: pass")
    rule = '[[expectation]]\nmatch = ["{}"]\nstage = "{}"\nreason = "{}"\n'
    expecting(project, rule.format("a", "compare", "one"), rule.format("b", "compile", "two"))
    assert project.run(*CHANGED).parseoutcomes() == {"passed": 1, "xfailed": 3}
    again = project.run(*CHANGED)
    assert again.parseoutcomes() == {"unchanged": 4}
    again.stdout.fnmatch_lines(["unchanged since their last run: 4 targets (3 xfailed, 1 passed); *"])
    expecting(project, rule.format("b", "compile", "two"))
    assert project.run(*CHANGED).parseoutcomes() == {"failed": 1, "unchanged": 3}


@pytest.mark.parametrize("selected", [("--retarget-case", "f"), ("--cache-clear",)])
def test_another_selection_of_cases_runs_and_a_cleared_cache_knows_nothing(
    project: Project, selected: tuple[str, ...]
) -> None:
    project.doubles(a="f: pass\ng: pass")
    assert project.run(*CHANGED).parseoutcomes()["passed"] == 2
    found = project.run(*CHANGED, *selected).parseoutcomes()
    assert (found["passed"], found.get("unchanged", 0)) == (2, 0)


@alone_and_xdist(2)
@pytest.mark.slow
def test_an_edit_of_a_driver_runs_all_and_compiles_nothing(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: pass", b="f: pass")
    project.run(*CHANGED, *arguments, apart=True).assert_outcomes(passed=4)
    assert project.run(*CHANGED, *arguments, apart=True).parseoutcomes() == {"unchanged": 4}
    with (project.path / "doubles.py").open("a") as file:
        file.write("# edited\n")
    edited = project.run(*CHANGED, *arguments, "-m", "run", apart=True)
    assert edited.parseoutcomes()["passed"] == 2
    edited.stdout.fnmatch_lines(["compiled 0, reused 2 *"])


def test_what_cannot_be_together_is_a_usage_error(project: Project) -> None:
    project.doubles(a="f: pass")
    both = project.run(*CHANGED, "--retarget-update-expectations")
    both.stderr.fnmatch_lines(
        [
            "ERROR: --retarget-changed and --retarget-update-expectations were both given; expected one of them: "
            "expectations are made from what runs"
        ]
    )
    without = project.run(*CHANGED, "-p", "no:cacheprovider")
    without.stderr.fnmatch_lines(
        ["ERROR: --retarget-changed needs pytest's cache, where the last runs are kept; leave out -p no:cacheprovider"]
    )
