// Two functions of a network. XLA compiles one function at a time: each public one can be called by its name.

func.func private @matmul(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %product : tensor<4x5xf32>
}

func.func @dense(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>, %bias: tensor<5xf32>) -> tensor<4x5xf32> {
  %product = call @matmul(%x, %w) : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  %wide = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
  %sum = stablehlo.add %product, %wide : tensor<4x5xf32>
  %out = stablehlo.tanh %sum : tensor<4x5xf32>
  return %out : tensor<4x5xf32>
}

func.func @normalise(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi1>) {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %max = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %wide = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
  %out = stablehlo.subtract %x, %wide : tensor<2x4xf32>
  %is_max = stablehlo.compare EQ, %x, %wide : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
  return %out, %is_max : tensor<2x4xf32>, tensor<2x4xi1>
}
