func.func @f(%arg0: tensor<i8>, %arg1: tensor<i32>) -> (tensor<i8>) {
  %1 = "tosa.bitwise_and"(%arg0, %arg0) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  %2 = "tosa.bitwise_and"(%1, %arg0) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  %3 = "tosa.const"() {values = dense<0> : tensor<i32>} : () -> tensor<i32>
  %4 = "tosa.const"() {values = dense<1> : tensor<i32>} : () -> tensor<i32>
  %7:2 = "tosa.while_loop"(%3, %2) ({
  ^bb0(%5: tensor<i32>, %6: tensor<i8>):
  %8 = "tosa.greater"(%arg1, %5) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  "tosa.yield"(%8) : (tensor<i1>) -> ()
  }, {
  ^bb0(%5: tensor<i32>, %6: tensor<i8>):
  %9 = "tosa.add"(%5, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %10 = "tosa.bitwise_xor"(%6, %6) : (tensor<i8>, tensor<i8>) -> tensor<i8>
  "tosa.yield"(%9, %10) : (tensor<i32>, tensor<i8>) -> ()
  }) : (tensor<i32>, tensor<i8>) -> (tensor<i32>, tensor<i8>)
  return %7#1 : tensor<i8>
}
