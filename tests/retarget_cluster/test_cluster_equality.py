"""A cluster reports what this machine reports: `benchmarks/cluster_equality.py`, on a few targets of each fate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from benchmark_scripts import BENCHMARKS, benchmark_script
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from mlir_modules import CRASHES, DIFFERS, GOOD, REFUSED
from running_cluster import running_cluster

TOOL = BENCHMARKS / "cluster_equality.py"

MATRIX = declarations(
    "root = true\n",
    compiler("vmvx", flags=VMVX_FLAGS),
    runtime("sync"),
    runtime("task", "local-task"),
    runtime("phone", host_os="ios"),
    target("cpu", "vmvx", ["sync", "task", "phone"]),
)
EXPECTATION = '[[expectation]]\nmatch = ["refused"]\nstage = "compile"\nreason = "it is no MLIR"\n'

JUNIT = """\
<testsuites><testsuite>
<testcase classname="s" name="a" time="{seconds}"><properties>
<property name="retarget.nodeid" value="s.toml::s::a"/><property name="retarget.compile_seconds" value="{seconds}"/>
<property name="retarget.ran_on" value="{host}"/><property name="retarget.stage" value="{stage}"/>
</properties>{result}</testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def tool() -> ModuleType:
    return benchmark_script("cluster_equality")


@pytest.mark.parametrize(
    ("other", "lines"),
    [
        ({}, []),
        ({"seconds": "3.5", "host": "rack-1"}, []),
        ({"stage": "run"}, ["s.toml::s::a:\n    here: ['retarget.stage=compare']\n    there: ['retarget.stage=run']"]),
        (
            {"result": '<failure message="m">took 3 s, 4 of 5 differ</failure>'},
            ["s.toml::s::a:\n    here: []\n    there: ['failure m took …, 4 of 5 differ']"],
        ),
        ({"result": "<skipped/>"}, ["s.toml::s::a:\n    here: []\n    there: ['skipped  ']"]),
    ],
    ids=["equal", "times and hosts may differ", "a property", "a failure", "a skip"],
)
def test_two_junit_files_are_compared_target_by_target(
    tool: ModuleType, tmp_path: Path, other: dict[str, str], lines: list[str]
) -> None:
    same = {"seconds": "1.0", "host": "", "stage": "compare", "result": ""}
    for name, values in {"here.xml": same, "there.xml": same | other}.items():
        (tmp_path / name).write_text(JUNIT.format(**values))
    assert list(tool.differences(tmp_path / "here.xml", tmp_path / "there.xml")) == lines


@pytest.mark.slow
def test_targets_that_pass_fail_crash_and_are_skipped_are_the_same_on_a_cluster(tmp_path: Path) -> None:
    modules = {"good": GOOD, "differs": DIFFERS, "refused": REFUSED, "crashes": CRASHES}
    for name, text in modules.items():
        (tmp_path / f"{name}.mlir").write_text(text)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "suite.toml").write_text(suite("few", "*.mlir", "check", ["cpu"]))
    (tmp_path / "expectations.toml").write_text(EXPECTATION)
    with running_cluster(tmp_path / "workers") as cluster:
        argv = [sys.executable, TOOL, "--cluster", cluster.address, "--cold", "-p", "no:cacheprovider", "."]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("16 targets, 0 differ\n")
    assert "3 failed, 4 passed, 4 skipped, 3 xfailed, 2 blocked" in done.stdout
