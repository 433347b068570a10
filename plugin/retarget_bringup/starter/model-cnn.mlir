// A whole model: convolution, ReLU, max pooling, a dense layer, softmax. Numbers: NumPy in f64.

func.func @model_cnn() {
  %x = util.unfoldable_constant dense<
        [[[[-1.0], [1.0], [2.0], [0.0], [-1.0], [-2.0]], [[-2.0], [2.0], [2.0], [0.0], [-1.0], [1.0]], [[0.0],
        [2.0], [-2.0], [1.0], [-2.0], [1.0]], [[0.0], [0.0], [1.0], [0.0], [1.0], [-1.0]], [[2.0], [-2.0],
        [0.0], [-1.0], [1.0], [-1.0]], [[-1.0], [-2.0], [2.0], [0.0], [-1.0], [0.0]]]]> : tensor<1x6x6x1xf32>
  %filter = util.unfoldable_constant dense<
        [[[[-1.0, 1.0]], [[-1.0, -1.0]], [[-1.0, -1.0]]], [[[0.0, 1.0]], [[-1.0, 0.0]], [[0.0, -1.0]]], [[[-1.0,
        1.0]], [[1.0, -1.0]], [[-1.0, 0.0]]]]> : tensor<3x3x1x2xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<1x4x4x2xf32>
  %first = linalg.fill ins(%zero : f32) outs(%room : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %convolved = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %filter : tensor<1x6x6x1xf32>, tensor<3x3x1x2xf32>) outs(%first : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x4x4x2xf32>
  %positive_values = arith.maximumf %convolved, %zeros : tensor<1x4x4x2xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %pooled_room = tensor.empty() : tensor<1x2x2x2xf32>
  %pooled_first = linalg.fill ins(%zero : f32) outs(%pooled_room : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %pooled = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%positive_values, %window : tensor<1x4x4x2xf32>, tensor<2x2xf32>) outs(%pooled_first : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %flat = tensor.collapse_shape %pooled [[0], [1, 2, 3]] : tensor<1x2x2x2xf32> into tensor<1x8xf32>
  %w0 = util.unfoldable_constant dense<
        [[-0.125, 0.125, -0.125], [0.125, -0.125, -0.125], [0.0, 0.125, 0.0], [-0.125, 0.125, 0.125], [-0.125,
        0.0, 0.125], [0.125, 0.0, 0.125], [0.125, 0.0, 0.125], [0.0, -0.125, -0.125]]> : tensor<8x3xf32>
  %b0 = util.unfoldable_constant dense<[0.25, -0.5, -0.25]> : tensor<3xf32>
  %room0 = tensor.empty() : tensor<1x3xf32>
  %first0 = linalg.fill ins(%zero : f32) outs(%room0 : tensor<1x3xf32>) -> tensor<1x3xf32>
  %product0 = linalg.matmul ins(%flat, %w0 : tensor<1x8xf32>, tensor<8x3xf32>) outs(%first0 : tensor<1x3xf32>) -> tensor<1x3xf32>
  %y0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product0, %b0 : tensor<1x3xf32>, tensor<3xf32>) outs(%room0 : tensor<1x3xf32>) {
    ^bb0(%value: f32, %bias: f32, %unused: f32):
      %sum = arith.addf %value, %bias : f32
      linalg.yield %sum : f32
  } -> tensor<1x3xf32>
  %z = linalg.softmax dimension(1) ins(%y0 : tensor<1x3xf32>) outs(%room0 : tensor<1x3xf32>) -> tensor<1x3xf32>
  check.expect_almost_eq_const(%z, dense<[[0.37475502, 0.2005919, 0.42465308]]> : tensor<1x3xf32>, atol 1.0e-06, rtol 1.0e-05) : tensor<1x3xf32>
  return
}
