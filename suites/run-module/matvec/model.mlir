// A matrix of 2x3 times a vector. Numbers: small integers, worked out by hand.

func.func @matvec(%matrix: tensor<2x3xf32>, %vector: tensor<3xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %product = linalg.matvec ins(%matrix, %vector : tensor<2x3xf32>, tensor<3xf32>) outs(%start : tensor<2xf32>) -> tensor<2xf32>
  return %product : tensor<2xf32>
}
