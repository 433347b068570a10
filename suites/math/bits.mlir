// Division, bit operations, shifts and counts of 32-bit integers.
// Numbers: by hand.

func.func @remsi() {
  %a = util.unfoldable_constant dense<[7, -7, 9, -1]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[3, 3, -4, 2]> : tensor<4xi32>
  %y = arith.remsi %a, %b : tensor<4xi32>
  check.expect_eq_const(%y, dense<[1, -1, 1, -1]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @floordivsi() {
  %a = util.unfoldable_constant dense<[7, -7, 9, -1]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[3, 3, -4, 2]> : tensor<4xi32>
  %y = arith.floordivsi %a, %b : tensor<4xi32>
  check.expect_eq_const(%y, dense<[2, -3, -3, -1]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @ceildivsi() {
  %a = util.unfoldable_constant dense<[7, -7, 9, -1]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[3, 3, -4, 2]> : tensor<4xi32>
  %y = arith.ceildivsi %a, %b : tensor<4xi32>
  check.expect_eq_const(%y, dense<[3, -2, -2, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @remui() {
  %a = util.unfoldable_constant dense<[7, 9, 100, 3]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[3, 4, 7, 5]> : tensor<4xi32>
  %y = arith.remui %a, %b : tensor<4xi32>
  check.expect_eq_const(%y, dense<[1, 1, 2, 3]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @divui() {
  %a = util.unfoldable_constant dense<[7, 9, 100, 3]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[3, 4, 7, 5]> : tensor<4xi32>
  %y = arith.divui %a, %b : tensor<4xi32>
  check.expect_eq_const(%y, dense<[2, 2, 14, 0]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @logic() {
  %a = util.unfoldable_constant dense<[12, 10, -1, 5]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[10, 6, 3, 1]> : tensor<4xi32>
  %u = arith.andi %a, %b : tensor<4xi32>
  %v = arith.ori %u, %b : tensor<4xi32>
  %y = arith.xori %v, %a : tensor<4xi32>
  check.expect_eq_const(%y, dense<[6, 12, -4, 4]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @shifts() {
  %a = util.unfoldable_constant dense<[1, -8, 5, 1024]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[4, 1, 2, 3]> : tensor<4xi32>
  %u = arith.shli %a, %b : tensor<4xi32>
  %v = arith.shrsi %u, %b : tensor<4xi32>
  %y = arith.shrui %v, %b : tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 2147483644, 1, 128]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @population() {
  %a = util.unfoldable_constant dense<[0, 1, 255, -1]> : tensor<4xi32>
  %y = math.ctpop %a : tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 1, 8, 32]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @leading_zeros() {
  %a = util.unfoldable_constant dense<[1, 256, 65536, 7]> : tensor<4xi32>
  %y = math.ctlz %a : tensor<4xi32>
  check.expect_eq_const(%y, dense<[31, 23, 15, 29]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @trailing_zeros() {
  %a = util.unfoldable_constant dense<[1, 256, 65536, 12]> : tensor<4xi32>
  %y = math.cttz %a : tensor<4xi32>
  check.expect_eq_const(%y, dense<[0, 8, 16, 2]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @absolute() {
  %a = util.unfoldable_constant dense<[1, -256, 0, -7]> : tensor<4xi32>
  %y = math.absi %a : tensor<4xi32>
  check.expect_eq_const(%y, dense<[1, 256, 0, 7]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @clamp_signed() {
  %a = util.unfoldable_constant dense<[7, -7, 9, -1]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[3, 3, -4, 2]> : tensor<4xi32>
  %u = arith.maxsi %a, %b : tensor<4xi32>
  %y = arith.minsi %u, %a : tensor<4xi32>
  check.expect_eq_const(%y, dense<[7, -7, 9, -1]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @clamp_unsigned() {
  %a = util.unfoldable_constant dense<[7, 9, 100, 3]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[3, 40, 7, 5]> : tensor<4xi32>
  %u = arith.maxui %a, %b : tensor<4xi32>
  %y = arith.minui %u, %a : tensor<4xi32>
  check.expect_eq_const(%y, dense<[7, 9, 100, 3]> : tensor<4xi32>) : tensor<4xi32>
  return
}
