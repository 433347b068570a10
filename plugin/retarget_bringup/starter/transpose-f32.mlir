// Elements change places.

func.func @transpose_f32() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %room = tensor.empty() : tensor<3x2xf32>
  %z = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%room : tensor<3x2xf32>) permutation = [1, 0]
  check.expect_eq_const(%z, dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>) : tensor<3x2xf32>
  return
}
