// iree_linalg_ext.scan: inclusive and exclusive prefix sums, a running product, and prefix sums along the first dimension.
// Numbers: NumPy's cumsum and cumprod, exact integers.
//
// Written by suites/generate.py from suites/generator/linalg_ext.py; change it there.

func.func @inclusive() {
  %x = util.unfoldable_constant dense<
      [-5, 2, -2, 5, 1, -3, 4, 0, -4, 3, -1, -5, 2, -2, 5, 1, -3, 4, 0, -4, 3, -1, -5, 2, -2, 5, 1, -3, 4, 0, -4,
       3, -1, -5, 2, -2, 5]> : tensor<37xi32>
  %room = tensor.empty() : tensor<37xi32>
  %start = util.unfoldable_constant dense<0> : tensor<i32>
  %out:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<37xi32>) outs(%room, %start : tensor<37xi32>, tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %r = arith.addi %a, %b : i32
    iree_linalg_ext.yield %r : i32
  } -> tensor<37xi32>, tensor<i32>
  check.expect_eq_const(%out#0, dense<
      [-5, -3, -5, 0, 1, -2, 2, 2, -2, 1, 0, -5, -3, -5, 0, 1, -2, 2, 2, -2, 1, 0, -5, -3, -5, 0, 1, -2, 2, 2, -2,
       1, 0, -5, -3, -5, 0]> : tensor<37xi32>) : tensor<37xi32>
  return
}

func.func @exclusive() {
  %x = util.unfoldable_constant dense<
      [-5, 2, -2, 5, 1, -3, 4, 0, -4, 3, -1, -5, 2, -2, 5, 1, -3, 4, 0, -4, 3, -1, -5, 2, -2, 5, 1, -3, 4, 0, -4,
       3, -1, -5, 2, -2, 5]> : tensor<37xi32>
  %room = tensor.empty() : tensor<37xi32>
  %start = util.unfoldable_constant dense<0> : tensor<i32>
  %out:2 = iree_linalg_ext.scan dimension(0) inclusive(false) ins(%x : tensor<37xi32>) outs(%room, %start : tensor<37xi32>, tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %r = arith.addi %a, %b : i32
    iree_linalg_ext.yield %r : i32
  } -> tensor<37xi32>, tensor<i32>
  check.expect_eq_const(%out#0, dense<
      [0, -5, -3, -5, 0, 1, -2, 2, 2, -2, 1, 0, -5, -3, -5, 0, 1, -2, 2, 2, -2, 1, 0, -5, -3, -5, 0, 1, -2, 2, 2,
       -2, 1, 0, -5, -3, -5]> : tensor<37xi32>) : tensor<37xi32>
  return
}

func.func @running_product() {
  %x = util.unfoldable_constant dense<[1, -2, 3, 2, -1, 5]> : tensor<6xi32>
  %room = tensor.empty() : tensor<6xi32>
  %start = util.unfoldable_constant dense<1> : tensor<i32>
  %out:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<6xi32>) outs(%room, %start : tensor<6xi32>, tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %r = arith.muli %a, %b : i32
    iree_linalg_ext.yield %r : i32
  } -> tensor<6xi32>, tensor<i32>
  check.expect_eq_const(%out#0, dense<[1, -2, -6, -12, 12, 60]> : tensor<6xi32>) : tensor<6xi32>
  return
}

func.func @columns() {
  %x = util.unfoldable_constant dense<
      [[-5, 2, -2, 5, 1, -3],
       [4, 0, -4, 3, -1, -5],
       [2, -2, 5, 1, -3, 4],
       [0, -4, 3, -1, -5, 2],
       [-2, 5, 1, -3, 4, 0],
       [-4, 3, -1, -5, 2, -2]]> : tensor<6x6xi32>
  %room = tensor.empty() : tensor<6x6xi32>
  %start = util.unfoldable_constant dense<0> : tensor<6xi32>
  %out:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<6x6xi32>) outs(%room, %start : tensor<6x6xi32>, tensor<6xi32>) {
  ^bb0(%a: i32, %b: i32):
    %r = arith.addi %a, %b : i32
    iree_linalg_ext.yield %r : i32
  } -> tensor<6x6xi32>, tensor<6xi32>
  check.expect_eq_const(%out#0, dense<
      [[-5, 2, -2, 5, 1, -3],
       [-1, 2, -6, 8, 0, -8],
       [1, 0, -1, 9, -3, -4],
       [1, -4, 2, 8, -8, -2],
       [-1, 1, 3, 5, -4, -2],
       [-5, 4, 2, 0, -2, -4]]> : tensor<6x6xi32>) : tensor<6x6xi32>
  return
}
