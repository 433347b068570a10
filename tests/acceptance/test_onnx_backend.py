"""Suites of kind `onnx-backend`, with the installed package onnx, the real importer and the real compiler."""

from __future__ import annotations

import pytest
from acceptance_support import CPU, Project, suite
from session_output import block, ids

ONE_RUNTIME = CPU.replace('runtimes = ["sync", "task"]', 'runtimes = ["sync"]')

FLAGS = 'compiler_flags = ["--iree-input-demote-f64-to-f32=false"]\n'

MANIFEST = """\
format = 1
package = "onnx 99.0.0"

[tests]
test_add_uint8 = "op-Add opset-14 u8"
test_det_2d = "op-Det opset-22 f32"
test_castlike_FLOAT_to_INT4 = "op-CastLike opset-28 f32 i4"
test_sequence_insert_at_back = "op-SequenceInsert opset-11 sequence i64"
test_size_example = "op-Size opset-25 f32 i64"
test_of_a_later_onnx = "op-Later opset-99 f32"
"""


def onnx_suite(project: Project, more: str = "") -> None:
    project.write(
        {
            "matrix.toml": ONE_RUNTIME,
            "nodes/suite.toml": suite("nodes", kind="onnx-backend", srcs="nodes.toml") + FLAGS + more,
            "nodes/nodes.toml": MANIFEST,
        }
    )


@pytest.mark.slow
def test_each_node_test_fails_or_passes_by_itself(project: Project) -> None:
    onnx_suite(project)
    result = project.run()
    result.assert_outcomes(passed=5, failed=3, errors=2)
    crash = block(result, "nodes: test_castlike_FLOAT_to_INT4_vmvx")
    assert crash[0] == "compile: compiler crashed: SIGABRT"
    refused = block(result, "nodes: test_sequence_insert_at_back_vmvx")
    assert refused[0].startswith("compile: error: failed to legalize operation 'torch.operator'")
    assert "onnx.SequenceInsert" in refused[0]
    later = block(result, "ERROR at setup of nodes: test_of_a_later_onnx_vmvx")
    assert "has no test test_of_a_later_onnx; the manifest nodes/nodes.toml was written by onnx 99.0.0" in later[0]


def test_operators_opsets_and_element_types_are_words_and_only_chooses_by_them(project: Project) -> None:
    onnx_suite(project, 'only = ["op-Add", "test_s*"]\nwithout = ["sequence"]\n')
    result = project.run("--collect-only", "-q", "-m", "run")
    assert ids(result) == [
        "nodes/suite.toml::nodes::test_add_uint8_vmvx_sync",
        "nodes/suite.toml::nodes::test_size_example_vmvx_sync",
    ]
    result = project.run("--collect-only", "-q", "-m", "opset-14 and u8 and compile")
    assert ids(result) == ["nodes/suite.toml::nodes::test_add_uint8_vmvx"]
