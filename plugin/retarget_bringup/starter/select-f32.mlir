// Comparison and selection: the larger of two, and of equal ones the first.

func.func @select_f32() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 3.0, 0.0]> : tensor<4xf32>
  %y = util.unfoldable_constant dense<[2.0, -3.0, 3.0, -1.0]> : tensor<4xf32>
  %more = arith.cmpf oge, %x, %y : tensor<4xf32>
  %z = arith.select %more, %x, %y : tensor<4xi1>, tensor<4xf32>
  check.expect_eq_const(%z, dense<[2.0, -2.0, 3.0, 0.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}
