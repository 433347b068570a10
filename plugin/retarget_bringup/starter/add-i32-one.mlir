// One op on one element: 40 + 2.

func.func @add_i32_one() {
  %x = util.unfoldable_constant dense<40> : tensor<1xi32>
  %y = util.unfoldable_constant dense<2> : tensor<1xi32>
  %z = arith.addi %x, %y : tensor<1xi32>
  check.expect_eq_const(%z, dense<42> : tensor<1xi32>) : tensor<1xi32>
  return
}
