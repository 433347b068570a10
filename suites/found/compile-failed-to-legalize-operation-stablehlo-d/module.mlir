func.func @f(%arg0: tensor<1x?xi32>, %arg1: tensor<?x1xi32>, %arg2: tensor<i1>, %arg3: tensor<?x?xi32>, %arg4: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?xi1>, tensor<i32>) {
  %1 = stablehlo.dot_general %arg0, %arg1, batching_dims = [] x [], contracting_dims = [0] x [1] : (tensor<1x?xi32>, tensor<?x1xi32>) -> tensor<?x?xi32>
  %2 = "stablehlo.if"(%arg2) ({
  %3 = stablehlo.xor %1, %arg3 : tensor<?x?xi32>
  "stablehlo.return"(%3) : (tensor<?x?xi32>) -> ()
  }, {
  %4 = stablehlo.add %1, %1 : tensor<?x?xi32>
  %5 = stablehlo.minimum %4, %4 : tensor<?x?xi32>
  "stablehlo.return"(%5) : (tensor<?x?xi32>) -> ()
  }) : (tensor<i1>) -> tensor<?x?xi32>
  %6 = stablehlo.transpose %2, dims = [0, 1] : (tensor<?x?xi32>) -> tensor<?x?xi32>
  %7 = stablehlo.compare EQ, %arg3, %arg4, SIGNED : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi1>
  %8 = stablehlo.constant dense<-2147483648> : tensor<i32>
  %9 = stablehlo.reduce(%arg4 init: %8) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<?x?xi32>, tensor<i32>) -> tensor<i32>
  return %6, %7, %9 : tensor<?x?xi32>, tensor<?x?xi1>, tensor<i32>
}
