// Bytes, which wrap around: 127 + 1 = -128.

func.func @add_i8() {
  %x = util.unfoldable_constant dense<[127, -128, 5, -7, 0]> : tensor<5xi8>
  %y = util.unfoldable_constant dense<[1, -1, 6, 3, 0]> : tensor<5xi8>
  %z = arith.addi %x, %y : tensor<5xi8>
  check.expect_eq_const(%z, dense<[-128, 127, 11, -4, 0]> : tensor<5xi8>) : tensor<5xi8>
  return
}
