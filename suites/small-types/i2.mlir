// i2, packed 4 to a byte: constants, conversions, arithmetic that wraps, comparison, transposition.
// Numbers: NumPy in int32, wrapped to 2 bits; exact.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @constants() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %out = util.optimization_barrier %x : tensor<16xi2>
  check.expect_eq_const(%out, dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>) : tensor<16xi2>
  return
}

func.func @extend_signed() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi2>) outs(%empty : tensor<16xi32>) {
          ^bb0(%a: i2, %unused: i32):
            %r = arith.extsi %a : i2 to i32
            linalg.yield %r : i32
          } -> tensor<16xi32>
  check.expect_eq_const(%out, dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi32>) : tensor<16xi32>
  return
}

func.func @extend_unsigned() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi2>) outs(%empty : tensor<16xi32>) {
          ^bb0(%a: i2, %unused: i32):
            %r = arith.extui %a : i2 to i32
            linalg.yield %r : i32
          } -> tensor<16xi32>
  check.expect_eq_const(%out, dense<[2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1]> : tensor<16xi32>) : tensor<16xi32>
  return
}

func.func @truncate() {
  %x = util.unfoldable_constant dense<[-40, -35, -30, -25, -20, -15, -10, -5, 0, 5, 10, 15, 20, 25, 30, 35]> : tensor<16xi32>
          %empty = tensor.empty() : tensor<16xi2>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi32>) outs(%empty : tensor<16xi2>) {
          ^bb0(%a: i32, %unused: i2):
            %r = arith.trunci %a : i32 to i2
            linalg.yield %r : i2
          } -> tensor<16xi2>
  check.expect_eq_const(%out, dense<[0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1]> : tensor<16xi2>) : tensor<16xi2>
  return
}

func.func @to_float() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi2>) outs(%empty : tensor<16xf32>) {
          ^bb0(%a: i2, %unused: f32):
            %r = arith.sitofp %a : i2 to f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_eq_const(%out, dense<
      [-2.0, -1.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @from_float() {
  %x = util.unfoldable_constant dense<
      [-2.0, -1.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xi2>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xi2>) {
          ^bb0(%a: f32, %unused: i2):
            %r = arith.fptosi %a : f32 to i2
            linalg.yield %r : i2
          } -> tensor<16xi2>
  check.expect_eq_const(%out, dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>) : tensor<16xi2>
  return
}

func.func @add() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %y = util.unfoldable_constant dense<[-2, 0, -1, -2, 1, 0, -2, -2, 1, -2, -1, -2, -2, 0, -1, -2]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xi2>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi2>, tensor<16xi2>) outs(%empty : tensor<16xi2>) {
          ^bb0(%a: i2, %b: i2, %unused: i2):
            %r = arith.addi %a, %b : i2
            linalg.yield %r : i2
          } -> tensor<16xi2>
  check.expect_eq_const(%out, dense<[0, -1, -1, -1, -1, -1, -2, -1, -1, 1, -1, -1, 0, -1, -1, -1]> : tensor<16xi2>) : tensor<16xi2>
  return
}

func.func @subtract() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %y = util.unfoldable_constant dense<[-2, 0, -1, -2, 1, 0, -2, -2, 1, -2, -1, -2, -2, 0, -1, -2]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xi2>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi2>, tensor<16xi2>) outs(%empty : tensor<16xi2>) {
          ^bb0(%a: i2, %b: i2, %unused: i2):
            %r = arith.subi %a, %b : i2
            linalg.yield %r : i2
          } -> tensor<16xi2>
  check.expect_eq_const(%out, dense<[0, -1, 1, -1, 1, -1, -2, -1, 1, 1, 1, -1, 0, -1, 1, -1]> : tensor<16xi2>) : tensor<16xi2>
  return
}

func.func @multiply() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %y = util.unfoldable_constant dense<[-2, 0, -1, -2, 1, 0, -2, -2, 1, -2, -1, -2, -2, 0, -1, -2]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xi2>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi2>, tensor<16xi2>) outs(%empty : tensor<16xi2>) {
          ^bb0(%a: i2, %b: i2, %unused: i2):
            %r = arith.muli %a, %b : i2
            linalg.yield %r : i2
          } -> tensor<16xi2>
  check.expect_eq_const(%out, dense<[0, 0, 0, -2, -2, 0, 0, -2, -2, -2, 0, -2, 0, 0, 0, -2]> : tensor<16xi2>) : tensor<16xi2>
  return
}

func.func @maximum() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %y = util.unfoldable_constant dense<[-2, 0, -1, -2, 1, 0, -2, -2, 1, -2, -1, -2, -2, 0, -1, -2]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xi2>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi2>, tensor<16xi2>) outs(%empty : tensor<16xi2>) {
          ^bb0(%a: i2, %b: i2, %unused: i2):
            %r = arith.maxsi %a, %b : i2
            linalg.yield %r : i2
          } -> tensor<16xi2>
  check.expect_eq_const(%out, dense<[-2, 0, 0, 1, 1, 0, 0, 1, 1, -1, 0, 1, -2, 0, 0, 1]> : tensor<16xi2>) : tensor<16xi2>
  return
}

func.func @less() {
  %x = util.unfoldable_constant dense<[-2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1, -2, -1, 0, 1]> : tensor<16xi2>
          %y = util.unfoldable_constant dense<[-2, 0, -1, -2, 1, 0, -2, -2, 1, -2, -1, -2, -2, 0, -1, -2]> : tensor<16xi2>
          %empty = tensor.empty() : tensor<16xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi2>, tensor<16xi2>) outs(%empty : tensor<16xi1>) {
          ^bb0(%a: i2, %b: i2, %unused: i1):
            %r = arith.cmpi slt, %a, %b : i2
            linalg.yield %r : i1
          } -> tensor<16xi1>
  check.expect_eq_const(%out, dense<
      [false, true, false, false, true, true, false, false, true, false, false, false, false, true, false, false]> : tensor<16xi1>) : tensor<16xi1>
  return
}

func.func @transpose() {
  %x = util.unfoldable_constant dense<
      [[-2, -1, 0, 1, -2, -1, 0, 1],
       [-2, -1, 0, 1, -2, -1, 0, 1],
       [-2, -1, 0, 1, -2, -1, 0, 1],
       [-2, -1, 0, 1, -2, -1, 0, 1]]> : tensor<4x8xi2>
          %empty = tensor.empty() : tensor<8x4xi2>
          %out = linalg.transpose ins(%x : tensor<4x8xi2>) outs(%empty : tensor<8x4xi2>) permutation = [1, 0]
  check.expect_eq_const(%out, dense<
      [[-2, -2, -2, -2],
       [-1, -1, -1, -1],
       [0, 0, 0, 0],
       [1, 1, 1, 1],
       [-2, -2, -2, -2],
       [-1, -1, -1, -1],
       [0, 0, 0, 0],
       [1, 1, 1, 1]]> : tensor<8x4xi2>) : tensor<8x4xi2>
  return
}

func.func @bytes_hold_the_first_element_in_their_lowest_bits() {
  %bytes = util.unfoldable_constant dense<[3, 20, 37, 54, 71, 88, 105, 122, -117, -100, -83, -66, -49, -32, -15, 2]> : tensor<16xi8>
          %cast = flow.tensor.bitcast %bytes : tensor<16xi8> -> tensor<64xi2>
          %x = util.optimization_barrier %cast : tensor<64xi2>

          %empty = tensor.empty() : tensor<64xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<64xi2>) outs(%empty : tensor<64xi32>) {
          ^bb0(%a: i2, %unused: i32):
            %r = arith.extsi %a : i2 to i32
            linalg.yield %r : i32
          } -> tensor<64xi32>
  check.expect_eq_const(%out, dense<
      [-1, 0, 0, 0, 0, 1, 1, 0, 1, 1, -2, 0, -2, 1, -1, 0, -1, 1, 0, 1, 0, -2, 1, 1, 1, -2, -2, 1, -2, -2, -1, 1,
       -1, -2, 0, -2, 0, -1, 1, -2, 1, -1, -2, -2, -2, -1, -1, -2, -1, -1, 0, -1, 0, 0, -2, -1, 1, 0, -1, -1, -2,
       0, 0, 0]> : tensor<64xi32>) : tensor<64xi32>
  return
}
