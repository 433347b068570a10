// Two tensors in one buffer: copies at offsets.

func.func @concat_f32() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %y = util.unfoldable_constant dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>
  %z = tensor.concat dim(0) %x, %y : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  check.expect_eq_const(%z, dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>) : tensor<3x2xf32>
  return
}
