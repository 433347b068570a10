func.func @f(%arg0: tensor<?xi32>) -> (tensor<?xi32>) {
  %1 = stablehlo.subtract %arg0, %arg0 : tensor<?xi32>
  return %1 : tensor<?xi32>
}
