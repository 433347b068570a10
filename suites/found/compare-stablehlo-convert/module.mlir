func.func @f(%arg0: tensor<2x2x2x2xf32>) -> (tensor<2x2x2x2xi32>) {
  %1 = stablehlo.convert %arg0 : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xi32>
  return %1 : tensor<2x2x2x2xi32>
}
