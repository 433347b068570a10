"""Function headers of MLIR text and of ONNX models, as `retarget init` reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.support import RetargetError
from retarget_cases.starters import mlir_functions


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("func.func @f(%a: tensor<2x?xf32>, %b: i32) -> f32", [("f", ["tensor<2x?xf32>", "i32"])]),
        ("func.func public @f() -> f32", [("f", [])]),
        ("util.func public @f(%a: tensor<4xi8>) -> tensor<4xi8>", [("f", ["tensor<4xi8>"])]),
        ('func.func @"a b"(%a: f32) -> (f32, f32)', [("a b", ["f32"])]),
        ('func.func @f(%a: f32 {x.y = "q, (r"}, %b: f64) -> f32', [("f", ["f32", "f64"])]),
        ("func.func @f(%a: tensor<2xf32> loc(unknown)) -> f32", [("f", ["tensor<2xf32>"])]),
        ("func.func @f(%a: tensor<2xcomplex<f32>>) -> f32", [("f", ["tensor<2xcomplex<f32>>"])]),
        ("func.func @f(%a: (i32) -> i32, %b: i1) -> f32", [("f", ["(i32) -> i32", "i1"])]),
        ("func.func @f(\n  %a: f32,\n  %b: f16\n)\n  -> f32", [("f", ["f32", "f16"])]),
        ("func.func @f(%a: !torch.vtensor<[2,3],si64>) -> f32", [("f", ["!torch.vtensor<[2,3],si64>"])]),
        ("func.func private @f(%a: f32) -> f32", []),
        ("// func.func @f(%a: f32) -> f32", []),
        ("func.func @f(%a: f32) {", []),
        ("llvm.func @f(%a: f32) -> f32", []),
    ],
)
def test_public_functions_that_return_something_are_found(
    header: str, expected: list[tuple[str, list[str]]], tmp_path: Path
) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(f"{header}\n")
    assert [(found.name, [*found.argument_types]) for found in mlir_functions(path)] == expected


@pytest.mark.parametrize(
    ("content", "message"), [(b"func.func @f(%a: f32", "ends inside"), (b"ML\xefR\x00", "no text in UTF-8")]
)
def test_what_is_no_module_is_an_error(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_bytes(content)

    with pytest.raises(RetargetError, match=message):
        mlir_functions(path)
