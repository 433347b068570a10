// math.trunc and math.copysign in f32.
// Numbers: NumPy's trunc and copysign; all exact.
//
// Written by suites/generate.py from suites/generator/linalg/pointwise.py; change it there.

func.func @trunc_of_12() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -0.25, 0.25, 0.5, 1.25, 1.5, 2.75, 8.388609e+06, -8.388609e+06, 1.0e+30]> : tensor<12xf32>
          %empty = tensor.empty() : tensor<12xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<12xf32>) outs(%empty : tensor<12xf32>) {
          ^bb0(%v: f32, %unused: f32):
            %r = math.trunc %v : f32
            linalg.yield %r : f32
          } -> tensor<12xf32>
  check.expect_eq_const(%out, dense<
      [-2.0, -2.0, -1.0, -0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 8.388609e+06, -8.388609e+06, 1.0e+30]> : tensor<12xf32>) : tensor<12xf32>
  return
}

func.func @copysign_of_12() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -0.25, 0.25, 0.5, 1.25, 1.5, 2.75, 8.388609e+06, -8.388609e+06, 1.0e+30]> : tensor<12xf32>
          %y = util.unfoldable_constant dense<[-1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0]> : tensor<12xf32>
          %empty = tensor.empty() : tensor<12xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<12xf32>, tensor<12xf32>) outs(%empty : tensor<12xf32>) {
          ^bb0(%a: f32, %b: f32, %unused: f32):
            %r = math.copysign %a, %b : f32
            linalg.yield %r : f32
          } -> tensor<12xf32>
  check.expect_eq_const(%out, dense<
      [-2.75, 2.5, 1.5, -0.25, 0.25, 0.5, -1.25, 1.5, 2.75, -8.388609e+06, 8.388609e+06, 1.0e+30]> : tensor<12xf32>) : tensor<12xf32>
  return
}
