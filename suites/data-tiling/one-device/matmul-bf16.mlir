// Matrix products of bf16, summed in f32: on CPUs with such instructions tiles have an inner size of 2.

func.func @widened(%a: tensor<37x61xbf16>, %b: tensor<61x21xbf16>) -> tensor<37x21xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x21xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x21xf32>) -> tensor<37x21xf32>
  %product = linalg.matmul ins(%a, %b : tensor<37x61xbf16>, tensor<61x21xbf16>)
                           outs(%start : tensor<37x21xf32>) -> tensor<37x21xf32>
  return %product : tensor<37x21xf32>
}

func.func @dynamic(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %columns = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>)
                           outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %product : tensor<?x?xf32>
}
