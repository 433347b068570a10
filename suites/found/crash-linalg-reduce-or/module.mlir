func.func @f(%arg0: tensor<0x2xi1>) -> (tensor<2xi1>) {
  %1 = arith.constant false
  %2 = tensor.empty() : tensor<2xi1>
  %3 = linalg.fill ins(%1 : i1) outs(%2 : tensor<2xi1>) -> tensor<2xi1>
  %4 = linalg.reduce { arith.ori } ins(%arg0 : tensor<0x2xi1>) outs(%3 : tensor<2xi1>) dimensions = [0]
  return %4 : tensor<2xi1>
}
