"""MLIR that the tests compile."""

from __future__ import annotations

__all__ = ["ARITHMETIC", "ELEMENT_TYPES", "FAILING", "SIGNATURES", "element_types_module"]

ARITHMETIC = """
func.func @passes() {
  %a = util.unfoldable_constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.addf %a, %a : tensor<2x2xf32>
  check.expect_almost_eq_const(%b, dense<[[2.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
  return
}
func.func @differs() {
  %a = util.unfoldable_constant dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const(%a, dense<[1, 2, 4]> : tensor<3xi32>) : tensor<3xi32>
  return
}
func.func @checks_nothing() {
  return
}
func.func @with_argument(%a: tensor<2xf32>) {
  check.expect_eq(%a, %a) : tensor<2xf32>
  return
}
"""

FAILING = """
func.func @asserts() {
  %a = util.unfoldable_constant 1 : i32
  %zero = arith.constant 0 : i32
  %is = arith.cmpi eq, %a, %zero : i32
  cf.assert %is, "must be zero"
  return
}
func.func @reports() {
  %code = util.unfoldable_constant 3 : i32
  util.status.check_ok %code, "told by the module"
  return
}
func.func @scalars() {
  %yes = util.unfoldable_constant 1 : i32
  %no = util.unfoldable_constant 0 : i32
  check.expect_true(%yes) : i32
  check.expect_false(%no) : i32
  check.expect_true(%no) : i32
  %all = util.unfoldable_constant dense<[1, 1, 0]> : tensor<3xi8>
  check.expect_all_true(%all) : tensor<3xi8>
  return
}
"""

SIGNATURES = """
func.func @tensor_and_scalars(%t: tensor<4xf32>, %i: i32, %f: f32) -> (tensor<4xf32>, i32, f32) {
  %0 = arith.addf %t, %t : tensor<4xf32>
  %1 = arith.addi %i, %i : i32
  %2 = arith.addf %f, %f : f32
  return %0, %1, %2 : tensor<4xf32>, i32, f32
}
func.func @scalars(%a: i8, %b: i1, %c: i64, %d: f16, %e: bf16, %g: index) -> (i8, i1, i64, f16, bf16, index) {
  return %a, %b, %c, %d, %e, %g : i8, i1, i64, f16, bf16, index
}
func.func @tensors(%a: tensor<?xi1>, %b: tensor<2xui8>, %c: tensor<bf16>, %d: tensor<0x3xf32>)
    -> (tensor<?xi1>, tensor<2xui8>, tensor<bf16>, tensor<0x3xf32>) {
  return %a, %b, %c, %d : tensor<?xi1>, tensor<2xui8>, tensor<bf16>, tensor<0x3xf32>
}
func.func @complex(%a: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  return %a : tensor<2xcomplex<f32>>
}
func.func @small(%a: tensor<8xi4>, %b: tensor<5xui4>, %c: tensor<?xi2>, %d: tensor<2x3xf8E8M0FNU>)
    -> (tensor<8xi4>, tensor<5xui4>, tensor<?xi2>, tensor<2x3xf8E8M0FNU>, tensor<8xi32>) {
  %0 = arith.addi %a, %a : tensor<8xi4>
  %1 = arith.extsi %a : tensor<8xi4> to tensor<8xi32>
  return %0, %b, %c, %d, %1 : tensor<8xi4>, tensor<5xui4>, tensor<?xi2>, tensor<2x3xf8E8M0FNU>, tensor<8xi32>
}
func.func @small_scalars(%a: i4, %b: f8E4M3FN, %c: f8E8M0FNU) -> (i4, f8E4M3FN, f8E8M0FNU) {
  return %a, %b, %c : i4, f8E4M3FN, f8E8M0FNU
}
func.func @three_bits() -> tensor<4xi3> {
  %a = util.unfoldable_constant dense<[1, 2, 3, -4]> : tensor<4xi3>
  return %a : tensor<4xi3>
}
"""

ELEMENT_TYPES = {
    # MLIR element type: (values as MLIR writes them, dtype of the host copy, values as Python has them)
    "i1": ("[true, false, true]", "bool", [True, False, True]),
    "i8": ("[-128, 0, 127]", "int8", [-128, 0, 127]),
    "i16": ("[-32768, 0, 32767]", "int16", [-32768, 0, 32767]),
    "i32": ("[-2147483648, 0, 2147483647]", "int32", [-(2**31), 0, 2**31 - 1]),
    "i64": ("[-9223372036854775808, 0, 9223372036854775807]", "int64", [-(2**63), 0, 2**63 - 1]),
    "f16": ("[0.5, -2.0, 65504.0]", "float16", [0.5, -2.0, 65504.0]),
    "bf16": ("[0.5, -2.0, 256.0]", "bfloat16", [0.5, -2.0, 256.0]),
    "f32": ("[0.5, 0x7F800000, 1.0e+30]", "float32", [0.5, float("inf"), 1.0e30]),
    "f64": ("[0.5, 0xFFF0000000000000, 1.0e+300]", "float64", [0.5, float("-inf"), 1.0e300]),
    "f8E5M2": ("[0.5, -2.0, 4.0]", "float8_e5m2", [0.5, -2.0, 4.0]),
    "f8E4M3FN": ("[0.5, -2.0, 4.0]", "float8_e4m3fn", [0.5, -2.0, 4.0]),
    "f8E5M2FNUZ": ("[0.5, -2.0, 4.0]", "float8_e5m2fnuz", [0.5, -2.0, 4.0]),
    "f8E4M3FNUZ": ("[0.5, -2.0, 4.0]", "float8_e4m3fnuz", [0.5, -2.0, 4.0]),
    "f8E8M0FNU": ("[0.5, 2.0, 4.0]", "float8_e8m0fnu", [0.5, 2.0, 4.0]),
    "i4": ("[-8, 0, 7, -1]", "int4", [-8, 0, 7, -1]),
    "i2": ("[-2, 0, 1, -1]", "int2", [-2, 0, 1, -1]),
}


def element_types_module() -> str:
    """One function per element type, which holds a few values to themselves."""
    return "".join(
        f"""
func.func @t_{name}() {{
  %a = util.unfoldable_constant dense<{values}> : tensor<{len(numbers)}x{name}>
  check.expect_eq_const(%a, dense<{values}> : tensor<{len(numbers)}x{name}>) : tensor<{len(numbers)}x{name}>
  return
}}"""
        for name, (values, _, numbers) in ELEMENT_TYPES.items()
    )
