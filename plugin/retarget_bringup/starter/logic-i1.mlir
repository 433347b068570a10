// Booleans, which lie in memory as bytes.

func.func @logic_i1() {
  %x = util.unfoldable_constant dense<[true, true, false, false]> : tensor<4xi1>
  %y = util.unfoldable_constant dense<[true, false, true, false]> : tensor<4xi1>
  %z = arith.xori %x, %y : tensor<4xi1>
  check.expect_eq_const(%z, dense<[false, true, true, false]> : tensor<4xi1>) : tensor<4xi1>
  return
}
