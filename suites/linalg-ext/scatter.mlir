// iree_linalg_ext.scatter: elements and whole rows written to unique places, and updates that are added where places repeat.
// Numbers: NumPy's indexed assignment and np.add.at.
//
// Written by suites/generate.py from suites/generator/linalg_ext.py; change it there.

func.func @elements() {
  %base_data = util.unfoldable_constant dense<[0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100]> : tensor<12xi32>
        %base_zeros = util.unfoldable_constant dense<0> : tensor<12xi32>
        %base = arith.addi %base_data, %base_zeros : tensor<12xi32>
  %updates = util.unfoldable_constant dense<[-1, -2, -3, -4]> : tensor<4xi32>
  %places = util.unfoldable_constant dense<[[7], [0], [11], [3]]> : tensor<4x1xi32>
  %out = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%updates, %places : tensor<4xi32>, tensor<4x1xi32>) outs(%base : tensor<12xi32>) {
  ^bb0(%update: i32, %old: i32):
    %sum = arith.addi %update, %old : i32
    iree_linalg_ext.yield %update : i32
  } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[-2, 100, 200, -4, 400, 500, 600, -1, 800, 900, 1000, -3]> : tensor<12xi32>) : tensor<12xi32>
  return
}

func.func @rows() {
  %base_data = util.unfoldable_constant dense<
      [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]> : tensor<6x4xi32>
        %base_zeros = util.unfoldable_constant dense<0> : tensor<6x4xi32>
        %base = arith.addi %base_data, %base_zeros : tensor<6x4xi32>
  %updates = util.unfoldable_constant dense<[[-1, -2, -3, -4], [-5, -6, -7, -8]]> : tensor<2x4xi32>
  %places = util.unfoldable_constant dense<[[4], [1]]> : tensor<2x1xi32>
  %out = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%updates, %places : tensor<2x4xi32>, tensor<2x1xi32>) outs(%base : tensor<6x4xi32>) {
  ^bb0(%update: i32, %old: i32):
    %sum = arith.addi %update, %old : i32
    iree_linalg_ext.yield %update : i32
  } -> tensor<6x4xi32>
  check.expect_eq_const(%out, dense<
      [[0, 1, 2, 3], [-5, -6, -7, -8], [8, 9, 10, 11], [12, 13, 14, 15], [-1, -2, -3, -4], [20, 21, 22, 23]]> : tensor<6x4xi32>) : tensor<6x4xi32>
  return
}

func.func @added_where_repeated() {
  %base_data = util.unfoldable_constant dense<[0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100]> : tensor<12xi32>
        %base_zeros = util.unfoldable_constant dense<0> : tensor<12xi32>
        %base = arith.addi %base_data, %base_zeros : tensor<12xi32>
  %updates = util.unfoldable_constant dense<[-1, -2, -3, -4]> : tensor<4xi32>
  %places = util.unfoldable_constant dense<[[2], [5], [2], [2]]> : tensor<4x1xi32>
  %out = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%updates, %places : tensor<4xi32>, tensor<4x1xi32>) outs(%base : tensor<12xi32>) {
  ^bb0(%update: i32, %old: i32):
    %sum = arith.addi %update, %old : i32
    iree_linalg_ext.yield %sum : i32
  } -> tensor<12xi32>
  check.expect_eq_const(%out, dense<[0, 100, 192, 300, 400, 498, 600, 700, 800, 900, 1000, 1100]> : tensor<12xi32>) : tensor<12xi32>
  return
}
