"""`retarget fuzz` with the real compiler: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, runtime, suite, table, target
from retarget.cli import main

MODULE = "func.func @one() {\n  return\n}\n"

PLANTED = """
from msgspec.structs import replace
from retarget.extension import hookimpl
from retarget_iree.compiler.compiler import IreeCompiler


class Planted(IreeCompiler):
    name = "planted"

    def compile(self, request):
        source = request.source
        for lost in (b"arith.divf", b"arith.negf", b"math.absf", b"math.sqrt", b"math.floor", b"math.ceil"):
            source = source.replace(lost, b"arith.no_division")
        for right in (b"arith.mulf", b"arith.subf", b"arith.maximumf", b"arith.minimumf"):
            source = source.replace(right, b"arith.addf")
        return super().compile(replace(request, source=source))


@hookimpl
def retarget_compilers():
    return (Planted(),)
"""
"""A compiler that adds too often, and cannot divide."""


@pytest.fixture
def project(cwd: Path) -> Path:
    matrix = [compiler("vmvx", flags=VMVX_FLAGS), runtime("sync"), target("all", "vmvx", ["sync"])]
    (cwd / "matrix.toml").write_text("\n".join(["root = true", *matrix]))
    (cwd / "suite.toml").write_text(suite("s"))
    (cwd / "one.mlir").write_text(MODULE)
    return cwd


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--for", "ten"], 2, "found 'ten', expected a time such as 90s, 10m or 1h"),
        (["--for", "0s"], 2, "found '0s', expected a time"),
        (["--type", "f33"], 2, "invalid choice: 'f33' (choose from"),
        (["--dialect", "arith"], 2, "invalid choice: 'arith' (choose from"),
        (["-m", "compile"], 2, "found no run target in . that is selected; `retarget list` shows all"),
        (["-o", "one.mlir"], 2, "which is no folder; expected one to write to"),
        (["-o", "docs"], 1, "docs holds something else: found no findings.json"),
        (["-o", ".."], 1, "holds something else"),
        (["-o", "../found"], 1, "left out: vmvx_sync: suites in ../found do not see the configs of matrix.toml; "),
        (["--corpus", "../kept"], 1, "suites in ../kept do not see the configs of matrix.toml; those in kept would"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    project: Path, words: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "docs").mkdir()
    (project / "docs/page.md").touch()
    try:
        found = main(["fuzz", *words])
    except SystemExit as end:
        found = int(end.code or 0)
    said = capsys.readouterr().err
    assert (found, says in said) == (status, True), said


def test_without_hypothesis_its_extra_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["fuzz"]) == 1
    assert re.search(
        r"hypothesis, which is not installed; install it with `pip install .*fuzz", capsys.readouterr().err
    )


def test_configs_that_cannot_run_programs_are_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = [
        runtime("gone", toolchain="gone"),
        table("toolchain", name="gone", path="gone"),
        table("runtime_config", name="two", devices=["local-sync://0", "local-sync://0"]),
        target("more", "vmvx", ["gone", "two"]),
    ]
    (project / "matrix.toml").write_text((project / "matrix.toml").read_text() + "\n".join(more))
    (project / "suite.toml").write_text(suite("s", targets=["more"]))
    assert main(["fuzz"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "no selected config can be used"
    assert re.match(r"left out: vmvx_gone: toolchain 'gone' .* does not exist", said[1])
    assert said[2] == "left out: vmvx_two: a program is for one device"


@pytest.fixture
def planted(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(project))
    text = (project / "matrix.toml").read_text()
    (project / "matrix.toml").write_text(text.replace('compiler = "iree"', 'compiler = "planted"'))
    (project / "planted.py").write_text(PLANTED)
    (installed := project / "planted-1.0.dist-info").mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[retarget]\nplanted = planted\n")
    return project


def fuzz(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "retarget.cli", "fuzz", *words, "--dialect", "linalg", "--type", "f32"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_planted_mistakes_of_a_compiler_are_found_reduced_and_packed(planted: Path) -> None:
    done = fuzz(planted, "--most", "10", "--seed", "1", "--corpus", "kept")
    assert (done.returncode, done.stderr) == (1, "on vmvx_sync; --seed 1\n")
    every = json.loads((planted / "found/findings.json").read_text())
    found = {one["stage"]: one for one in every}
    assert {"compile", "compare"} <= set(found)
    module = (planted / "found" / found["compare"]["name"] / "module.mlir").read_text()
    assert re.search(r"arith\.(mul|sub|maximum|minimum)f", module)
    assert "arith.divf" not in module
    for one in every:
        assert "found/" + one["name"] in done.stdout
        assert one["bundle"].startswith("reproduced ")
        assert (planted / "found" / one["name"] / "bundle.tar.zst").is_file()
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "found", "kept"],
        cwd=planted,
        capture_output=True,
        text=True,
        check=False,
    )
    kept = list((planted / "kept").glob("corpus-*"))
    assert f"\n{len(every)} failed, " in ran.stdout
    assert len(kept) >= 3
    again = fuzz(planted, "--most", "10", "--seed", "1", "--corpus", "kept")
    assert again.returncode == 0
    assert f"0 new findings, {len(every)} findings of earlier runs" in again.stdout
    assert "0 kept" in again.stdout


@pytest.mark.slow
def test_a_diagnostic_that_a_rule_knows_is_not_new(planted: Path) -> None:
    (planted / "planted.py").write_text(PLANTED.replace('right, b"arith.addf"', "right, right"))
    rule = table("expectation", match="two", stage="compile", signature="arith.no_division", reason="none yet")
    (planted / "two.mlir").write_text(MODULE)
    (planted / "suite.toml").write_text(suite("s") + rule)
    done = fuzz(planted, "--most", "10", "--seed", "1")
    assert (done.returncode, (planted / "found").exists()) == (0, False), done.stdout
    assert re.search(r"vmvx_sync +10 +([1-9]\d*) +\1 +0 +0 +0\n", done.stdout)


@pytest.mark.slow
def test_a_compiler_that_gives_no_verdict_is_no_success(planted: Path) -> None:
    (planted / "planted.py").write_text(PLANTED.replace("source = request.source\n", "source = request.nothing\n"))
    done = fuzz(planted, "--most", "3", "--seed", "1")
    assert done.returncode == 1
    assert "no verdict on vmvx_sync: " in done.stdout
    assert "has no attribute 'nothing'" in done.stdout
