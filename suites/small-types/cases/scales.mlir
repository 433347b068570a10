// Functions on the five floats of 8 bits that IREE passes between a module and its caller.

func.func @scaled(%a: tensor<4xf8E4M3FN>, %scale: tensor<4xf8E8M0FNU>) -> tensor<4xf32> {
  %wide = arith.extf %a : tensor<4xf8E4M3FN> to tensor<4xf32>
  %power = arith.extf %scale : tensor<4xf8E8M0FNU> to tensor<4xf32>
  %product = arith.mulf %wide, %power : tensor<4xf32>
  return %product : tensor<4xf32>
}

func.func @narrow(%a: tensor<6xf32>)
    -> (tensor<6xf8E4M3FN>, tensor<6xf8E4M3FNUZ>, tensor<6xf8E5M2>, tensor<6xf8E5M2FNUZ>) {
  %0 = arith.truncf %a : tensor<6xf32> to tensor<6xf8E4M3FN>
  %1 = arith.truncf %a : tensor<6xf32> to tensor<6xf8E4M3FNUZ>
  %2 = arith.truncf %a : tensor<6xf32> to tensor<6xf8E5M2>
  %3 = arith.truncf %a : tensor<6xf32> to tensor<6xf8E5M2FNUZ>
  return %0, %1, %2, %3 : tensor<6xf8E4M3FN>, tensor<6xf8E4M3FNUZ>, tensor<6xf8E5M2>, tensor<6xf8E5M2FNUZ>
}

func.func @scalar(%a: f8E5M2, %b: f8E8M0FNU) -> (f8E5M2, f8E8M0FNU) {
  return %a, %b : f8E5M2, f8E8M0FNU
}
