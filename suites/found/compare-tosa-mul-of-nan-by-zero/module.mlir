func.func @f(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
  %1 = "tosa.const"() {values = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %2 = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %3 = "tosa.mul"(%arg0, %1, %2) : (tensor<2xf32>, tensor<2xf32>, tensor<1xi8>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}
