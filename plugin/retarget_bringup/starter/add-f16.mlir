// Half precision; all values are exact in f16.

func.func @add_f16() {
  %x = util.unfoldable_constant dense<[1.5, -2.0, 1024.0]> : tensor<3xf16>
  %y = util.unfoldable_constant dense<[0.25, 2.0, 1.0]> : tensor<3xf16>
  %z = arith.addf %x, %y : tensor<3xf16>
  check.expect_eq_const(%z, dense<[1.75, 0.0, 1025.0]> : tensor<3xf16>) : tensor<3xf16>
  return
}
