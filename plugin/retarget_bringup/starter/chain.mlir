// Two dispatches, the second of which waits for the first: 2 * 3, then + 1.

func.func @chain() {
  %x = util.unfoldable_constant dense<[2.0, -1.0, 0.5]> : tensor<3xf32>
  %y = util.unfoldable_constant dense<[3.0, 5.0, 4.0]> : tensor<3xf32>
  %product = arith.mulf %x, %y : tensor<3xf32>
  %barrier = util.optimization_barrier %product : tensor<3xf32>
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %z = arith.addf %barrier, %one : tensor<3xf32>
  check.expect_eq_const(%z, dense<[7.0, -4.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}
