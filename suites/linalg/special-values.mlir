// IEEE special values in f32: maximumf and minimumf hand NaN on, maxnumf and minnumf drop it, arithmetic on infinities,
// division by zeros of both signs. NaN equals NaN in almost_eq checks.
// Numbers: NumPy's maximum/fmax/minimum/fmin and arithmetic, which follow the same IEEE 754 rules.
//
// Written by suites/generate.py from suites/generator/linalg/pointwise.py; change it there.

func.func @maximumf_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: f32, %b: f32, %unused: f32):
            %r = arith.maximumf %a, %b : f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_almost_eq_const(%out, dense<[2.0, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7F800000, 1.0, 0x7F800000, 5.0]> : tensor<8xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xf32>
  return
}

func.func @minimumf_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: f32, %b: f32, %unused: f32):
            %r = arith.minimumf %a, %b : f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_almost_eq_const(%out, dense<[1.0, 0x7FC00000, 0x7FC00000, 0x7FC00000, 1.0, 0xFF800000, 0xFF800000, 5.0]> : tensor<8xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xf32>
  return
}

func.func @maxnumf_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: f32, %b: f32, %unused: f32):
            %r = arith.maxnumf %a, %b : f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_almost_eq_const(%out, dense<[2.0, 2.0, 3.0, 0x7FC00000, 0x7F800000, 1.0, 0x7F800000, 5.0]> : tensor<8xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xf32>
  return
}

func.func @minnumf_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: f32, %b: f32, %unused: f32):
            %r = arith.minnumf %a, %b : f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_almost_eq_const(%out, dense<[1.0, 2.0, 3.0, 0x7FC00000, 1.0, 0xFF800000, 0xFF800000, 5.0]> : tensor<8xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xf32>
  return
}

func.func @addf_of_8() {
  %x = util.unfoldable_constant dense<[1.0, 0x7FC00000, 3.0, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F800000, 5.0]> : tensor<8xf32>
          %y = util.unfoldable_constant dense<[2.0, 2.0, 0x7FC00000, 0x7FC00000, 1.0, 1.0, 0xFF800000, 5.0]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: f32, %b: f32, %unused: f32):
            %r = arith.addf %a, %b : f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_almost_eq_const(%out, dense<
      [3.0, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7FC00000, 10.0]> : tensor<8xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xf32>
  return
}

func.func @divf_by_zero() {
  %x = util.unfoldable_constant dense<[1.0, -1.0, 2.0, -4.0]> : tensor<4xf32>
          %y = util.unfoldable_constant dense<[0.0, 0.0, -0.0, 0x7F800000]> : tensor<4xf32>
          %empty = tensor.empty() : tensor<4xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) {
          ^bb0(%a: f32, %b: f32, %unused: f32):
            %r = arith.divf %a, %b : f32
            linalg.yield %r : f32
          } -> tensor<4xf32>
  check.expect_eq_const(%out, dense<[0x7F800000, 0xFF800000, 0xFF800000, -0.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}
