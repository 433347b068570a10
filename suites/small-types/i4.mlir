// i4, packed 2 to a byte: constants, conversions, arithmetic that wraps, comparison, transposition.
// Numbers: NumPy in int32, wrapped to 4 bits; exact.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @constants() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %out = util.optimization_barrier %x : tensor<16xi4>
  check.expect_eq_const(%out, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>) : tensor<16xi4>
  return
}

func.func @extend_signed() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi4>) outs(%empty : tensor<16xi32>) {
          ^bb0(%a: i4, %unused: i32):
            %r = arith.extsi %a : i4 to i32
            linalg.yield %r : i32
          } -> tensor<16xi32>
  check.expect_eq_const(%out, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi32>) : tensor<16xi32>
  return
}

func.func @extend_unsigned() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi4>) outs(%empty : tensor<16xi32>) {
          ^bb0(%a: i4, %unused: i32):
            %r = arith.extui %a : i4 to i32
            linalg.yield %r : i32
          } -> tensor<16xi32>
  check.expect_eq_const(%out, dense<[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi32>) : tensor<16xi32>
  return
}

func.func @truncate() {
  %x = util.unfoldable_constant dense<[-40, -35, -30, -25, -20, -15, -10, -5, 0, 5, 10, 15, 20, 25, 30, 35]> : tensor<16xi32>
          %empty = tensor.empty() : tensor<16xi4>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi32>) outs(%empty : tensor<16xi4>) {
          ^bb0(%a: i32, %unused: i4):
            %r = arith.trunci %a : i32 to i4
            linalg.yield %r : i4
          } -> tensor<16xi4>
  check.expect_eq_const(%out, dense<[-8, -3, 2, 7, -4, 1, 6, -5, 0, 5, -6, -1, 4, -7, -2, 3]> : tensor<16xi4>) : tensor<16xi4>
  return
}

func.func @to_float() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xi4>) outs(%empty : tensor<16xf32>) {
          ^bb0(%a: i4, %unused: f32):
            %r = arith.sitofp %a : i4 to f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_eq_const(%out, dense<
      [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @from_float() {
  %x = util.unfoldable_constant dense<
      [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xi4>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xi4>) {
          ^bb0(%a: f32, %unused: i4):
            %r = arith.fptosi %a : f32 to i4
            linalg.yield %r : i4
          } -> tensor<16xi4>
  check.expect_eq_const(%out, dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>) : tensor<16xi4>
  return
}

func.func @add() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %y = util.unfoldable_constant dense<[-8, 6, 5, -8, 3, 2, -8, 0, -1, -8, -3, -4, -8, -6, -7, -8]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xi4>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi4>, tensor<16xi4>) outs(%empty : tensor<16xi4>) {
          ^bb0(%a: i4, %b: i4, %unused: i4):
            %r = arith.addi %a, %b : i4
            linalg.yield %r : i4
          } -> tensor<16xi4>
  check.expect_eq_const(%out, dense<[0, -1, -1, 3, -1, -1, 6, -1, -1, -7, -1, -1, -4, -1, -1, -1]> : tensor<16xi4>) : tensor<16xi4>
  return
}

func.func @subtract() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %y = util.unfoldable_constant dense<[-8, 6, 5, -8, 3, 2, -8, 0, -1, -8, -3, -4, -8, -6, -7, -8]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xi4>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi4>, tensor<16xi4>) outs(%empty : tensor<16xi4>) {
          ^bb0(%a: i4, %b: i4, %unused: i4):
            %r = arith.subi %a, %b : i4
            linalg.yield %r : i4
          } -> tensor<16xi4>
  check.expect_eq_const(%out, dense<[0, 3, 5, 3, -7, -5, 6, -1, 1, -7, 5, 7, -4, -5, -3, -1]> : tensor<16xi4>) : tensor<16xi4>
  return
}

func.func @multiply() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %y = util.unfoldable_constant dense<[-8, 6, 5, -8, 3, 2, -8, 0, -1, -8, -3, -4, -8, -6, -7, -8]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xi4>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi4>, tensor<16xi4>) outs(%empty : tensor<16xi4>) {
          ^bb0(%a: i4, %b: i4, %unused: i4):
            %r = arith.muli %a, %b : i4
            linalg.yield %r : i4
          } -> tensor<16xi4>
  check.expect_eq_const(%out, dense<[0, 6, 2, -8, 4, -6, 0, 0, 0, -8, -6, 4, 0, 2, 6, -8]> : tensor<16xi4>) : tensor<16xi4>
  return
}

func.func @maximum() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %y = util.unfoldable_constant dense<[-8, 6, 5, -8, 3, 2, -8, 0, -1, -8, -3, -4, -8, -6, -7, -8]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xi4>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi4>, tensor<16xi4>) outs(%empty : tensor<16xi4>) {
          ^bb0(%a: i4, %b: i4, %unused: i4):
            %r = arith.maxsi %a, %b : i4
            linalg.yield %r : i4
          } -> tensor<16xi4>
  check.expect_eq_const(%out, dense<[-8, 6, 5, -5, 3, 2, -2, 0, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>) : tensor<16xi4>
  return
}

func.func @less() {
  %x = util.unfoldable_constant dense<[-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<16xi4>
          %y = util.unfoldable_constant dense<[-8, 6, 5, -8, 3, 2, -8, 0, -1, -8, -3, -4, -8, -6, -7, -8]> : tensor<16xi4>
          %empty = tensor.empty() : tensor<16xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xi4>, tensor<16xi4>) outs(%empty : tensor<16xi1>) {
          ^bb0(%a: i4, %b: i4, %unused: i1):
            %r = arith.cmpi slt, %a, %b : i4
            linalg.yield %r : i1
          } -> tensor<16xi1>
  check.expect_eq_const(%out, dense<
      [false, true, true, false, true, true, false, true, false, false, false, false, false, false, false, false]> : tensor<16xi1>) : tensor<16xi1>
  return
}

func.func @transpose() {
  %x = util.unfoldable_constant dense<
      [[-8, -7, -6, -5, -4, -3, -2, -1],
       [0, 1, 2, 3, 4, 5, 6, 7],
       [-8, -7, -6, -5, -4, -3, -2, -1],
       [0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<4x8xi4>
          %empty = tensor.empty() : tensor<8x4xi4>
          %out = linalg.transpose ins(%x : tensor<4x8xi4>) outs(%empty : tensor<8x4xi4>) permutation = [1, 0]
  check.expect_eq_const(%out, dense<
      [[-8, 0, -8, 0],
       [-7, 1, -7, 1],
       [-6, 2, -6, 2],
       [-5, 3, -5, 3],
       [-4, 4, -4, 4],
       [-3, 5, -3, 5],
       [-2, 6, -2, 6],
       [-1, 7, -1, 7]]> : tensor<8x4xi4>) : tensor<8x4xi4>
  return
}

func.func @bytes_hold_the_first_element_in_their_lowest_bits() {
  %bytes = util.unfoldable_constant dense<[3, 20, 37, 54, 71, 88, 105, 122, -117, -100, -83, -66, -49, -32, -15, 2]> : tensor<16xi8>
          %cast = flow.tensor.bitcast %bytes : tensor<16xi8> -> tensor<32xi4>
          %x = util.optimization_barrier %cast : tensor<32xi4>

          %empty = tensor.empty() : tensor<32xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<32xi4>) outs(%empty : tensor<32xi32>) {
          ^bb0(%a: i4, %unused: i32):
            %r = arith.extsi %a : i4 to i32
            linalg.yield %r : i32
          } -> tensor<32xi32>
  check.expect_eq_const(%out, dense<
      [3, 0, 4, 1, 5, 2, 6, 3, 7, 4, -8, 5, -7, 6, -6, 7, -5, -8, -4, -7, -3, -6, -2, -5, -1, -4, 0, -2, 1, -1, 2,
       0]> : tensor<32xi32>) : tensor<32xi32>
  return
}
