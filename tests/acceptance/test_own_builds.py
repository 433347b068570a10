"""Toolchains: other builds than the environment's, used by configs that name them."""

from __future__ import annotations

import os
import shutil

import pytest
from acceptance_support import CPU, LLVM_CPU_FLAGS, Project, matrix, suite
from declaration_texts import compiler, runtime, table, target
from mlir_modules import DIFFERS, GOOD
from retarget.cli import main
from retarget_iree.toolchain import find_compiler
from session_output import block, commands, shell

CONFIG = """
[[toolchain]]
name = "own"
path = "{folder}"
tags = ["dev"]

[[compiler_config]]
name = "mine"
extends = "vmvx"
toolchain = "own"
"""


@pytest.mark.slow
def test_the_build_that_compiles_is_shown_and_counts(project: Project) -> None:
    packages = project.path / "build" / "python"
    (packages / "iree").mkdir(parents=True)
    installed = find_compiler().package
    assert installed is not None
    shutil.copytree(installed, packages / "iree" / "compiler", copy_function=os.symlink, ignore=_left_out)
    version = packages / "iree" / "compiler" / "version.py"
    version.unlink()
    version.write_text('VERSION = "9.1"\n')
    project.cpu(one=GOOD)
    compile_only = CPU.replace('compiler = ["vmvx"]', 'compiler = ["mine"]').replace('["sync", "task"]', "[]")
    project.write(
        {"matrix.toml": compile_only.replace("\n[[runtime", CONFIG.format(folder=packages) + "\n[[runtime", 1)}
    )
    shown = rf"compiler: iree {{}} \(build [0-9a-f]*, {packages}/iree/compiler\) \(mine\)"

    def run(version: str, compiled: int, reused: int) -> None:
        result = project.run()
        result.assert_outcomes(passed=1)
        result.stdout.re_match_lines([shown.format(version), f"compiled {compiled}, reused {reused}.*"])

    run("9.1", 1, 0)
    run("9.1", 0, 1)
    version.write_text('VERSION = "9.2"\n')
    run("9.2", 1, 0)


@pytest.mark.slow
def test_a_build_in_a_folder_with_a_space_links_here_and_by_hand(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = project.path / "mit Leerzeichen 'Ü'"
    installed = find_compiler().package
    assert installed is not None
    shutil.copytree(installed, packages / "iree" / "compiler", copy_function=os.symlink, ignore=_left_out)
    own = table("toolchain", name="own", path=str(packages))
    mine = compiler("cpu", flags=[*LLVM_CPU_FLAGS, "--iree-llvmcpu-target-cpu=host"], toolchain="own")
    text = matrix(own, mine, runtime("r"), target("all", "cpu", ["r"]))
    project.write({"matrix.toml": text, "suites/suite.toml": suite(targets="all"), "suites/m.mlir": DIFFERS})
    result = project.run("suites")
    result.assert_outcomes(passed=1, failed=1)
    lines = block(result, "linalg: m_cpu_r")
    by_hand = commands(lines)
    assert any("iree-lld" in line for line in by_hand)
    done = shell(by_hand, strict=True)
    assert lines[0].removeprefix("compare: wrong: ") in done.stdout, done.stderr
    capsys.readouterr()
    assert main(["explain", "suites/suite.toml::linalg::m_cpu"]) == 0
    parts = [line for line in capsys.readouterr().out.splitlines() if "/iree-compile" not in line]
    assert any("--iree-llvmcpu-target-cpu=" in line for line in parts)
    assert not any("iree-lld" in line for line in parts)  # the compile key is that of any other folder


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]
