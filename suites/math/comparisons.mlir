// Ordered and unordered comparisons, NaN among the operands.
// Numbers: by hand, as IEEE 754 has them.

func.func @ordered() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 2.0, -1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[1.0, 1.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %m = arith.cmpf ord, %a, %b : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[1, 0, 0, 1]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @unordered() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 2.0, -1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[1.0, 1.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %m = arith.cmpf uno, %a, %b : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 1, 1, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @ordered_le() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 2.0, -1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[1.0, 1.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %m = arith.cmpf ole, %a, %b : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[1, 0, 0, 1]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @unordered_eq() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 2.0, -1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[1.0, 1.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %m = arith.cmpf ueq, %a, %b : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[1, 1, 1, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @ordered_ne() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 2.0, -1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[1.0, 1.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %m = arith.cmpf one, %a, %b : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 0, 0, 1]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @unordered_ne() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 2.0, -1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[1.0, 1.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %m = arith.cmpf une, %a, %b : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 1, 1, 1]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @unordered_gt() {
  %a = util.unfoldable_constant dense<[1.0, 0x7FC00000, 2.0, -1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[1.0, 1.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %m = arith.cmpf ugt, %a, %b : tensor<4xf32>
  %y = arith.extui %m : tensor<4xi1> to tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 1, 1, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}
