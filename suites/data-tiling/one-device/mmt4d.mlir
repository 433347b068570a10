// Tiles that the program itself lays out: `mmt4d` over packed operands, which data tiling must leave as they are.

func.func @tiles(%a: tensor<3x5x8x2xf32>, %b: tensor<4x5x4x2xf32>) -> tensor<3x4x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x4x8x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x4x8x4xf32>) -> tensor<3x4x8x4xf32>
  %product = linalg.mmt4d ins(%a, %b : tensor<3x5x8x2xf32>, tensor<4x5x4x2xf32>)
                          outs(%start : tensor<3x4x8x4xf32>) -> tensor<3x4x8x4xf32>
  return %product : tensor<3x4x8x4xf32>
}

func.func @bytes(%a: tensor<2x3x8x4xi8>, %b: tensor<3x3x8x4xi8>) -> tensor<2x3x8x8xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<2x3x8x8xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<2x3x8x8xi32>) -> tensor<2x3x8x8xi32>
  %product = linalg.mmt4d ins(%a, %b : tensor<2x3x8x4xi8>, tensor<3x3x8x4xi8>)
                          outs(%start : tensor<2x3x8x8xi32>) -> tensor<2x3x8x8xi32>
  return %product : tensor<2x3x8x8xi32>
}
