"""The node tests of some operators of onnx: to make them all takes it ten seconds, to make these a fraction of one."""

from __future__ import annotations

import importlib
import warnings

__all__ = ["TESTS", "load_model_tests"]

TESTS = {
    "test_abs": "op-Abs opset-13 f32",
    "test_add_uint8": "op-Add opset-14 u8",
    "test_and2d": "op-And opset-7 bool",
    "test_cast_FLOAT_to_BFLOAT16": "op-Cast opset-25 f32 bf16",
    "test_cast_FLOAT_to_FLOAT8E4M3FN": "op-Cast opset-25 f32 f8E4M3FN",
    "test_cast_FLOAT_to_INT4": "op-Cast opset-25 f32 i4",
    "test_sequence_insert_at_back": "op-SequenceInsert opset-11 sequence i64",
    "test_optional_has_element_empty_optional_input": "op-OptionalHasElement opset-18 optional i32 bool",
    "test_string_split_basic": "op-StringSplit opset-20 string i64",
    "test_size_example": "op-Size opset-25 f32 i64",
    "test_reduce_sum_empty_set": "op-ReduceSum opset-13 f32 i64",
    "test_constant": "op-Constant opset-25 f32",
    "test_gelu_default_1": "op-Gelu opset-20 f32",
    "test_gelu_default_1_expanded": "op-Gelu opset-20 f32 expanded",
    "test_of_a_later_onnx": "op-Later opset-99 f32",
}

_OPERATORS = (
    *("abs", "add", "and_", "cast", "constant", "gelu", "optionalhaselement", "reducesum", "sequenceinsert", "size"),
    "string_split",
)


def load_model_tests(*, kind: str) -> list[object]:
    """Return the tests of `TESTS` as onnx's own function of this name does."""
    from onnx.backend.test.case import node

    assert kind == "node"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in _OPERATORS:
            importlib.import_module(f"{node.__name__}.{operator}")
    return [test for test in node._NodeTestCases if test.name in TESTS]
