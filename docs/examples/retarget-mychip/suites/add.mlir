// Vectors are added on the device, and compared there.
func.func @adds_vectors() {
  %a = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = util.unfoldable_constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %0 = arith.addi %a, %b : tensor<4xi32>
  check.expect_eq_const(%0, dense<[11, 22, 33, 44]> : tensor<4xi32>) : tensor<4xi32>
  return
}
