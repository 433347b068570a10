// Matrix products of f16, summed in f16 and in f32: the encoding holds all three element types.

func.func @half(%a: tensor<33x20xf16>, %b: tensor<20x17xf16>) -> tensor<33x17xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<33x17xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<33x17xf16>) -> tensor<33x17xf16>
  %product = linalg.matmul ins(%a, %b : tensor<33x20xf16>, tensor<20x17xf16>)
                           outs(%start : tensor<33x17xf16>) -> tensor<33x17xf16>
  return %product : tensor<33x17xf16>
}

func.func @widened(%a: tensor<37x61xf16>, %b: tensor<61x21xf16>) -> tensor<37x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x21xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x21xf32>) -> tensor<37x21xf32>
  %product = linalg.matmul ins(%a, %b : tensor<37x61xf16>, tensor<61x21xf16>)
                           outs(%start : tensor<37x21xf32>) -> tensor<37x21xf32>
  return %product : tensor<37x21xf32>
}

func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xf16>
  %columns = tensor.dim %b, %c1 : tensor<?x?xf16>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
                           outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %product : tensor<?x?xf32>
}
