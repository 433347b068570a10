func.func @f(%arg0: tensor<17xi32>) -> (tensor<9xi32>) {
  %1 = stablehlo.slice %arg0 [0:17:2] : (tensor<17xi32>) -> tensor<9xi32>
  %2 = stablehlo.reverse %1, dims = [0] : tensor<9xi32>
  return %2 : tensor<9xi32>
}
