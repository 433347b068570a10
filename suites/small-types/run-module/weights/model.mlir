// Weights of 4 bits with a scale of 8 bits for each column.

func.func @main(%weights: tensor<2x4xi4>, %scale: tensor<4xf8E5M2>) -> tensor<2x4xf32> {
  %numbers = arith.sitofp %weights : tensor<2x4xi4> to tensor<2x4xf32>
  %wide = arith.extf %scale : tensor<4xf8E5M2> to tensor<4xf32>
  %empty = tensor.empty() : tensor<2x4xf32>
  %scales = linalg.broadcast ins(%wide : tensor<4xf32>) outs(%empty : tensor<2x4xf32>) dimensions = [0]
  %product = arith.mulf %numbers, %scales : tensor<2x4xf32>
  return %product : tensor<2x4xf32>
}
