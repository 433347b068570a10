"""A tree of test folders as iree-test-suites publishes it, with a suite.toml above it and otherwise untouched."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from acceptance_support import CPU, Project
from retarget_iree.modules.onnx_import import import_onnx
from session_output import ids

pytestmark = pytest.mark.slow  # many sessions, some of the real compiler: the CI runs them, and make test-slow

TREE = "onnx_ops/onnx/node/generated"
SUITE = """\
[[module_test_suite]]
name = "onnx_ops"
kind = "run-module"
srcs = ["**/run_module_io_flags.txt"]
targets = ["cpu"]
"""
SYNC_ONLY = CPU.replace('["sync", "task"]', '["sync"]')
NODES = {
    "abs": ["test_abs"],
    "add": ["test_add_bcast", "test_add_uint8"],
    "size": ["test_size"],
    "where": ["test_where_example"],
}
"""ONNX's own node tests by operator: floats, unsigned integers, Booleans, a broadcast, a result of rank 0."""
ELEMENTS = {"float32": "f32", "uint8": "ui8", "int64": "i64", "bool": "i1"}


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree, made once: model.mlir, input_N.bin, output_N.bin and run_module_io_flags.txt in each folder."""
    nodes = importlib.import_module("onnx.backend.test.case.node")
    for operator in NODES:
        importlib.import_module(f"onnx.backend.test.case.node.{operator}")
    wanted = {name for names in NODES.values() for name in names}
    root = tmp_path_factory.mktemp("published")
    for case in vars(nodes)["_NodeTestCases"]:
        if case.name not in wanted:
            continue
        folder = root / TREE / case.name
        folder.mkdir(parents=True)
        (folder / "model.mlir").write_bytes(import_onnx(case.model.SerializeToString(), case.name))
        inputs, outputs = case.data_sets[0]
        flags = [_written(folder, "input", number, array) for number, array in enumerate(inputs)]
        flags += [_written(folder, "output", number, array) for number, array in enumerate(outputs)]
        (folder / "run_module_io_flags.txt").write_text("".join(f"{flag}\n" for flag in flags))
    return root


def _written(folder: Path, side: str, number: int, array: np.ndarray) -> str:
    array = np.asarray(array)
    (folder / f"{side}_{number}.bin").write_bytes(array.tobytes())
    kind = "x".join([*map(str, array.shape), ELEMENTS[array.dtype.name]])
    return f"--{'input' if side == 'input' else 'expected_output'}={kind}=@{side}_{number}.bin"


@pytest.fixture
def tree(project: Project, published: Path) -> Project:
    """A project with the tree in it."""
    for path in sorted(published.rglob("*")):
        if path.is_file():
            there = project.path / path.relative_to(published)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())
    project.write({"matrix.toml": SYNC_ONLY, "onnx_ops/suite.toml": SUITE})
    return project


def test_a_published_tree_runs_untouched_under_the_names_of_its_folders(tree: Project) -> None:
    names = sorted(name for group in NODES.values() for name in group)
    collected = ids(tree.run("--collect-only", "-q"))
    assert collected == [
        f"onnx_ops/suite.toml::onnx_ops::onnx/node/generated/{name}_vmvx{runtime}"
        for name in names
        for runtime in ("", "_sync")
    ]
    tree.run().assert_outcomes(passed=2 * len(names))


PLAIN = """\
func.func @plain(%a: tensor<3xf32>) -> tensor<3xf32> {
  return %a : tensor<3xf32>
}
"""


def test_a_flagfile_that_is_named_is_ours_and_another_text_is_left_to_doctest(project: Project) -> None:
    project.write(
        {
            "matrix.toml": SYNC_ONLY,
            "suite.toml": SUITE,
            "one/model.mlir": PLAIN,
            "one/run_module_io_flags.txt": "--input=3xf32=1\n",
            "two/model.mlir": PLAIN,
            "two/run_module_io_flags.txt": "--input=3xf32=1\n",
            "notes.txt": ">>> 1 + 1\n2\n",
        }
    )
    result = project.run("one/run_module_io_flags.txt", "-v")
    result.assert_outcomes(passed=2)
    assert all("one_vmvx" in line for line in result.outlines if "::" in line)
    project.run("notes.txt").assert_outcomes(passed=1)
    project.write({"two/run_module_io_flags.txt": "--module=modle.mlir\n"})
    result = project.run("one/run_module_io_flags.txt")
    result.assert_outcomes(errors=1)
    diagnostic = (
        "two/run_module_io_flags.txt:1:10: found no file 'modle.mlir', expected a module; did you mean 'model.mlir'?"
    )
    assert diagnostic in result.outlines
