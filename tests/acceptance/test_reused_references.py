"""What a verdict depends on beyond the files that cases name: after a change of it nothing is reused."""

from __future__ import annotations

import pytest
from acceptance_support import VMVX, Project, matrix, suite
from declaration_texts import runtime, target
from retarget.results import Sessions

pytestmark = pytest.mark.slow  # three sessions of the real compiler in each test

REUSE = "--retarget-reuse-results"
MODULE = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n"
CASES = '[[case]]\ninputs = [[1.0, 2.0]]\nreference = "ref.py:f"\n'
REFERENCE = "import os, sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).parent))\n"


def write(project: Project, body: str, **runtime_keys: object) -> None:
    tables = matrix(VMVX, runtime("sync", **runtime_keys), target("cpu", "vmvx", ["sync"]))
    project.write({"matrix.toml": tables, "suites/suite.toml": suite("math", kind="cases", targets="cpu")})
    reference = f"{REFERENCE}def f(x):\n    {body}\n"
    project.write({"suites/m.mlir": MODULE, "suites/m.cases.toml": CASES, "suites/ref.py": reference})


def test_a_module_that_a_reference_imports_and_a_variable_that_it_reads_count(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTOR", "1")
    write(project, "import helper; return x * helper.ONE * float(os.environ['FACTOR'])")
    project.write({"suites/helper.py": "ONE = 1\n"})
    project.run("--retarget-results=out").assert_outcomes(passed=2)
    (session,) = Sessions.read([project.path / "out"])
    opened = [dict(one.run.opened).keys() for one in session.records if one.run is not None]
    assert [{"suites/ref.py", "suites/helper.py"} <= names for names in opened] == [True]
    assert project.run(REUSE).parseoutcomes() == {"passed": 1, "reused": 1}
    project.write({"suites/helper.py": "ONE = 2\n"})
    assert project.run(REUSE).parseoutcomes()["failed"] == 1
    project.write({"suites/helper.py": "ONE = 1\n"})
    project.run(REUSE).assert_outcomes(passed=2)  # the failure is kept for comparison, in place of the earlier pass
    assert project.run(REUSE).parseoutcomes() == {"passed": 1, "reused": 1}
    monkeypatch.setenv("FACTOR", "2")
    assert project.run(REUSE).parseoutcomes()["failed"] == 1


def test_suites_whose_references_import_modules_of_one_name_have_each_their_own(project: Project) -> None:
    write(project, "import helper; return x * helper.ONE")
    files = ("suite.toml", "m.mlir", "m.cases.toml", "ref.py")
    project.write({f"other/{name}": (project.path / "suites" / name).read_text() for name in files})
    project.write({"other/suite.toml": suite("other", kind="cases", targets="cpu")})
    project.write({"other/helper.py": "ONE = 1\n", "suites/helper.py": "ONE = 2\n"})
    project.run().assert_outcomes(passed=3, failed=1)
    project.write({"other/helper.py": "ONE = 2\n", "suites/helper.py": "ONE = 1\n"})
    result = project.run(REUSE)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["FAILED other/suite.toml::*"])


def test_a_script_that_run_under_gives_its_interpreter_counts(project: Project) -> None:
    write(project, "return x", run_under=["sh", "wrap.sh"])
    project.write({"wrap.sh": 'exec "$@"\n'})
    project.run().assert_outcomes(passed=2)
    assert project.run(REUSE).parseoutcomes() == {"passed": 1, "reused": 1}
    project.write({"wrap.sh": 'case "$*" in *--dump_devices*) exec "$@" ;; *) exit 9 ;; esac\n'})
    assert project.run(REUSE).parseoutcomes()["failed"] == 1
