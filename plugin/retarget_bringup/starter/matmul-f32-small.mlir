// A product by hand: [[1, 2], [3, 4]] [[5, 6], [7, 8]].

func.func @matmul_f32_small() {
  %a = util.unfoldable_constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = util.unfoldable_constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<2x2xf32>
  %first = linalg.fill ins(%zero : f32) outs(%room : tensor<2x2xf32>) -> tensor<2x2xf32>
  %z = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%first : tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const(%z, dense<[[19.0, 22.0], [43.0, 50.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
  return
}
