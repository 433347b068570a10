"""Modules of MLIR that IREE compiles, or fails to compile, in a known way."""

from __future__ import annotations

__all__ = ["CRASHES", "DIFFERS", "GOOD", "REFUSED", "SCALE"]


def _doubles(name: str, expected: str) -> str:
    return f"""\
func.func @{name}() {{
  %a = util.unfoldable_constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = arith.addf %a, %a : tensor<3xf32>
  check.expect_almost_eq_const(%b, dense<{expected}> : tensor<3xf32>) : tensor<3xf32>
  return
}}
"""


GOOD = _doubles("add", "[2.0, 4.0, 6.0]")

CRASHES = """\
func.func @add() {
  %a = "foo.bar"() : () -> tensor<3xf32>
  check.expect_eq_const(%a, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}
"""
"""An op that IREE 3.13.0 dies of."""

DIFFERS = """\
func.func @fine() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq_const(%a, dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
""" + _doubles("wrong", "[2.0, 4.0, 7.0]")

REFUSED = """\
func.func @add(%a: tensor<3xf32>) -> tensor<3xf32> {
  %b = arith.addi %a, %a : tensor<3xf32>
  return %b : tensor<3xf32>
}
"""

SCALE = """\
util.global private @weights = #flow.parameter.named<"model"::"weights"> : tensor<3xf32>
func.func @scale(%a: tensor<3xf32>) -> tensor<3xf32> {
  %w = util.global.load @weights : tensor<3xf32>
  %b = arith.mulf %a, %w : tensor<3xf32>
  return %b : tensor<3xf32>
}
"""
