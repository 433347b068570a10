// What stands around a product: a transposed operand, a single row, work before and after it, one product of another,
// a constant operand, which is encoded when the module is loaded.

func.func @transposed(%a: tensor<13x29xf32>, %b: tensor<11x29xf32>) -> tensor<13x11xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<13x11xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<13x11xf32>) -> tensor<13x11xf32>
  %product = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<13x29xf32>, tensor<11x29xf32>) outs(%start : tensor<13x11xf32>) -> tensor<13x11xf32>
  return %product : tensor<13x11xf32>
}

func.func @row(%a: tensor<29xf32>, %b: tensor<29x11xf32>) -> tensor<11xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<11xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<11xf32>) -> tensor<11xf32>
  %product = linalg.vecmat ins(%a, %b : tensor<29xf32>, tensor<29x11xf32>) outs(%start : tensor<11xf32>) -> tensor<11xf32>
  return %product : tensor<11xf32>
}

func.func @fused(%a: tensor<13x29xf32>, %b: tensor<29x11xf32>, %bias: tensor<13x11xf32>) -> tensor<13x11xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<13x11xf32>
  %doubled = arith.addf %a, %a : tensor<13x29xf32>
  %empty = tensor.empty() : tensor<13x11xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<13x11xf32>) -> tensor<13x11xf32>
  %product = linalg.matmul ins(%doubled, %b : tensor<13x29xf32>, tensor<29x11xf32>)
                           outs(%start : tensor<13x11xf32>) -> tensor<13x11xf32>
  %moved = arith.addf %product, %bias : tensor<13x11xf32>
  %positive = arith.maximumf %moved, %zeros : tensor<13x11xf32>
  return %positive : tensor<13x11xf32>
}

func.func @chain(%a: tensor<13x29xf32>, %b: tensor<29x11xf32>, %c: tensor<11x7xf32>) -> tensor<13x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty_first = tensor.empty() : tensor<13x11xf32>
  %start_first = linalg.fill ins(%zero : f32) outs(%empty_first : tensor<13x11xf32>) -> tensor<13x11xf32>
  %first = linalg.matmul ins(%a, %b : tensor<13x29xf32>, tensor<29x11xf32>)
                         outs(%start_first : tensor<13x11xf32>) -> tensor<13x11xf32>
  %empty_second = tensor.empty() : tensor<13x7xf32>
  %start_second = linalg.fill ins(%zero : f32) outs(%empty_second : tensor<13x7xf32>) -> tensor<13x7xf32>
  %second = linalg.matmul ins(%first, %c : tensor<13x11xf32>, tensor<11x7xf32>)
                          outs(%start_second : tensor<13x7xf32>) -> tensor<13x7xf32>
  return %second : tensor<13x7xf32>
}

func.func @weights(%a: tensor<3x5xf32>) -> tensor<3x2xf32> {
  %weights = arith.constant dense<[[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0], [7.0, -8.0], [9.0, 10.0]]> : tensor<5x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %product = linalg.matmul ins(%a, %weights : tensor<3x5xf32>, tensor<5x2xf32>)
                           outs(%start : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %product : tensor<3x2xf32>
}
