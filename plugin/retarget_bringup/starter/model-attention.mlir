// A whole model: one attention head (queries, keys, values, softmax of the scaled scores) with its residual sum.
// Numbers: NumPy in f64.

func.func @model_attention() {
  %x = util.unfoldable_constant dense<
        [[-0.5, 0.5, -1.0, -1.0, -1.0, 0.0], [0.0, 0.5, 1.0, 0.0, -1.0, -0.5], [0.0, 0.5, 0.0, 1.0, -1.0, -0.5],
        [-1.0, -1.0, 0.5, -0.5, 0.5, 0.0]]> : tensor<4x6xf32>
  %wq = util.unfoldable_constant dense<
        [[0.5, 0.0, -0.5, 0.5, 0.0, -0.5], [-0.5, -0.5, 0.5, -0.5, -0.5, 0.0], [0.0, -0.5, 0.5, 0.0, -0.5, 0.5],
        [-0.5, -0.5, 0.5, -0.5, -0.5, 0.5], [-0.5, -0.5, 0.5, -0.5, -0.5, -0.5], [0.0, 0.0, 0.5, -0.5, 0.0,
        0.5]]> : tensor<6x6xf32>
  %wk = util.unfoldable_constant dense<
        [[0.0, 0.0, 0.5, 0.5, 0.5, 0.0], [0.0, 0.5, -0.5, -0.5, -0.5, 0.0], [0.0, -0.5, -0.5, 0.0, -0.5, -0.5],
        [0.0, -0.5, 0.0, 0.5, -0.5, -0.5], [-0.5, 0.0, 0.5, 0.5, -0.5, 0.0], [-0.5, 0.0, 0.0, 0.0, 0.5, -0.5]]> : tensor<6x6xf32>
  %wv = util.unfoldable_constant dense<
        [[0.0, -0.5, -0.5, 0.5, 0.0, 0.0], [0.0, -0.5, 0.0, 0.0, -0.5, 0.5], [0.0, -0.5, -0.5, 0.5, -0.5, 0.5],
        [0.5, 0.0, 0.0, -0.5, 0.5, 0.0], [-0.5, 0.5, -0.5, 0.0, 0.0, 0.5], [0.5, 0.0, -0.5, -0.5, 0.0, -0.5]]> : tensor<6x6xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<4x6xf32>
  %first = linalg.fill ins(%zero : f32) outs(%room : tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<4x6xf32>, tensor<6x6xf32>) outs(%first : tensor<4x6xf32>) -> tensor<4x6xf32>
  %k = linalg.matmul ins(%x, %wk : tensor<4x6xf32>, tensor<6x6xf32>) outs(%first : tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = linalg.matmul ins(%x, %wv : tensor<4x6xf32>, tensor<6x6xf32>) outs(%first : tensor<4x6xf32>) -> tensor<4x6xf32>
  %scores_room = tensor.empty() : tensor<4x4xf32>
  %scores_first = linalg.fill ins(%zero : f32) outs(%scores_room : tensor<4x4xf32>) -> tensor<4x4xf32>
  %scores = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q, %k : tensor<4x6xf32>, tensor<4x6xf32>) outs(%scores_first : tensor<4x4xf32>) -> tensor<4x4xf32>
  %factor = arith.constant dense<0.408248290> : tensor<4x4xf32>
  %scaled = arith.mulf %scores, %factor : tensor<4x4xf32>
  %weights = linalg.softmax dimension(1) ins(%scaled : tensor<4x4xf32>) outs(%scores_room : tensor<4x4xf32>) -> tensor<4x4xf32>
  %mixed = linalg.matmul ins(%weights, %v : tensor<4x4xf32>, tensor<4x6xf32>) outs(%first : tensor<4x6xf32>) -> tensor<4x6xf32>
  %z = arith.addf %mixed, %x : tensor<4x6xf32>
  check.expect_almost_eq_const(%z, dense<
        [[-0.3675546, 0.22026306, -0.18793422, -1.0176231, -1.2315357, -0.2717305], [0.12361095, 0.27221358,
        1.5328125, 0.059663247, -1.1685472, -0.54274213], [0.09347506, 0.31304988, 0.5541047, 1.051856,
        -1.1805396, -0.5768275], [-0.9065136, -1.1789323, 1.139186, -0.4855723, 0.31502095, -0.15344347]]> : tensor<4x6xf32>, atol 1.0e-05, rtol 1.0e-05) : tensor<4x6xf32>
  return
}
