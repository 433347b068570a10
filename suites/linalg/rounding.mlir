// Rounding and signs in f32: floor, ceil, round half away from zero, round half to even, absolute value, negation.
// Numbers: NumPy (round half away: sign(x) * floor(|x| + 0.5)); all exact, but for the sign of a zero in roundeven.
//
// Written by suites/generate.py from suites/generator/linalg/pointwise.py; change it there.

func.func @floor_of_16() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -1.25, -0.5, -0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8.388609e+06, -8.388609e+06,
       1.0e+30]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf32>) {
          ^bb0(%v: f32, %unused: f32):
            %r = math.floor %v : f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_eq_const(%out, dense<
      [-3.0, -3.0, -2.0, -2.0, -1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 8.388609e+06, -8.388609e+06, 1.0e+30]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @ceil_of_16() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -1.25, -0.5, -0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8.388609e+06, -8.388609e+06,
       1.0e+30]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf32>) {
          ^bb0(%v: f32, %unused: f32):
            %r = math.ceil %v : f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_eq_const(%out, dense<
      [-2.0, -2.0, -1.0, -1.0, -0.0, -0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 8.388609e+06, -8.388609e+06, 1.0e+30]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @round_of_16() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -1.25, -0.5, -0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8.388609e+06, -8.388609e+06,
       1.0e+30]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf32>) {
          ^bb0(%v: f32, %unused: f32):
            %r = math.round %v : f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_eq_const(%out, dense<
      [-3.0, -3.0, -2.0, -1.0, -1.0, -0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 3.0, 8.388609e+06, -8.388609e+06, 1.0e+30]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @roundeven_of_16() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -1.25, -0.5, -0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8.388609e+06, -8.388609e+06,
       1.0e+30]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf32>) {
          ^bb0(%v: f32, %unused: f32):
            %r = math.roundeven %v : f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_almost_eq_const(%out, dense<
      [-3.0, -2.0, -2.0, -1.0, -0.0, -0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 3.0, 8.388609e+06, -8.388609e+06, 1.0e+30]> : tensor<16xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<16xf32>
  return
}

func.func @absf_of_16() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -1.25, -0.5, -0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8.388609e+06, -8.388609e+06,
       1.0e+30]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf32>) {
          ^bb0(%v: f32, %unused: f32):
            %r = math.absf %v : f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_eq_const(%out, dense<
      [2.75, 2.5, 1.5, 1.25, 0.5, 0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8.388609e+06, 8.388609e+06, 1.0e+30]> : tensor<16xf32>) : tensor<16xf32>
  return
}

func.func @negf_of_16() {
  %x = util.unfoldable_constant dense<
      [-2.75, -2.5, -1.5, -1.25, -0.5, -0.25, 0.0, 0.25, 0.5, 1.25, 1.5, 2.5, 2.75, 8.388609e+06, -8.388609e+06,
       1.0e+30]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf32>) {
          ^bb0(%v: f32, %unused: f32):
            %r = arith.negf %v : f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_eq_const(%out, dense<
      [2.75, 2.5, 1.5, 1.25, 0.5, 0.25, -0.0, -0.25, -0.5, -1.25, -1.5, -2.5, -2.75, -8.388609e+06, 8.388609e+06,
       -1.0e+30]> : tensor<16xf32>) : tensor<16xf32>
  return
}
