// Integer reductions of a 23x71 tensor: sum, product of a few, signed and unsigned maximum and minimum, and, or, xor.
// Numbers: NumPy's reductions of int32 and uint32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func private @x() -> tensor<23x71xi32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 504 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<23x71xi32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<23x71xi32>) {
  ^bb0(%unused: i32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    linalg.yield %number : i32
  } -> tensor<23x71xi32>
  %hidden = util.optimization_barrier %made : tensor<23x71xi32>
  return %hidden : tensor<23x71xi32>
}

func.func @addi_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.addi } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [5104, -2425, 383, 411, 2704, 1208, -5086, 2993, 1229, -3315, 3487, 446, 1688, 2168, -2150, 1851, -2982, 504,
       -808, 2163, 1345, -2253, 1459]> : tensor<23xi32>) : tensor<23xi32>
  return
}

func.func @maxsi_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant -2147483648 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.maxsi } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [501, 489, 497, 502, 491, 502, 503, 496, 504, 504, 498, 491, 502, 497, 500, 501, 484, 501, 500, 497, 502,
       480, 498]> : tensor<23xi32>) : tensor<23xi32>
  return
}

func.func @minsi_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant 2147483647 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.minsi } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [-495, -499, -502, -496, -500, -503, -501, -474, -474, -501, -503, -500, -496, -502, -499, -502, -504, -502,
       -499, -494, -496, -500, -503]> : tensor<23xi32>) : tensor<23xi32>
  return
}

func.func @maxui_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.maxui } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [-33, -14, -4, -20, -40, -1, -2, -7, -2, -2, -1, -40, -1, -4, -14, -4, -55, -4, -14, -35, -1, -3, -10]> : tensor<23xi32>) : tensor<23xi32>
  return
}

func.func @minui_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant -1 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.minui } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [4, 14, 32, 8, 2, 0, 1, 21, 1, 1, 0, 2, 0, 13, 14, 4, 18, 4, 14, 13, 0, 2, 5]> : tensor<23xi32>) : tensor<23xi32>
  return
}

func.func @andi_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant -1 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.andi } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<0> : tensor<23xi32>) : tensor<23xi32>
  return
}

func.func @ori_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.ori } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1]> : tensor<23xi32>) : tensor<23xi32>
  return
}

func.func @xori_along_rows() {
  %x = call @x() : () -> tensor<23x71xi32>
  %start = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<23xi32>
  %init = linalg.fill ins(%start : i32) outs(%empty : tensor<23xi32>) -> tensor<23xi32>
  %out = linalg.reduce { arith.xori } ins(%x : tensor<23x71xi32>) outs(%init : tensor<23xi32>) dimensions = [1]
  check.expect_eq_const(%out, dense<
      [-404, 167, 13, 445, 278, 300, 56, -43, -259, 337, -283, 388, 12, -58, -398, 283, -26, -30, 152, 27, 53, 211,
       417]> : tensor<23xi32>) : tensor<23xi32>
  return
}
