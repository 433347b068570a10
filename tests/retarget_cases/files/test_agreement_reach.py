"""What cases files say of compiler configs, compared with those of the suite: reported with the declarations' own errors."""

# ruff: noqa: E501  (messages are cut where they read well)

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.session import DeclarationLoader, load_extensions
from retarget.support import DiagnosticsError

MATRIX = """\
root = true
compiler_config = [{ name = "llvm-cpu", compiler = "iree" }, { name = "vmvx", compiler = "iree" }, { name = "cuda", compiler = "iree" }]
runtime_config = [{ name = "local", driver = "local-sync" }]
target_config = [
    { name = "both", compiler = ["llvm-cpu", "vmvx"], runtimes = ["local"] },
    { name = "built", compiler = ["cuda"], runtimes = [] },
]
"""
SUITE = '[[module_test_suite]]\nname = "s"\nkind = "cases"\nsrcs = ["*.mlir"]\ntargets = ["*"]\n'
OF_A = "[[module_test_suite.module]]\nmatch = ['a']\nreason = 'x'\n"


def diagnostics(folder: Path, agree_with: str, *, suite: str = SUITE, matrix: str = MATRIX) -> list[str]:
    (folder / "matrix.toml").write_text(matrix)
    (folder / "suite.toml").write_text(suite)
    for name in ("a", "b"):
        (folder / f"{name}.mlir").touch()
        (folder / f"{name}.cases.toml").write_text("[[case]]\nexpected = [1]\n")
    (folder / "a.cases.toml").write_text(f"[[case]]\nagree_with = {agree_with}\n")
    try:
        DeclarationLoader(load_extensions()).load_suite_file(folder / "suite.toml")
    except DiagnosticsError as error:
        return [str(diagnostic) for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize(
    "agree_with", ["'vmvx'", "{ '*' = 'vmvx' }", "{ llvm-cpu = 'vmvx', cuda = 'cuda', vmvx = 'vmvx' }"]
)
def test_configs_that_run_the_module_can_be_agreed_with(folder: Path, agree_with: str) -> None:
    assert diagnostics(folder, agree_with) == []


RUNS = "expected a compiler config that runs the module in suite 's'"
MATCHES = "expected a compiler config or a glob that matches one"


@pytest.mark.parametrize(
    ("agree_with", "diagnostic"),
    [
        ("'vmxv'", f": found 'vmxv', {RUNS}; did you mean 'vmvx'?"),
        ("'hip'", f": found 'hip', {RUNS}; there is llvm-cpu, vmvx"),
        # it compiles the module and runs it nowhere
        ("'cuda'", f": found 'cuda', which does not run the module, {RUNS}; there is llvm-cpu, vmvx"),
        # also where nothing that runs asks for it
        ("{ '*' = 'vmvx', cuda = 'lvm-cpu' }", f".cuda: found 'lvm-cpu', {RUNS}; did you mean 'llvm-cpu'?"),
        (
            "{ llvm-cup = 'llvm-cpu', '*' = 'vmvx' }",
            f".llvm-cup: found 'llvm-cup', {MATCHES}; did you mean 'llvm-cpu'?",
        ),
        (
            "{ 'rocm-*' = 'llvm-cpu', '*' = 'vmvx' }",
            f".\"rocm-*\": found 'rocm-*', {MATCHES}; there is llvm-cpu, vmvx, cuda",
        ),
        (
            "{ llvm-cpu = 'vmvx' }",
            ": found nothing to agree with for compiler config 'vmvx', expected one of llvm-cpu to match it; "
            "'*' matches every config",
        ),
    ],
)
def test_what_cannot_be_agreed_with_is_an_error(folder: Path, agree_with: str, diagnostic: str) -> None:
    assert diagnostics(folder, agree_with) == [f"suite/a.cases.toml:2: case[0].agree_with{diagnostic}"]


CYCLE = "found configs that wait for each other's results, vmvx → llvm-cpu → vmvx; expected the last config of a chain to agree with none but itself"
UNKNOWN = f"found 'nonono', {RUNS}; there is llvm-cpu, vmvx"


@pytest.mark.parametrize(
    ("agree_with", "reported"),
    [
        ("{ '*' = 'vmvx', vmvx = 'llvm-cpu' }", [f"2: case[0].agree_with: {CYCLE}"]),
        ("'vmvx'\n[[case]]\nagree_with = 'llvm-cpu'", [f"4: case[1].agree_with: {CYCLE}"]),
        ("{ '*' = 'vmvx', vmvx = 'nonono' }", [f"2: case[0].agree_with.vmvx: {UNKNOWN}"]),
        (
            "{ '*' = 'vmvx', vmvx = 'llvm-cpu', cuda = 'nonono' }",
            [f"2: case[0].agree_with: {CYCLE}", f"2: case[0].agree_with.cuda: {UNKNOWN}"],
        ),
    ],
)
def test_cycles_are_of_known_configs_and_hide_no_other_error(
    folder: Path, agree_with: str, reported: list[str]
) -> None:
    assert diagnostics(folder, agree_with) == [f"suite/a.cases.toml:{diagnostic}" for diagnostic in reported]


@pytest.mark.parametrize(
    ("agree_with", "suite", "running"),
    [
        ("'vmvx'", SUITE + OF_A + "exclude_targets = ['llvm-cpu']\n", "vmvx"),
        ("{ llvm-cpu = 'llvm-cpu', vmvx = 'vmvx' }", SUITE, "llvm-cpu and vmvx"),
    ],
)
def test_agreeing_with_nobody_else_is_an_error(folder: Path, agree_with: str, suite: str, running: str) -> None:
    assert diagnostics(folder, agree_with, suite=suite) == [
        f"suite/a.cases.toml:2: case[0].agree_with: found nothing to compare: in suite 's' only {running} run the "
        "module, and each agrees with itself; expected another compiler config that runs the module"
    ]


# ---------------------------------------------------------------- what a suite says

ONLY_VMVX = SUITE + OF_A + "exclude_targets = ['llvm-cpu']\n"
NO_CASES = "'vmvx'\n[[case]]\ninputs = [1]"


def of_suite(agree: str, suite: str = SUITE) -> str:
    return suite.replace('targets = ["*"]', f'targets = ["*"]\nagree = {agree}')


@pytest.mark.parametrize("agree", ["'majority'", "'vmvx'"])
def test_cases_without_values_agree_as_their_suite_says(folder: Path, agree: str) -> None:
    assert diagnostics(folder, NO_CASES, suite=of_suite(agree)) == []
    assert diagnostics(folder, "'majority'") == []
    assert diagnostics(folder, NO_CASES) == [
        "suite/a.cases.toml:3: case[1]: found nothing to compare the results with, expected one of expected, reference, "
        "agree_with, or `agree` in the suite: a case that cannot fail tests nothing"
    ]


@pytest.mark.parametrize(
    ("agree", "suite", "diagnostic"),
    [
        ("'majorty'", SUITE, "found 'majorty', which does not run module 'a'; expected 'majority' or a compiler config that does; did you mean 'majority'?"),
        ("'cuda'", SUITE, "found 'cuda', which does not run module 'a'; expected 'majority' or a compiler config that does; there is llvm-cpu, vmvx, majority"),
        ("'llvm-cpu'", ONLY_VMVX, "found 'llvm-cpu', which does not run module 'a'; expected 'majority' or a compiler config that does; there is vmvx, majority"),
        ("'vmvx'", ONLY_VMVX, "found nothing to compare: only vmvx runs module 'a'; expected another compiler config that does"),
        ("'majority'", ONLY_VMVX, "found nothing to compare: only vmvx/local runs module 'a'; expected another target that does"),
        ("'majority'", SUITE.replace("cases", "check"), "found it with kind 'check', expected a kind whose cases can agree: cases or onnx"),
    ],
)  # fmt: skip
def test_a_suite_whose_targets_cannot_agree_so_is_an_error(
    folder: Path, agree: str, suite: str, diagnostic: str
) -> None:
    assert diagnostics(folder, NO_CASES, suite=of_suite(agree, suite)) == [
        f"suite/suite.toml:6: module_test_suite[0].agree: {diagnostic}"
    ]
