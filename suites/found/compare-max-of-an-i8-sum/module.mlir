func.func @f(%arg0: tensor<i8>, %arg1: tensor<i8>) -> (tensor<i8>) {
  %1 = tensor.empty() : tensor<i8>
  %2 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%arg0, %arg0 : tensor<i8>, tensor<i8>) outs(%1 : tensor<i8>) {
  ^bb0(%e0: i8, %e1: i8, %o: i8):
    %r = arith.addi %e0, %e1 : i8
    linalg.yield %r : i8
  } -> tensor<i8>
  %3 = tensor.empty() : tensor<i8>
  %4 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%2, %arg1 : tensor<i8>, tensor<i8>) outs(%3 : tensor<i8>) {
  ^bb0(%e0: i8, %e1: i8, %o: i8):
    %r = arith.maxsi %e0, %e1 : i8
    linalg.yield %r : i8
  } -> tensor<i8>
  return %4 : tensor<i8>
}
