// Double precision: 1 + 2^-40 is 1 in f32. The suite compiles this module without the demotion of f64 to f32.

func.func @add_f64() {
  %x = util.unfoldable_constant dense<[1.0, -2.5]> : tensor<2xf64>
  %y = util.unfoldable_constant dense<[9.094947017729282379150390625e-13, 0.5]> : tensor<2xf64>
  %z = arith.addf %x, %y : tensor<2xf64>
  check.expect_eq_const(%z, dense<[1.000000000000909494701772928237915039, -2.0]> : tensor<2xf64>) : tensor<2xf64>
  return
}
