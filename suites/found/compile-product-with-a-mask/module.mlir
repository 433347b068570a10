func.func @f(%arg0: tensor<2x4xi1>, %arg1: tensor<3x4xf32>) -> (tensor<2x3xf32>) {
  %1 = stablehlo.convert %arg0 : (tensor<2x4xi1>) -> tensor<2x4xf32>
  %2 = stablehlo.dot_general %1, %arg1, batching_dims = [] x [], contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
