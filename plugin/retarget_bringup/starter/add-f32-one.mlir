// One op on one element: 1.5 + 2.25.

func.func @add_f32_one() {
  %x = util.unfoldable_constant dense<1.5> : tensor<1xf32>
  %y = util.unfoldable_constant dense<2.25> : tensor<1xf32>
  %z = arith.addf %x, %y : tensor<1xf32>
  check.expect_eq_const(%z, dense<3.75> : tensor<1xf32>) : tensor<1xf32>
  return
}
