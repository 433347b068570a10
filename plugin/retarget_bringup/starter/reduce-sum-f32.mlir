// One value out of many: 100 times 0.5.

func.func @reduce_sum_f32() {
  %x = util.unfoldable_constant dense<0.5> : tensor<100xf32>
  %start = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<f32>
  %first = linalg.fill ins(%start : f32) outs(%room : tensor<f32>) -> tensor<f32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]} ins(%x : tensor<100xf32>) outs(%first : tensor<f32>) {
  ^bb0(%value: f32, %so_far: f32):
    %next = arith.addf %so_far, %value : f32
    linalg.yield %next : f32
  } -> tensor<f32>
  check.expect_eq_const(%z, dense<50.0> : tensor<f32>) : tensor<f32>
  return
}
