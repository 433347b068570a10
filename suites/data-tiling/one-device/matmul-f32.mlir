// Matrix products of f32: sizes that tiles fill, sizes that they do not, and sizes known at run time only.

func.func @whole(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x64xf32>)
                           outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %product : tensor<64x64xf32>
}

func.func @odd(%a: tensor<37x61xf32>, %b: tensor<61x21xf32>) -> tensor<37x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x21xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x21xf32>) -> tensor<37x21xf32>
  %product = linalg.matmul ins(%a, %b : tensor<37x61xf32>, tensor<61x21xf32>)
                           outs(%start : tensor<37x21xf32>) -> tensor<37x21xf32>
  return %product : tensor<37x21xf32>
}

func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %b, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
                           outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %product : tensor<?x?xf32>
}
