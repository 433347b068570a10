"""A run target begins while pytest reports the one before it, which nothing else shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance_support import DOUBLES, Project, expecting

COUNTS = "run: pass-99\n"
"""A module that passes, and counts its runs beside itself."""


@pytest.fixture(autouse=True)
def no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine may have hooks around targets: then no target begins ahead."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_retarget.plugin")


def runs(project: Project, module: str) -> int:
    count = project.path / "suites" / f"{module}.mlir.count"
    return int(count.read_text()) if count.exists() else 0


def run(project: Project, *arguments: str) -> pytest.RunResult:
    return project.run(*DOUBLES, "-m", "run", *arguments)


def wait_while_reporting(project: Project, name: str) -> None:
    """Have pytest report the target of module `a` when a file is there."""
    lines = [
        "import pathlib, time",
        "def pytest_runtest_logreport(report):",
        "    end = time.monotonic() + 600",
        f"    while report.when == 'call' and '::a_' in report.nodeid and not pathlib.Path('suites/{name}').exists():",
        "        assert time.monotonic() < end",
        "        time.sleep(0.01)",
    ]
    project.write({"conftest.py": "\n".join(lines)})


@pytest.mark.slow
def test_the_next_target_runs_while_one_is_reported(project: Project) -> None:
    project.doubles(a=COUNTS, b=COUNTS, c=COUNTS)
    wait_while_reporting(project, "b.mlir.count")
    run(project).assert_outcomes(passed=3, deselected=3)

    assert [runs(project, module) for module in "abc"] == [1, 1, 1]


@pytest.mark.slow
def test_each_target_has_its_own_outcome(project: Project) -> None:
    project.doubles(a="f: pass\n", b="f: crash\n", c="f: fail\n", d="f: raise\n", e=COUNTS)
    result = run(project, "-v")

    result.assert_outcomes(passed=2, failed=3, deselected=5)
    words = [line.split()[1] for line in result.outlines if "_dc_dr " in line and "%]" in line]
    assert words == ["PASSED", "FAILED", "FAILED", "FAILED", "PASSED"]
    result.stdout.fnmatch_lines(["run: device worker crashed: SIGFPE in function 'f'*"])
    assert runs(project, "e") == 1


@pytest.mark.slow
def test_nothing_runs_after_the_failure_that_ends_the_session(project: Project) -> None:
    project.doubles(a="f: fail\n", b=COUNTS)
    run(project, "-x").assert_outcomes(failed=1, deselected=2)

    assert runs(project, "b") == 0


@pytest.mark.slow
def test_what_has_begun_ends_with_the_session(project: Project) -> None:
    project.doubles(a="f: pass\n", b="f: hang\n")
    expecting(project, '[[expectation]]\nmatch = "a"\nstage = "run"\nreason = "known"\n')
    wait_while_reporting(project, "b.mlir.pid")
    run(project, "-x").assert_outcomes(failed=1, deselected=2)

    assert not Path(f"/proc/{(project.path / 'suites/b.mlir.pid').read_text()}").exists()


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "conftest",
    [
        "def pytest_runtest_setup(item):\n    '::b_' in item.nodeid and pytest.skip('not here')\n",
        "def pytest_collection_modifyitems(items):\n    items[-1].add_marker(pytest.mark.skip('not here'))\n",
    ],
    ids=["hook", "mark"],
)
def test_a_target_that_a_project_skips_does_not_run(project: Project, conftest: str) -> None:
    project.doubles(a=COUNTS, b=COUNTS)
    project.write({"conftest.py": f"import pytest\n\n{conftest}"})
    run(project).assert_outcomes(passed=1, skipped=1, deselected=2)

    assert [runs(project, module) for module in "ab"] == [1, 0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("arguments", "following"),
    [((), "b_dc_dr None"), (("--pdb",), "None None"), (("--retarget-reuse-results",), "None None")],
)
def test_nothing_begins_where_it_may_be_in_the_way(
    project: Project, arguments: tuple[str, ...], following: str
) -> None:
    project.doubles(a=COUNTS, b=COUNTS)
    project.write(
        {
            "conftest.py": (
                "def pytest_sessionfinish(session):\n"
                "    names = [item.following and item.following.name for item in session.items]\n"
                "    open('following', 'w').write(' '.join(map(str, names)))\n"
            )
        }
    )
    run(project, *arguments).assert_outcomes(passed=2, deselected=2)

    assert (project.path / "following").read_text() == following
