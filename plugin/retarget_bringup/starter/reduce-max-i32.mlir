// The largest of each row.

func.func @reduce_max_i32() {
  %x = util.unfoldable_constant dense<[[3, -7, 9, 1], [-4, -2, -9, -3]]> : tensor<2x4xi32>
  %start = arith.constant -2147483648 : i32
  %room = tensor.empty() : tensor<2xi32>
  %first = linalg.fill ins(%start : i32) outs(%room : tensor<2xi32>) -> tensor<2xi32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x4xi32>) outs(%first : tensor<2xi32>) {
  ^bb0(%value: i32, %so_far: i32):
    %next = arith.maxsi %so_far, %value : i32
    linalg.yield %next : i32
  } -> tensor<2xi32>
  check.expect_eq_const(%z, dense<[9, -2]> : tensor<2xi32>) : tensor<2xi32>
  return
}
