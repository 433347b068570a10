// Four dispatches: two that do not wait for each other, one that waits for both, and one after it.

func.func @fork() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = util.unfoldable_constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %a0 = arith.addf %x, %y : tensor<3xf32>
  %a = util.optimization_barrier %a0 : tensor<3xf32>
  %b0 = arith.mulf %x, %y : tensor<3xf32>
  %b = util.optimization_barrier %b0 : tensor<3xf32>
  %c0 = arith.subf %b, %a : tensor<3xf32>
  %c = util.optimization_barrier %c0 : tensor<3xf32>
  %z = arith.mulf %c, %c : tensor<3xf32>
  check.expect_eq_const(%z, dense<[1.0, 9.0, 81.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}
