func.func @f(%arg0: tensor<2x2x3xi8>, %arg1: tensor<2x2x3xi8>) -> (tensor<2x2x3xi8>) {
  %1 = "tosa.logical_right_shift"(%arg0, %arg1) : (tensor<2x2x3xi8>, tensor<2x2x3xi8>) -> tensor<2x2x3xi8>
  return %1 : tensor<2x2x3xi8>
}
