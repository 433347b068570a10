// Products of batches: the batch is a size of its own in the encoding, and no tile spans it.

func.func @odd(%a: tensor<3x13x29xf32>, %b: tensor<3x29x11xf32>) -> tensor<3x13x11xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x13x11xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x13x11xf32>) -> tensor<3x13x11xf32>
  %product = linalg.batch_matmul ins(%a, %b : tensor<3x13x29xf32>, tensor<3x29x11xf32>)
                                 outs(%start : tensor<3x13x11xf32>) -> tensor<3x13x11xf32>
  return %product : tensor<3x13x11xf32>
}

func.func @dynamic(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %batch = tensor.dim %a, %c0 : tensor<?x?x?xf32>
  %rows = tensor.dim %a, %c1 : tensor<?x?x?xf32>
  %columns = tensor.dim %b, %c2 : tensor<?x?x?xf32>
  %empty = tensor.empty(%batch, %rows, %columns) : tensor<?x?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %product = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>)
                                 outs(%start : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %product : tensor<?x?x?xf32>
}
