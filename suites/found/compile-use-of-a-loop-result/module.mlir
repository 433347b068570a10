func.func @f(%arg0: tensor<2x2xi8>, %arg1: tensor<i32>) -> (tensor<2x2xi8>) {
  %1 = "tosa.const"() {values = dense<0> : tensor<i32>} : () -> tensor<i32>
  %2 = "tosa.const"() {values = dense<1> : tensor<i32>} : () -> tensor<i32>
  %5:2 = "tosa.while_loop"(%1, %arg0) ({
  ^bb0(%3: tensor<i32>, %4: tensor<2x2xi8>):
  %6 = "tosa.greater"(%arg1, %3) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  "tosa.yield"(%6) : (tensor<i1>) -> ()
  }, {
  ^bb0(%3: tensor<i32>, %4: tensor<2x2xi8>):
  %7 = "tosa.add"(%3, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %8 = "tosa.bitwise_and"(%4, %4) : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi8>
  "tosa.yield"(%7, %8) : (tensor<i32>, tensor<2x2xi8>) -> ()
  }) : (tensor<i32>, tensor<2x2xi8>) -> (tensor<i32>, tensor<2x2xi8>)
  %9 = "tosa.bitwise_and"(%5#1, %arg0) : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi8>
  return %9 : tensor<2x2xi8>
}
