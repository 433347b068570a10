// Products that need more than 32 bits.

func.func @multiply_i64() {
  %x = util.unfoldable_constant dense<[4294967296, -3, 65537]> : tensor<3xi64>
  %y = util.unfoldable_constant dense<[3, 5, 65537]> : tensor<3xi64>
  %z = arith.muli %x, %y : tensor<3xi64>
  check.expect_eq_const(%z, dense<[12884901888, -15, 4295098369]> : tensor<3xi64>) : tensor<3xi64>
  return
}
