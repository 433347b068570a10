"""A transcription of IREE's public CI: its dead cells are found, exactly those."""

from __future__ import annotations

from pathlib import Path

import pytest
from ci_trees import IREE, emit, problems, write
from retarget.cli import main

EXPECTED = "expected a runner and an event that run them, or a [[waiver]] in ci.toml"
E2E = "tests/e2e/suite.toml"


def dead(where: str, what: str, modules: str, why: str) -> str:
    return f"{where}: found {what} that no leg of any event runs ({modules}): {why}; {EXPECTED}"


DEAD = [
    dead(
        f"{E2E}:{line}: module_test_suite[{at}]",
        f"1 {sort} target of {configs}",
        f"matmul_{label}",
        "runner 'linux-x86-64' has no driver 'cuda'" if "gpu-cuda" in configs else "no event selects them",
    )
    for line, at, label, compiler, runtime in (
        (8, 1, "sm80", "cuda-sm80", "gpu-cuda"),
        (15, 2, "cdna3", "rocm-cdna", "gpu-hip"),
        (22, 3, "cdna4", "rocm-cdna", "gpu-hip"),
    )
    for sort, configs in (("compile", f"{compiler!r}"), ("run", f"{compiler!r} on {runtime!r}"))
] + [
    dead(
        "tests/onnx_ops/suite.toml:2: module_test_suite[0]",
        "2 run targets of 'cuda-sm80' on 'gpu-cuda'",
        "add, conv",
        "runner 'linux-x86-64' has no driver 'cuda'",
    )
]


@pytest.fixture
def iree(cwd: Path) -> Path:
    write(cwd, IREE)
    emit(cwd)
    return cwd


def test_the_cuda_job_that_is_commented_out_and_three_labels_that_no_workflow_enables_are_dead_cells(
    iree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ci", "verify"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == DEAD


def test_a_waiver_says_why_and_until_when_they_may_be_dead(iree: Path) -> None:
    waivers = [
        f'[[waiver]]\nselect = "{select}"\nreason = "no machine in CI"\nuntil = 2026-12-31\n'
        for select in ("gpu-cuda", "requires-gpu-sm80 or requires-gpu-cdna3 or requires-gpu-cdna4")
    ]
    write(iree, {"ci.toml": "\n".join([IREE["ci.toml"], *waivers])})
    emit(iree)
    assert problems(iree) == []
