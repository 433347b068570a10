// A quantised layer: i8 matmul to i32, then i32 to i8 by a fixed-point factor 77 / 2^14, rounded to nearest (add half, shift), a zero point, and a clamp.
// Numbers: NumPy in int64: (c * 77 + 2^13) >> 14, plus 3, clipped to [-128, 127].
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/quantised.py; change it there.

func.func private @a() -> tensor<16x34xi8> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 251 : i32
  %shift = arith.constant 125 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<16x34xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<16x34xi8>) {
  ^bb0(%unused: i8):
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
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<16x34xi8>
  %hidden = util.optimization_barrier %made : tensor<16x34xi8>
  return %hidden : tensor<16x34xi8>
}

func.func private @b() -> tensor<34x22xi8> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 101 : i32
  %shift = arith.constant 50 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<34x22xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<34x22xi8>) {
  ^bb0(%unused: i8):
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
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<34x22xi8>
  %hidden = util.optimization_barrier %made : tensor<34x22xi8>
  return %hidden : tensor<34x22xi8>
}

func.func @matmul_then_requantise() {
  %a = call @a() : () -> tensor<16x34xi8>
  %b = call @b() : () -> tensor<34x22xi8>
  %zero = arith.constant 0 : i32
  %factor = arith.constant 77 : i32
  %half = arith.constant 8192 : i32
  %distance = arith.constant 14 : i32
  %point = arith.constant 3 : i32
  %low = arith.constant -128 : i32
  %high = arith.constant 127 : i32
  %empty = tensor.empty() : tensor<16x22xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<16x22xi32>) -> tensor<16x22xi32>
  %c = linalg.matmul ins(%a, %b : tensor<16x34xi8>, tensor<34x22xi8>) outs(%init : tensor<16x22xi32>) -> tensor<16x22xi32>
  %room = tensor.empty() : tensor<16x22xi8>
  %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<16x22xi32>) outs(%room : tensor<16x22xi8>) {
  ^bb0(%v: i32, %unused: i8):
    %scaled = arith.muli %v, %factor : i32
    %moved = arith.addi %scaled, %half : i32
    %shifted = arith.shrsi %moved, %distance : i32
    %pointed = arith.addi %shifted, %point : i32
    %above = arith.maxsi %pointed, %low : i32
    %within = arith.minsi %above, %high : i32
    %r = arith.trunci %within : i32 to i8
    linalg.yield %r : i8
  } -> tensor<16x22xi8>
  check.expect_eq_const(%out, dense<
      [[-19, 13, 45, -94, 49, 74, 51, -59, 81, -49, 39, 33, 38, -37, 76, -90, -5, 3, 100, -52, 21, -7],
       [-20, -8, -38, 56, -12, -45, -68, -4, 59, -17, -5, -69, 18, -1, -4, -22, -20, 36, -23, -22, 31, 59],
       [-47, 40, -1, 22, 70, -19, 4, -34, -43, 51, -19, 14, -22, -36, -43, 32, 56, 64, -11, -36, 56, 71],
       [49, -65, 36, 17, 1, -62, 7, 15, -3, 71, -39, -76, 66, 32, -89, 32, 66, -76, -39, 71, -3, 15],
       [62, -38, -14, -87, -57, 17, 13, 71, 56, -36, -11, 64, 56, 32, -43, -36, -22, 14, -19, 51, -43, -34],
       [26, 61, -39, 18, 71, -74, 5, 59, 31, -22, -23, 36, -20, -22, -4, -1, 18, -69, -5, -17, 59, -4],
       [26, -4, 6, -46, 63, 3, 36, -7, 21, -52, 100, 3, -5, -90, 76, -37, 38, 33, 39, -49, 81, -59],
       [-18, -51, -18, -128, 10, 59, 4, -7, 21, -4, 127, 23, 88, -7, -39, 64, -14, 23, 62, -78, 22, -38],
       [4, 127, 12, 28, -19, 94, -23, -37, 27, -14, -34, -33, -85, 39, -128, -13, -19, -11, 15, -41, 73, 36],
       [-113, -78, -66, 98, 87, -22, -33, 89, 65, 47, 73, 20, -32, -77, 36, -3, -12, -20, -61, 8, -13, -9],
       [-28, 53, -4, 115, 11, -31, -58, 21, 38, 71, -128, -32, -62, -74, -1, 53, 0, -119, -61, 6, 106, 65],
       [127, 59, 13, 18, -9, 66, -35, 66, -41, -44, 55, -104, -22, -28, -14, 32, -34, 5, -79, -10, 61, 23],
       [59, -59, 58, 63, -14, -77, -27, 78, 70, -33, -63, -21, 25, -7, 37, -42, 0, -43, -74, 72, 29, -21],
       [-7, -128, 56, -97, -23, -20, 35, 1, 78, 59, 48, 89, 99, -74, 127, -21, 71, -109, 62, -37, -74, -57],
       [-86, 7, -87, -5, 15, 106, -45, 42, -9, 127, -24, 68, 55, -13, 12, 61, 7, -33, -21, -11, -87, 23],
       [7, 21, -2, -54, 81, -107, -49, 42, 52, 4, 14, -23, 24, -33, 21, -12, 46, -9, -48, 5, 85, 26]]> : tensor<16x22xi8>) : tensor<16x22xi8>
  return
}
