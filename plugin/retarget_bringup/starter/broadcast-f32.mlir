// A row is added to each row of a matrix.

func.func @broadcast_f32() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %row = util.unfoldable_constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %room = tensor.empty() : tensor<2x3xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %row : tensor<2x3xf32>, tensor<3xf32>) outs(%room : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<2x3xf32>
  check.expect_eq_const(%z, dense<[[11.0, 22.0, 33.0], [14.0, 25.0, 36.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}
