func.func @f(%arg0: tensor<4xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> (tensor<10xi32>) {
  %1 = tensor.empty() : tensor<4xi32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg0 : tensor<4xi32>) outs(%1 : tensor<4xi32>) {
  ^bb0(%e0: i32, %o: i32):
    %r = math.absi %e0 : i32
    linalg.yield %r : i32
  } -> tensor<4xi32>
  %3 = tensor.extract %arg1[] : tensor<i32>
  %4 = tensor.pad %2 low[1] high[1] {
  ^bb0(%i0: index):
    tensor.yield %3 : i32
  } : tensor<4xi32> to tensor<6xi32>
  %5 = tensor.extract %arg2[] : tensor<i32>
  %6 = tensor.pad %4 low[2] high[2] {
  ^bb0(%i0: index):
    tensor.yield %5 : i32
  } : tensor<6xi32> to tensor<10xi32>
  return %6 : tensor<10xi32>
}
