// TOSA reductions, which keep the reduced dimension with size one: sum, max, min, product, any, all; and argmax.
// Numbers: NumPy, exact.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tosa.py; change it there.

func.func private @x() -> tensor<5x9x12xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 101 : i32
  %shift = arith.constant 50 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<5x9x12xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<5x9x12xf32>) {
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
  } -> tensor<5x9x12xf32>
  %hidden = util.optimization_barrier %made : tensor<5x9x12xf32>
  return %hidden : tensor<5x9x12xf32>
}

func.func @sum() {
  %x = call @x() : () -> tensor<5x9x12xf32>
          %out = "tosa.reduce_sum"(%x) {axis = 2 : i32} : (tensor<5x9x12xf32>) -> tensor<5x9x1xf32>
  check.expect_eq_const(%out, dense<
      [[[6.0], [-97.0], [-31.0], [103.0], [103.0], [-31.0], [-97.0], [6.0], [-25.0]],
       [[-107.0], [15.0], [3.0], [160.0], [-19.0], [-29.0], [-72.0], [54.0], [-156.0]],
       [[18.0], [-39.0], [174.0], [51.0], [-4.0], [-92.0], [-11.0], [-64.0], [-49.0]],
       [[-23.0], [246.0], [-23.0], [79.0], [-155.0], [-18.0], [-15.0], [-45.0], [-7.0]],
       [[174.0], [-39.0], [18.0], [-59.0], [-68.0], [92.0], [-185.0], [10.0], [71.0]]]> : tensor<5x9x1xf32>) : tensor<5x9x1xf32>
  return
}

func.func @max() {
  %x = call @x() : () -> tensor<5x9x12xf32>
          %out = "tosa.reduce_max"(%x) {axis = 1 : i32} : (tensor<5x9x12xf32>) -> tensor<5x1x12xf32>
  check.expect_eq_const(%out, dense<
      [[[47.0, 50.0, 37.0, 31.0, 34.0, 46.0, 46.0, 45.0, 31.0, 37.0, 50.0, 47.0]],
       [[29.0, 31.0, 34.0, 46.0, 46.0, 45.0, 50.0, 37.0, 50.0, 47.0, 47.0, 50.0]],
       [[34.0, 30.0, 46.0, 47.0, 50.0, 37.0, 50.0, 47.0, 47.0, 35.0, 29.0, 31.0]],
       [[46.0, 47.0, 50.0, 37.0, 50.0, 47.0, 46.0, 35.0, 29.0, 31.0, 34.0, 30.0]],
       [[50.0, 37.0, 50.0, 47.0, 46.0, 35.0, 29.0, 31.0, 28.0, 30.0, 46.0, 47.0]]]> : tensor<5x1x12xf32>) : tensor<5x1x12xf32>
  return
}

func.func @min() {
  %x = call @x() : () -> tensor<5x9x12xf32>
          %out = "tosa.reduce_min"(%x) {axis = 0 : i32} : (tensor<5x9x12xf32>) -> tensor<1x9x12xf32>
  check.expect_eq_const(%out, dense<
      [[[-41.0, -46.0, 30.0, -27.0, -44.0, -49.0, -45.0, -33.0, -30.0, -37.0, -41.0, -46.0],
        [-19.0, -28.0, -33.0, -46.0, 30.0, -27.0, -44.0, -49.0, -46.0, -33.0, -30.0, -34.0],
        [-46.0, -33.0, -28.0, -19.0, -33.0, -46.0, -49.0, -27.0, -27.0, -49.0, -46.0, -33.0],
        [-27.0, 30.0, -46.0, -41.0, -34.0, -30.0, -33.0, -46.0, -49.0, -44.0, -27.0, 30.0],
        [-49.0, -50.0, -27.0, 30.0, -46.0, -41.0, -37.0, -30.0, -33.0, -45.0, -49.0, -44.0],
        [-29.0, -45.0, -49.0, -50.0, -27.0, -45.0, -17.0, -41.0, -37.0, -30.0, -33.0, -45.0],
        [-37.0, -41.0, -29.0, -45.0, -36.0, -50.0, -36.0, -45.0, -29.0, -41.0, -37.0, -41.0],
        [-33.0, -30.0, -37.0, -41.0, -17.0, -45.0, -27.0, -50.0, -49.0, -45.0, -29.0, -41.0],
        [-49.0, -45.0, -33.0, -30.0, -37.0, -41.0, -46.0, 30.0, -27.0, -50.0, -49.0, -45.0]]]> : tensor<1x9x12xf32>) : tensor<1x9x12xf32>
  return
}

func.func @argmax() {
  %x = call @x() : () -> tensor<5x9x12xf32>
          %out = "tosa.argmax"(%x) {axis = 2 : i32} : (tensor<5x9x12xf32>) -> tensor<5x9xi32>
  check.expect_eq_const(%out, dense<
      [[1, 0, 4, 11, 0, 7, 11, 10, 7],
       [11, 10, 9, 9, 10, 9, 8, 5, 6],
       [8, 7, 7, 8, 7, 6, 3, 4, 3],
       [5, 5, 6, 5, 4, 1, 2, 1, 0],
       [3, 4, 3, 2, 3, 0, 4, 11, 10]]> : tensor<5x9xi32>) : tensor<5x9xi32>
  return
}

func.func @any() {
  %x = util.unfoldable_constant dense<
      [[true, true, true, true], [false, true, false, false], [false, false, false, false]]> : tensor<3x4xi1>
          %out = "tosa.reduce_any"(%x) {axis = 1 : i32} : (tensor<3x4xi1>) -> tensor<3x1xi1>
  check.expect_eq_const(%out, dense<[[true], [true], [false]]> : tensor<3x1xi1>) : tensor<3x1xi1>
  return
}

func.func @all() {
  %x = util.unfoldable_constant dense<
      [[true, true, true, true], [false, true, false, false], [false, false, false, false]]> : tensor<3x4xi1>
          %out = "tosa.reduce_all"(%x) {axis = 1 : i32} : (tensor<3x4xi1>) -> tensor<3x1xi1>
  check.expect_eq_const(%out, dense<[[true], [false], [false]]> : tensor<3x1xi1>) : tensor<3x1xi1>
  return
}
