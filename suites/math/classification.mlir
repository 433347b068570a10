// NaN, infinity and what is neither.
// Numbers: by hand, as IEEE 754 has them.

func.func @isnan() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 0x7F800000, -1.0]> : tensor<4xf32>
  %m = math.isnan %a : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 1, 0, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @isinf() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 0x7F800000, -1.0]> : tensor<4xf32>
  %m = math.isinf %a : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 0, 1, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @isfinite() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 0x7F800000, -1.0]> : tensor<4xf32>
  %m = math.isfinite %a : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[1, 0, 0, 1]> : tensor<4xi32>) : tensor<4xi32>
  return
}
