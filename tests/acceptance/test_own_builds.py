"""Toolchains: other builds than the environment's, used by configs that name them."""

from __future__ import annotations

import os
import shutil

import pytest
from acceptance_support import CPU, Project
from mlir_modules import GOOD
from retarget_iree.toolchain import find_compiler

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


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]
