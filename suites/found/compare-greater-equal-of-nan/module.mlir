func.func @f(%arg0: tensor<2x2xf32>, %arg1: tensor<2x2xf32>) -> (tensor<2x2xi1>) {
  %1 = "tosa.greater_equal"(%arg0, %arg1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  return %1 : tensor<2x2xi1>
}
