// Addresses that come from data: rows in another order, one of them twice.

func.func @gather_f32() {
  %table = util.unfoldable_constant dense<[10.0, 11.0, 12.0, 13.0]> : tensor<4xf32>
  %rows = util.unfoldable_constant dense<[3, 0, 2, 0, 1]> : tensor<5xi32>
  %room = tensor.empty() : tensor<5xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%rows : tensor<5xi32>) outs(%room : tensor<5xf32>) {
  ^bb0(%row: i32, %unused: f32):
    %at = arith.index_cast %row : i32 to index
    %value = tensor.extract %table[%at] : tensor<4xf32>
    linalg.yield %value : f32
  } -> tensor<5xf32>
  check.expect_eq_const(%z, dense<[13.0, 10.0, 12.0, 10.0, 11.0]> : tensor<5xf32>) : tensor<5xf32>
  return
}
