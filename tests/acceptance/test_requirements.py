"""`--retarget-require`: nothing that is required may end as skipped, blocked or unselected."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLE, DOUBLES, Project
from session_output import block

SLOW = pytest.mark.slow
ID = "suites/suite.toml::twice::"


TWO_RUNTIMES = DOUBLE.replace(
    "[[target_config]]", '[[runtime_config]]\nname = "other"\ndriver = "double-device"\n\n[[target_config]]'
).replace('["dr"]', '["dr", "other"]')

SKIPPED = """
[[expectation]]
match = "{match}"
when = "{when}"
outcome = "skip"
reason = "it burns the device"
"""


def errors(result: pytest.RunResult) -> list[str]:
    return [line for line in (*result.errlines, *result.outlines) if line.startswith("ERROR: ")]


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("twice and", "ERROR: Wrong expression passed to '-m': twice and: at column 10: "),
        pytest.param("on(cpu)", "ERROR: -m 'on(cpu)': column 1: found on(…), ", marks=SLOW),
    ],
)
def test_a_worker_of_xdist_leaves_wrong_usage_to_the_controller(project: Project, expression: str, error: str) -> None:
    project.doubles(a="f: pass")
    result = project.run("-n1", "-m", expression)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    [line] = errors(result)
    assert line.startswith(error)


@pytest.mark.parametrize(
    ("arguments", "expression", "error"),
    [
        (
            ("--co",),
            "double-devise",
            "none of the 2 targets here has the tag 'double-devise'; did you mean 'double-device'?",
        ),
        pytest.param(
            ("-n2",), "twice or zzz", "the tag 'zzz'; `retarget list` shows the tags of each target", marks=SLOW
        ),
        (("--co",), "driver(name='cuda')", "none of the 2 targets here has the tag \"driver(name='cuda')\""),
        (("--co",), "compile and dr", " selects none of the 2 targets here, so nothing is required by it"),
    ],
)
def test_a_requirement_that_selects_nothing_is_an_error_before_anything_runs(
    project: Project, arguments: tuple[str, ...], expression: str, error: str
) -> None:
    project.doubles(a="f: pass")
    result = project.run(*arguments, "--retarget-require", expression)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    [line] = errors(result)
    assert line.startswith(f"ERROR: --retarget-require {expression!r}")
    assert error in line
    assert "passed" not in result.stdout.str()


def test_a_word_that_only_leaves_out_need_not_select_anything(project: Project) -> None:
    project.doubles(a="f: pass")
    result = project.run("--co", "--retarget-require", "twice and not (conformance or slow)")
    assert result.ret == pytest.ExitCode.OK


def test_a_requirement_without_any_suite_is_an_error(project: Project) -> None:
    project.write({"test_plain.py": "def test_it():\n    pass\n"})
    result = project.run("--retarget-require", "vulkan")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = "--retarget-require 'vulkan': no target was collected, so nothing that is required can run"
    assert errors(result) == [f"ERROR: {expected}"]


def test_a_file_that_is_not_collected_is_the_error_to_show_and_not_the_requirement(project: Project) -> None:
    project.doubles(a="f: pass")
    project.write({"matrix.toml": DOUBLE.replace("driver =", "drivre =")})
    result = project.run("--retarget-require", "dr")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert errors(result) == []


@pytest.mark.parametrize(
    ("selection", "name", "narrowed"),
    [
        (("--co", "-m", "not dr"), "-m 'not dr'", ": --retarget-require '(run) and (not dr)'"),
        (("--co", "-k", "other"), "-k 'other'", ""),
        (("--co", "-m", "run", "-k", "other"), "-k 'other'", ""),
        (("--co", "--deselect", f"{ID}a_dc_dr"), "--deselect", ""),
    ],
)
def test_a_required_target_that_is_deselected_is_an_error(
    project: Project, selection: tuple[str, ...], name: str, narrowed: str
) -> None:
    project.doubles(a="f: pass")
    project.write({"matrix.toml": TWO_RUNTIMES})
    result = project.run(*selection, "--retarget-require", "run")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert errors(result) == [
        f"ERROR: --retarget-require 'run': {name} deselects a target that it requires, such as {ID}a_dc_dr; "
        f"select them, or require fewer{narrowed}"
    ]


def test_a_path_and_a_node_id_narrow_what_is_required_and_a_run_target_stands_for_its_compile(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass")
    for selection in ([f"{ID}a_dc_dr"], ["suites/b.mlir"], ["-m", "run"]):
        assert project.run("--co", *selection, "--retarget-require", "twice").ret == pytest.ExitCode.OK
    project.write({".pytest_cache/v/cache/lastfailed": f'{{"{ID}b_dc": true}}'})
    again = project.run("--co", "--lf", "--retarget-require", "twice")
    assert (again.ret, again.parseoutcomes()["deselected"]) == (pytest.ExitCode.OK, 3)


def test_a_skip_by_rule_is_a_persons_decision_unless_it_leaves_nothing(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass")
    project.write({"suites/expectations.toml": SKIPPED.format(match="a", when="run")})
    project.run(*DOUBLES, "--retarget-require", "dr").assert_outcomes(passed=3, skipped=1)
    project.write({"suites/expectations.toml": SKIPPED.format(match="*", when="run")})
    result = project.run(*DOUBLES, "--retarget-require", "dr")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert errors(result) == [
        "ERROR: --retarget-require 'dr': each target that it requires was skipped by a rule or by "
        "--retarget-artifacts, so nothing that is required has run"
    ]


def test_a_skip_that_another_plugin_provides_is_an_error_too(project: Project) -> None:
    project.doubles(a="f: pass")
    lines = ["import pytest", "", "def pytest_collection_modifyitems(items):", "    for item in items:"]
    lines += ["        item.add_marker(pytest.mark.skip('for the time being'))", ""]
    project.write({"conftest.py": "\n".join(lines)})
    result = project.run(*DOUBLES, "--retarget-require", "dr")
    result.assert_outcomes(errors=1, skipped=1)
    assert block(result, "ERROR at setup of twice: a_dc_dr") == [
        "for the time being",
        "--retarget-require 'dr' does not let this target be skipped",
    ]


def test_what_fails_to_compile_is_one_failure_and_what_it_blocks_is_blocked(project: Project) -> None:
    project.doubles(a="compile: fail\nf: pass")
    result = project.run(*DOUBLES, "--retarget-require", "twice")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert result.parseoutcomes() == {"failed": 1, "blocked": 1}


@pytest.mark.slow
def test_a_target_blocked_by_one_that_passed_is_an_error(project: Project) -> None:
    """Two workers compile the same module, and the second is luckier."""
    project.doubles(a="compile: fail\nf: pass")
    lines = ["import pytest", "", "@pytest.hookimpl(tryfirst=True)", "def pytest_runtest_makereport(item, call):"]
    lines += ["    if item.name == 'a_dc':", "        call.excinfo = None", ""]
    project.write({"conftest.py": "\n".join(lines)})
    result = project.run(*DOUBLES)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert f"{ID}a_dc_dr: blocked by {ID}a_dc, which did not fail when it was tried itself; run both again" in (
        result.outlines
    )


def test_keyword_compile_selects_compile_targets_only(project: Project) -> None:
    project.doubles(a="f: pass")

    def selected(*arguments: str) -> list[str]:
        return [line for line in project.run("--co", "-q", *arguments).outlines if "::" in line]

    assert selected("-k", "compile") == [f"{ID}a_dc"]
    assert selected("-k", "driver or platform or backend") == []
    assert selected("-m", "compiler(name='dc') and driver", "-k", "not compile") == [f"{ID}a_dc_dr"]
