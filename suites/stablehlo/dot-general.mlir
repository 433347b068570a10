// stablehlo.dot_general: a plain product, one with a batch dimension, and one that contracts two dimensions.
// Numbers: NumPy's einsum in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @a() -> tensor<19x27xf32> {
  %seed = util.unfoldable_constant dense<3> : tensor<i32>
  %modulus = stablehlo.constant dense<11> : tensor<19x27xi32>
  %shift = stablehlo.constant dense<5> : tensor<19x27xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<19x27xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<19x27xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<19x27xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<19x27xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<19x27xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<19x27xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<19x27xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<19x27xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<19x27xi32>
  %square = stablehlo.multiply %t1, %t1 : tensor<19x27xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<19x27xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<19x27xi32>
  %value = stablehlo.convert %number : (tensor<19x27xi32>) -> tensor<19x27xf32>
  %hidden = util.optimization_barrier %value : tensor<19x27xf32>
  return %hidden : tensor<19x27xf32>
}

func.func private @b() -> tensor<27x23xf32> {
  %seed = util.unfoldable_constant dense<8> : tensor<i32>
  %modulus = stablehlo.constant dense<11> : tensor<27x23xi32>
  %shift = stablehlo.constant dense<5> : tensor<27x23xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<27x23xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<27x23xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<27x23xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<27x23xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<27x23xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<27x23xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<27x23xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<27x23xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<27x23xi32>
  %square = stablehlo.multiply %t1, %t1 : tensor<27x23xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<27x23xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<27x23xi32>
  %value = stablehlo.convert %number : (tensor<27x23xi32>) -> tensor<27x23xf32>
  %hidden = util.optimization_barrier %value : tensor<27x23xf32>
  return %hidden : tensor<27x23xf32>
}

func.func private @c() -> tensor<3x9x14xf32> {
  %seed = util.unfoldable_constant dense<4> : tensor<i32>
  %modulus = stablehlo.constant dense<11> : tensor<3x9x14xi32>
  %shift = stablehlo.constant dense<5> : tensor<3x9x14xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<3x9x14xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<3x9x14xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<3x9x14xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<3x9x14xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<3x9x14xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<3x9x14xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<3x9x14xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<3x9x14xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<3x9x14xi32>
  %i2 = stablehlo.iota dim = 2 : tensor<3x9x14xi32>
  %factor2 = stablehlo.constant dense<7> : tensor<3x9x14xi32>
  %p2 = stablehlo.multiply %i2, %factor2 : tensor<3x9x14xi32>
  %t2 = stablehlo.add %t1, %p2 : tensor<3x9x14xi32>
  %square = stablehlo.multiply %t2, %t2 : tensor<3x9x14xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<3x9x14xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<3x9x14xi32>
  %value = stablehlo.convert %number : (tensor<3x9x14xi32>) -> tensor<3x9x14xf32>
  %hidden = util.optimization_barrier %value : tensor<3x9x14xf32>
  return %hidden : tensor<3x9x14xf32>
}

func.func private @d() -> tensor<3x14x8xf32> {
  %seed = util.unfoldable_constant dense<5> : tensor<i32>
  %modulus = stablehlo.constant dense<11> : tensor<3x14x8xi32>
  %shift = stablehlo.constant dense<5> : tensor<3x14x8xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<3x14x8xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<3x14x8xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<3x14x8xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<3x14x8xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<3x14x8xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<3x14x8xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<3x14x8xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<3x14x8xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<3x14x8xi32>
  %i2 = stablehlo.iota dim = 2 : tensor<3x14x8xi32>
  %factor2 = stablehlo.constant dense<7> : tensor<3x14x8xi32>
  %p2 = stablehlo.multiply %i2, %factor2 : tensor<3x14x8xi32>
  %t2 = stablehlo.add %t1, %p2 : tensor<3x14x8xi32>
  %square = stablehlo.multiply %t2, %t2 : tensor<3x14x8xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<3x14x8xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<3x14x8xi32>
  %value = stablehlo.convert %number : (tensor<3x14x8xi32>) -> tensor<3x14x8xf32>
  %hidden = util.optimization_barrier %value : tensor<3x14x8xf32>
  return %hidden : tensor<3x14x8xf32>
}

func.func private @e() -> tensor<9x14x5xf32> {
  %seed = util.unfoldable_constant dense<6> : tensor<i32>
  %modulus = stablehlo.constant dense<11> : tensor<9x14x5xi32>
  %shift = stablehlo.constant dense<5> : tensor<9x14x5xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<9x14x5xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<9x14x5xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<9x14x5xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<9x14x5xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<9x14x5xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<9x14x5xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<9x14x5xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<9x14x5xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<9x14x5xi32>
  %i2 = stablehlo.iota dim = 2 : tensor<9x14x5xi32>
  %factor2 = stablehlo.constant dense<7> : tensor<9x14x5xi32>
  %p2 = stablehlo.multiply %i2, %factor2 : tensor<9x14x5xi32>
  %t2 = stablehlo.add %t1, %p2 : tensor<9x14x5xi32>
  %square = stablehlo.multiply %t2, %t2 : tensor<9x14x5xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<9x14x5xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<9x14x5xi32>
  %value = stablehlo.convert %number : (tensor<9x14x5xi32>) -> tensor<9x14x5xf32>
  %hidden = util.optimization_barrier %value : tensor<9x14x5xf32>
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
