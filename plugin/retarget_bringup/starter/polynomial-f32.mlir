// Several ops in one kernel: 2x^2 - 3x + 1.

func.func @polynomial_f32() {
  %x = util.unfoldable_constant dense<[0.0, 1.0, 2.0, -1.5]> : tensor<4xf32>
  %c1 = arith.constant dense<1.0> : tensor<4xf32>
  %c2 = arith.constant dense<2.0> : tensor<4xf32>
  %c3 = arith.constant dense<3.0> : tensor<4xf32>
  %xx = arith.mulf %x, %x : tensor<4xf32>
  %a = arith.mulf %xx, %c2 : tensor<4xf32>
  %b = arith.mulf %x, %c3 : tensor<4xf32>
  %d = arith.subf %a, %b : tensor<4xf32>
  %z = arith.addf %d, %c1 : tensor<4xf32>
  check.expect_eq_const(%z, dense<[1.0, 0.0, 3.0, 10.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}
