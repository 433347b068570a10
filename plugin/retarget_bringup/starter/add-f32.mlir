// One op on elements that no workgroup size divides: 37 times 1.5 + 2.25.

func.func @add_f32() {
  %x = util.unfoldable_constant dense<1.5> : tensor<37xf32>
  %y = util.unfoldable_constant dense<2.25> : tensor<37xf32>
  %z = arith.addf %x, %y : tensor<37xf32>
  check.expect_eq_const(%z, dense<3.75> : tensor<37xf32>) : tensor<37xf32>
  return
}
