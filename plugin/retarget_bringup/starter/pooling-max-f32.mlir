// The largest of each 2x2 window, for two channels.

func.func @pooling_max_f32() {
  %x = util.unfoldable_constant dense<
        [[[[-9.0, 5.0], [-8.0, -1.0], [7.0, 0.0], [8.0, 5.0]], [[2.0, -5.0], [-7.0, 7.0], [7.0, 5.0], [3.0,
        -8.0]], [[6.0, -1.0], [5.0, 8.0], [-6.0, -4.0], [-6.0, -9.0]], [[8.0, -6.0], [-2.0, 1.0], [-1.0, -8.0],
        [-4.0, -8.0]]]]> : tensor<1x4x4x2xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %room = tensor.empty() : tensor<1x2x2x2xf32>
  %first = linalg.fill ins(%lowest : f32) outs(%room : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %z = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %window : tensor<1x4x4x2xf32>, tensor<2x2xf32>) outs(%first : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  check.expect_eq_const(%z, dense<[[[[2.0, 7.0], [8.0, 5.0]], [[8.0, 8.0], [-1.0, -4.0]]]]> : tensor<1x2x2x2xf32>) : tensor<1x2x2x2xf32>
  return
}
