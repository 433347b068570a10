// A whole model: three dense layers with bias, ReLU after the first two. Numbers: NumPy; integers below 2^24, so f32 is
// exact.

func.func @model_mlp() {
  %x = util.unfoldable_constant dense<[[1.0, 1.0, 1.0, 1.0, 0.0, 0.0], [-1.0, 1.0, 0.0, 1.0, -2.0, -1.0]]> : tensor<2x6xf32>
  %zero = arith.constant 0.0 : f32
  %w0 = util.unfoldable_constant dense<
        [[-1.0, 1.0, 1.0, 0.0, 1.0, 2.0, 0.0, -2.0], [2.0, 1.0, 2.0, 1.0, 2.0, 0.0, 0.0, -1.0], [-1.0, -1.0,
        -2.0, -1.0, 0.0, 2.0, 0.0, 2.0], [-2.0, 1.0, -2.0, 0.0, 2.0, 0.0, 1.0, 1.0], [2.0, 2.0, -1.0, 1.0, 0.0,
        2.0, 0.0, 0.0], [0.0, -1.0, -2.0, 1.0, 0.0, 1.0, 1.0, 2.0]]> : tensor<6x8xf32>
  %b0 = util.unfoldable_constant dense<[-1.0, 0.0, 3.0, -3.0, 3.0, 1.0, -3.0, 0.0]> : tensor<8xf32>
  %room0 = tensor.empty() : tensor<2x8xf32>
  %first0 = linalg.fill ins(%zero : f32) outs(%room0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %product0 = linalg.matmul ins(%x, %w0 : tensor<2x6xf32>, tensor<6x8xf32>) outs(%first0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product0, %b0 : tensor<2x8xf32>, tensor<8xf32>) outs(%room0 : tensor<2x8xf32>) {
    ^bb0(%value: f32, %bias: f32, %unused: f32):
      %sum = arith.addf %value, %bias : f32
      %positive = arith.maximumf %sum, %zero : f32
      linalg.yield %positive : f32
  } -> tensor<2x8xf32>
  %w1 = util.unfoldable_constant dense<
        [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, -2.0], [-1.0, 1.0, 2.0, -2.0, -1.0, -2.0, 2.0, -2.0], [-2.0, 0.0,
        2.0, 1.0, 2.0, 2.0, 0.0, -1.0], [-1.0, 1.0, -1.0, 0.0, -2.0, 0.0, -1.0, 1.0], [0.0, -2.0, 0.0, -2.0,
        0.0, 1.0, 2.0, 1.0], [-1.0, -1.0, 1.0, 2.0, 2.0, -1.0, -1.0, 2.0], [-2.0, 1.0, 2.0, 0.0, 1.0, -2.0, 0.0,
        1.0], [2.0, 0.0, -1.0, 1.0, 1.0, -2.0, 1.0, -1.0]]> : tensor<8x8xf32>
  %b1 = util.unfoldable_constant dense<[-1.0, -2.0, 2.0, -3.0, -3.0, -3.0, -1.0, 3.0]> : tensor<8xf32>
  %room1 = tensor.empty() : tensor<2x8xf32>
  %first1 = linalg.fill ins(%zero : f32) outs(%room1 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %product1 = linalg.matmul ins(%y0, %w1 : tensor<2x8xf32>, tensor<8x8xf32>) outs(%first1 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product1, %b1 : tensor<2x8xf32>, tensor<8xf32>) outs(%room1 : tensor<2x8xf32>) {
    ^bb0(%value: f32, %bias: f32, %unused: f32):
      %sum = arith.addf %value, %bias : f32
      %positive = arith.maximumf %sum, %zero : f32
      linalg.yield %positive : f32
  } -> tensor<2x8xf32>
  %w2 = util.unfoldable_constant dense<
        [[0.0, 2.0, 2.0, 1.0], [1.0, -2.0, -2.0, 2.0], [1.0, -2.0, -2.0, 2.0], [-1.0, 0.0, 2.0, 1.0], [-1.0,
        1.0, -2.0, -2.0], [2.0, 0.0, -1.0, 0.0], [0.0, -2.0, -1.0, 2.0], [2.0, 2.0, 1.0, 1.0]]> : tensor<8x4xf32>
  %b2 = util.unfoldable_constant dense<[2.0, 2.0, -3.0, 0.0]> : tensor<4xf32>
  %room2 = tensor.empty() : tensor<2x4xf32>
  %first2 = linalg.fill ins(%zero : f32) outs(%room2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %product2 = linalg.matmul ins(%y1, %w2 : tensor<2x8xf32>, tensor<8x4xf32>) outs(%first2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product2, %b2 : tensor<2x4xf32>, tensor<4xf32>) outs(%room2 : tensor<2x4xf32>) {
    ^bb0(%value: f32, %bias: f32, %unused: f32):
      %sum = arith.addf %value, %bias : f32
      linalg.yield %sum : f32
  } -> tensor<2x4xf32>
  check.expect_eq_const(%y2, dense<[[38.0, -17.0, -50.0, 55.0], [43.0, -33.0, -72.0, 35.0]]> : tensor<2x4xf32>) : tensor<2x4xf32>
  return
}
