// A 3x3 convolution over two channels, to three. Numbers: NumPy; small integers, so f32 is exact.

func.func @conv2d_f32() {
  %x = util.unfoldable_constant dense<
        [[[[3.0, -2.0], [2.0, 4.0], [0.0, 1.0], [4.0, 0.0], [2.0, 0.0]], [[0.0, 1.0], [4.0, 4.0], [-2.0, -1.0],
        [-4.0, -4.0], [4.0, -3.0]], [[0.0, -4.0], [4.0, -3.0], [4.0, 1.0], [-3.0, -2.0], [0.0, 3.0]], [[-4.0,
        4.0], [0.0, -3.0], [1.0, 3.0], [-2.0, 1.0], [-3.0, 4.0]], [[1.0, -3.0], [-3.0, 2.0], [0.0, -2.0], [3.0,
        -3.0], [2.0, -2.0]]]]> : tensor<1x5x5x2xf32>
  %w = util.unfoldable_constant dense<
        [[[[4.0, 4.0, 0.0], [0.0, 0.0, -1.0]], [[-2.0, 3.0, -4.0], [3.0, 1.0, 4.0]], [[3.0, -4.0, -4.0], [4.0,
        -2.0, 2.0]]], [[[-2.0, 4.0, -3.0], [3.0, -1.0, 4.0]], [[0.0, 3.0, -2.0], [1.0, -2.0, -3.0]], [[2.0, 2.0,
        2.0], [-4.0, 4.0, -1.0]]], [[[1.0, -2.0, -4.0], [-2.0, -4.0, 3.0]], [[1.0, 3.0, 4.0], [4.0, -1.0, 1.0]],
        [[2.0, 2.0, 0.0], [-3.0, 2.0, -1.0]]]]> : tensor<3x3x2x3xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<1x3x3x3xf32>
  %first = linalg.fill ins(%zero : f32) outs(%room : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %z = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x3xf32>) outs(%first : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  check.expect_eq_const(%z, dense<
        [[[[36.0, 56.0, -7.0], [52.0, -18.0, -15.0], [-3.0, -24.0, -22.0]], [[-48.0, 63.0, 19.0], [-13.0, 58.0,
        -34.0], [-52.0, -31.0, -26.0]], [[24.0, -14.0, -23.0], [-20.0, 45.0, -10.0], [19.0, 22.0, 14.0]]]]> : tensor<1x3x3x3xf32>) : tensor<1x3x3x3xf32>
  return
}
