// arith.mulsi_extended and arith.mului_extended (both halves of a 64-bit product) and arith.addui_extended (sum and carry).
// Numbers: Python integers, split into halves.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @mulsi_extended() {
  %x = util.unfoldable_constant dense<[0, -1, 2147483647, -2147483648, 123456789, -987654321, 65536]> : tensor<7xi32>
          %y = util.unfoldable_constant dense<[5, -1, 2147483647, -2147483648, 987654321, 123456789, 65536]> : tensor<7xi32>
          %low, %high = arith.mulsi_extended %x, %y : tensor<7xi32>
  check.expect_eq_const(%low, dense<[0, 1, 1, 0, -67153019, 67153019, 0]> : tensor<7xi32>) : tensor<7xi32>
  check.expect_eq_const(%high, dense<[0, 0, 1073741823, 1073741824, 28389652, -28389653, 1]> : tensor<7xi32>) : tensor<7xi32>
  return
}

func.func @mului_extended() {
  %x = util.unfoldable_constant dense<[0, -1, 2147483647, -2147483648, 123456789, -987654321, 65536]> : tensor<7xi32>
          %y = util.unfoldable_constant dense<[5, -1, 2147483647, -2147483648, 987654321, 123456789, 65536]> : tensor<7xi32>
          %low, %high = arith.mului_extended %x, %y : tensor<7xi32>
  check.expect_eq_const(%low, dense<[0, 1, 1, 0, -67153019, 67153019, 0]> : tensor<7xi32>) : tensor<7xi32>
  check.expect_eq_const(%high, dense<[0, -2, 1073741823, 1073741824, 28389652, 95067136, 1]> : tensor<7xi32>) : tensor<7xi32>
  return
}

func.func @addui_extended() {
  %x = util.unfoldable_constant dense<[0, -1, 2147483647, -2147483648, 123456789, -987654321, 65536]> : tensor<7xi32>
          %y = util.unfoldable_constant dense<[5, -1, 2147483647, -2147483648, 987654321, 123456789, 65536]> : tensor<7xi32>
          %sum, %carry = arith.addui_extended %x, %y : tensor<7xi32>, tensor<7xi1>
  check.expect_eq_const(%sum, dense<[5, -2, -2, 0, 1111111110, -864197532, 131072]> : tensor<7xi32>) : tensor<7xi32>
  check.expect_eq_const(%carry, dense<[false, true, false, true, false, false, false]> : tensor<7xi1>) : tensor<7xi1>
  return
}
