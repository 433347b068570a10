func.func @f(%arg0: tensor<i32>) -> (tensor<i32>) {
  %1 = tensor.empty() : tensor<i32>
  %2 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%arg0 : tensor<i32>) outs(%1 : tensor<i32>) {
  ^bb0(%e0: i32, %o: i32):
    %r = math.ctpop %e0 : i32
    linalg.yield %r : i32
  } -> tensor<i32>
  return %2 : tensor<i32>
}
