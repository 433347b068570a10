// stablehlo.dot_general: a plain product, one with a batch dimension, and one that contracts two dimensions.
// Numbers: NumPy's einsum in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @a() -> tensor<19x27xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<19x27xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<19x27xf32>) {
  ^bb0(%unused: f32):
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
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<19x27xf32>
  %hidden = util.optimization_barrier %made : tensor<19x27xf32>
  return %hidden : tensor<19x27xf32>
}

func.func private @b() -> tensor<27x23xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<27x23xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<27x23xf32>) {
  ^bb0(%unused: f32):
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
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<27x23xf32>
  %hidden = util.optimization_barrier %made : tensor<27x23xf32>
  return %hidden : tensor<27x23xf32>
}

func.func private @c() -> tensor<3x9x14xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<3x9x14xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<3x9x14xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<3x9x14xf32>
  %hidden = util.optimization_barrier %made : tensor<3x9x14xf32>
  return %hidden : tensor<3x9x14xf32>
}

func.func private @d() -> tensor<3x14x8xf32> {
  %seed = util.unfoldable_constant 5 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<3x14x8xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<3x14x8xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<3x14x8xf32>
  %hidden = util.optimization_barrier %made : tensor<3x14x8xf32>
  return %hidden : tensor<3x14x8xf32>
}

func.func private @e() -> tensor<9x14x5xf32> {
  %seed = util.unfoldable_constant 6 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<9x14x5xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<9x14x5xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<9x14x5xf32>
  %hidden = util.optimization_barrier %made : tensor<9x14x5xf32>
  return %hidden : tensor<9x14x5xf32>
}

func.func @plain() {
  %x = call @a() : () -> tensor<19x27xf32>
          %y = call @b() : () -> tensor<27x23xf32>
          %out = "stablehlo.dot_general"(%x, %y) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}
            : (tensor<19x27xf32>, tensor<27x23xf32>) -> tensor<19x23xf32>
  check.expect_eq_const(%out, dense<
      [[98.0, 52.0, -34.0, 27.0, -40.0, 18.0, -41.0, 58.0, 62.0, 48.0, 27.0, 98.0, 52.0, -34.0, 27.0, -40.0, 18.0,
        -41.0, 58.0, 62.0, 48.0, 27.0, 98.0],
       [-62.0, 40.0, 72.0, 23.0, 36.0, 78.0, 72.0, -37.0, 26.0, -58.0, 19.0, -62.0, 40.0, 72.0, 23.0, 36.0, 78.0,
        72.0, -37.0, 26.0, -58.0, 19.0, -62.0],
       [54.0, -10.0, 44.0, 7.0, 44.0, -10.0, 54.0, 93.0, 30.0, 30.0, 93.0, 54.0, -10.0, 44.0, 7.0, 44.0, -10.0,
        54.0, 93.0, 30.0, 30.0, 93.0, 54.0],
       [72.0, 78.0, 36.0, 23.0, 72.0, 40.0, -62.0, 19.0, -58.0, 26.0, -37.0, 72.0, 78.0, 36.0, 23.0, 72.0, 40.0,
        -62.0, 19.0, -58.0, 26.0, -37.0, 72.0],
       [-41.0, 18.0, -40.0, 27.0, -34.0, 52.0, 98.0, 27.0, 48.0, 62.0, 58.0, -41.0, 18.0, -40.0, 27.0, -34.0, 52.0,
        98.0, 27.0, 48.0, 62.0, 58.0, -41.0],
       [89.0, 30.0, 14.0, 85.0, 34.0, -18.0, 28.0, 7.0, 40.0, 6.0, 70.0, 89.0, 30.0, 14.0, 85.0, 34.0, -18.0, 28.0,
        7.0, 40.0, 6.0, 70.0, 89.0],
       [11.0, -62.0, 11.0, -45.0, 56.0, 72.0, 25.0, 25.0, 72.0, 56.0, -45.0, 11.0, -62.0, 11.0, -45.0, 56.0, 72.0,
        25.0, 25.0, 72.0, 56.0, -45.0, 11.0],
       [11.0, 28.0, 83.0, 66.0, -1.0, 36.0, 1.0, 37.0, -10.0, 36.0, 87.0, 11.0, 28.0, 83.0, 66.0, -1.0, 36.0, 1.0,
        37.0, -10.0, 36.0, 87.0, 11.0],
       [1.0, 36.0, -1.0, 66.0, 83.0, 28.0, 11.0, 87.0, 36.0, -10.0, 37.0, 1.0, 36.0, -1.0, 66.0, 83.0, 28.0, 11.0,
        87.0, 36.0, -10.0, 37.0, 1.0],
       [25.0, 72.0, 56.0, -45.0, 11.0, -62.0, 11.0, -45.0, 56.0, 72.0, 25.0, 25.0, 72.0, 56.0, -45.0, 11.0, -62.0,
        11.0, -45.0, 56.0, 72.0, 25.0, 25.0],
       [28.0, -18.0, 34.0, 85.0, 14.0, 30.0, 89.0, 70.0, 6.0, 40.0, 7.0, 28.0, -18.0, 34.0, 85.0, 14.0, 30.0, 89.0,
        70.0, 6.0, 40.0, 7.0, 28.0],
       [98.0, 52.0, -34.0, 27.0, -40.0, 18.0, -41.0, 58.0, 62.0, 48.0, 27.0, 98.0, 52.0, -34.0, 27.0, -40.0, 18.0,
        -41.0, 58.0, 62.0, 48.0, 27.0, 98.0],
       [-62.0, 40.0, 72.0, 23.0, 36.0, 78.0, 72.0, -37.0, 26.0, -58.0, 19.0, -62.0, 40.0, 72.0, 23.0, 36.0, 78.0,
        72.0, -37.0, 26.0, -58.0, 19.0, -62.0],
       [54.0, -10.0, 44.0, 7.0, 44.0, -10.0, 54.0, 93.0, 30.0, 30.0, 93.0, 54.0, -10.0, 44.0, 7.0, 44.0, -10.0,
        54.0, 93.0, 30.0, 30.0, 93.0, 54.0],
       [72.0, 78.0, 36.0, 23.0, 72.0, 40.0, -62.0, 19.0, -58.0, 26.0, -37.0, 72.0, 78.0, 36.0, 23.0, 72.0, 40.0,
        -62.0, 19.0, -58.0, 26.0, -37.0, 72.0],
       [-41.0, 18.0, -40.0, 27.0, -34.0, 52.0, 98.0, 27.0, 48.0, 62.0, 58.0, -41.0, 18.0, -40.0, 27.0, -34.0, 52.0,
        98.0, 27.0, 48.0, 62.0, 58.0, -41.0],
       [89.0, 30.0, 14.0, 85.0, 34.0, -18.0, 28.0, 7.0, 40.0, 6.0, 70.0, 89.0, 30.0, 14.0, 85.0, 34.0, -18.0, 28.0,
        7.0, 40.0, 6.0, 70.0, 89.0],
       [11.0, -62.0, 11.0, -45.0, 56.0, 72.0, 25.0, 25.0, 72.0, 56.0, -45.0, 11.0, -62.0, 11.0, -45.0, 56.0, 72.0,
        25.0, 25.0, 72.0, 56.0, -45.0, 11.0],
       [11.0, 28.0, 83.0, 66.0, -1.0, 36.0, 1.0, 37.0, -10.0, 36.0, 87.0, 11.0, 28.0, 83.0, 66.0, -1.0, 36.0, 1.0,
        37.0, -10.0, 36.0, 87.0, 11.0]]> : tensor<19x23xf32>) : tensor<19x23xf32>
  return
}

func.func @batched() {
  %x = call @c() : () -> tensor<3x9x14xf32>
          %y = call @d() : () -> tensor<3x14x8xf32>
          %out = "stablehlo.dot_general"(%x, %y) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}
            : (tensor<3x9x14xf32>, tensor<3x14x8xf32>) -> tensor<3x9x8xf32>
  check.expect_eq_const(%out, dense<
      [[[14.0, 22.0, -9.0, 9.0, 21.0, 38.0, 38.0, 21.0],
        [53.0, 28.0, -34.0, 21.0, 50.0, -13.0, 8.0, 36.0],
        [38.0, 15.0, -39.0, 19.0, 35.0, 53.0, 7.0, -15.0],
        [13.0, 5.0, -13.0, 14.0, -2.0, 38.0, -9.0, -11.0],
        [22.0, -2.0, 0.0, 39.0, 49.0, 8.0, -18.0, 26.0],
        [-23.0, 27.0, 22.0, -27.0, 34.0, 7.0, -31.0, 19.0],
        [-23.0, 15.0, 53.0, 25.0, 19.0, -31.0, 7.0, 34.0],
        [22.0, 28.0, -17.0, 30.0, 26.0, -18.0, 8.0, 49.0],
        [13.0, 22.0, 54.0, 21.0, -11.0, -9.0, 38.0, -2.0]],
       [[8.0, 49.0, 39.0, 0.0, -2.0, 22.0, 28.0, -17.0],
        [38.0, -2.0, 14.0, -13.0, 5.0, 13.0, 22.0, 54.0],
        [53.0, 35.0, 19.0, -39.0, 15.0, 38.0, -25.0, 24.0],
        [-13.0, 50.0, 21.0, -34.0, 28.0, 53.0, 41.0, 3.0],
        [38.0, 21.0, 9.0, -9.0, 22.0, 14.0, 22.0, -9.0],
        [8.0, 36.0, 5.0, 3.0, 41.0, 53.0, 28.0, -34.0],
        [7.0, -15.0, 31.0, 24.0, -25.0, 38.0, 15.0, -39.0],
        [-9.0, -11.0, 21.0, 54.0, 22.0, 13.0, 5.0, -13.0],
        [-18.0, 26.0, 30.0, -17.0, 28.0, 22.0, -2.0, 0.0]],
       [[5.0, -13.0, 14.0, -2.0, 38.0, -9.0, -11.0, 21.0],
        [-2.0, 0.0, 39.0, 49.0, 8.0, -18.0, 26.0, 30.0],
        [27.0, 22.0, -27.0, 34.0, 7.0, -31.0, 19.0, 25.0],
        [15.0, 53.0, 25.0, 19.0, -31.0, 7.0, 34.0, -27.0],
        [28.0, -17.0, 30.0, 26.0, -18.0, 8.0, 49.0, 39.0],
        [22.0, 54.0, 21.0, -11.0, -9.0, 38.0, -2.0, 14.0],
        [-25.0, 24.0, 31.0, -15.0, 7.0, 53.0, 35.0, 19.0],
        [41.0, 3.0, 5.0, 36.0, 8.0, -13.0, 50.0, 21.0],
        [22.0, -9.0, 9.0, 21.0, 38.0, 38.0, 21.0, 9.0]]]> : tensor<3x9x8xf32>) : tensor<3x9x8xf32>
  return
}

func.func @two_dimensions() {
  %x = call @c() : () -> tensor<3x9x14xf32>
          %y = call @e() : () -> tensor<9x14x5xf32>
          %out = "stablehlo.dot_general"(%x, %y) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [0, 1]>}
            : (tensor<3x9x14xf32>, tensor<9x14x5xf32>) -> tensor<3x5xf32>
  check.expect_eq_const(%out, dense<
      [[94.0, 163.0, 168.0, 65.0, 140.0], [93.0, 38.0, 93.0, 203.0, 148.0], [168.0, 163.0, 94.0, 71.0, 94.0]]> : tensor<3x5xf32>) : tensor<3x5xf32>
  return
}
