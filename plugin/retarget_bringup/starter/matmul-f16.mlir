// Half precision. Numbers: NumPy; multiples of 0.5 below 1024, so f16 is exact.

func.func @matmul_f16() {
  %a = util.unfoldable_constant dense<
        [[-1.0, -2.0, 1.5, 1.5, 0.0, 0.0, -1.5, 1.5], [1.0, 0.0, 1.0, -2.0, 2.0, -2.0, -1.5, 1.5], [0.5, -1.0,
        -0.5, -1.5, 1.0, -0.5, 0.0, -1.0], [0.0, -1.0, -0.5, 1.5, -1.0, 0.0, -0.5, 2.0]]> : tensor<4x8xf16>
  %b = util.unfoldable_constant dense<
        [[-2.0, -4.0, 2.0, -2.0, -3.0, 3.0, 2.0, -1.0], [-2.0, 2.0, -1.0, -1.0, 3.0, -1.0, 0.0, 3.0], [-2.0,
        -2.0, 0.0, 0.0, -3.0, 1.0, 4.0, -4.0], [-2.0, -4.0, 3.0, -2.0, 1.0, -4.0, -1.0, 2.0], [3.0, 1.0, -2.0,
        -1.0, -2.0, -1.0, 4.0, -4.0], [3.0, -1.0, -4.0, 3.0, -3.0, -4.0, 4.0, 1.0], [-1.0, 2.0, 0.0, -3.0, -4.0,
        -2.0, -3.0, -3.0], [0.0, 1.0, -4.0, -1.0, 3.0, -3.0, 3.0, -2.0]]> : tensor<8x8xf16>
  %zero = arith.constant 0.0 : f16
  %room = tensor.empty() : tensor<4x8xf16>
  %first = linalg.fill ins(%zero : f16) outs(%room : tensor<4x8xf16>) -> tensor<4x8xf16>
  %z = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x8xf16>) outs(%first : tensor<4x8xf16>) -> tensor<4x8xf16>
  check.expect_eq_const(%z, dense<
        [[1.5, -10.5, -1.5, 4.0, 4.5, -7.0, 11.5, -6.5], [1.5, 4.5, -6.0, -3.0, 4.5, 16.5, 17.0, -17.5], [6.5,
        3.5, 1.5, 1.5, -8.0, 12.0, -0.5, -7.0], [-2.5, -7.0, -0.5, -1.5, 10.0, -9.5, 0.0, 3.5]]> : tensor<4x8xf16>) : tensor<4x8xf16>
  return
}
