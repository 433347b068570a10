func.func @f(%arg0: tensor<?xi32>, %arg1: tensor<i32>) -> (tensor<?xi32>) {
  %index2 = arith.constant 0 : index
  %size2 = tensor.dim %arg0, %index2 : tensor<?xi32>
  %1 = tensor.extract %arg1[] : tensor<i32>
  %2 = arith.index_cast %1 : i32 to index
  %3 = arith.constant 0 : index
  %4 = arith.constant 1 : index
  %7 = scf.for %5 = %3 to %2 step %4 iter_args(%6 = %arg0) -> (tensor<?xi32>) {
  %8 = tensor.empty(%size2) : tensor<?xi32>
  %9 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%6, %6 : tensor<?xi32>, tensor<?xi32>) outs(%8 : tensor<?xi32>) {
  ^bb0(%e0: i32, %e1: i32, %o: i32):
    %r = arith.subi %e0, %e1 : i32
    linalg.yield %r : i32
  } -> tensor<?xi32>
  scf.yield %9 : tensor<?xi32>
  }
  return %7 : tensor<?xi32>
}
