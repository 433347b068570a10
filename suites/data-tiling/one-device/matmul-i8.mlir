// Matrix products of i8, summed in i32: every sum is exact, so that not one element may differ.

func.func @whole(%a: tensor<64x32xi8>, %b: tensor<32x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %product = linalg.matmul ins(%a, %b : tensor<64x32xi8>, tensor<32x64xi8>)
                           outs(%start : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %product : tensor<64x64xi32>
}

func.func @odd(%a: tensor<37x61xi8>, %b: tensor<61x21xi8>) -> tensor<37x21xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<37x21xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<37x21xi32>) -> tensor<37x21xi32>
  %product = linalg.matmul ins(%a, %b : tensor<37x61xi8>, tensor<61x21xi8>)
                           outs(%start : tensor<37x21xi32>) -> tensor<37x21xi32>
  return %product : tensor<37x21xi32>
}

func.func @dynamic(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x?xi8>
  %columns = tensor.dim %b, %c1 : tensor<?x?xi8>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<?x?xi32>) -> tensor<?x?xi32>
  %product = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>)
                           outs(%start : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %product : tensor<?x?xi32>
}
