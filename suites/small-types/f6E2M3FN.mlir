// f6E2M3FN: every code as f32, rounding from f32 to nearest even, arithmetic. IREE 3.13 has it inside a module only: it comes from bytes and leaves as f32 or bytes.
// Numbers: ml_dtypes' conversions; arithmetic in f32 or wider, rounded once.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @every_code_to_f32() {
  %bytes = util.unfoldable_constant dense<
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
       29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55,
       56, 57, 58, 59, 60, 61, 62, 63]> : tensor<64xi8>
          %cast = flow.tensor.bitcast %bytes : tensor<64xi8> -> tensor<64xf6E2M3FN>
          %x = util.optimization_barrier %cast : tensor<64xf6E2M3FN>

          %empty = tensor.empty() : tensor<64xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<64xf6E2M3FN>) outs(%empty : tensor<64xf32>) {
          ^bb0(%a: f6E2M3FN, %unused: f32):
            %r = arith.extf %a : f6E2M3FN to f32
            linalg.yield %r : f32
          } -> tensor<64xf32>
  check.expect_almost_eq_const(%out, dense<
      [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875, 2.0,
       2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, -0.0, -0.125, -0.25, -0.375,
       -0.5, -0.625, -0.75, -0.875, -1.0, -1.125, -1.25, -1.375, -1.5, -1.625, -1.75, -1.875, -2.0, -2.25, -2.5,
       -2.75, -3.0, -3.25, -3.5, -3.75, -4.0, -4.5, -5.0, -5.5, -6.0, -6.5, -7.0, -7.5]> : tensor<64xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<64xf32>
  return
}

func.func @round_from_f32() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3, 1.0625, 1.1875, 2.5, 3.5, -0.07, 5.0, 0.01, 2.9, -3.1]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf6E2M3FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf6E2M3FN>) {
          ^bb0(%a: f32, %unused: f6E2M3FN):
            %r = arith.truncf %a : f32 to f6E2M3FN
            linalg.yield %r : f6E2M3FN
          } -> tensor<16xf6E2M3FN>

          %kept = util.optimization_barrier %out : tensor<16xf6E2M3FN>
          %wide = arith.extf %kept : tensor<16xf6E2M3FN> to tensor<16xf32>
  check.expect_almost_eq_const(%wide, dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.25, 1.0, 1.25, 2.5, 3.5, -0.125, 5.0, 0.0, 3.0, -3.0]> : tensor<16xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<16xf32>
  return
}

func.func @bytes_of_what_is_rounded() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3, 1.0625, 1.1875, 2.5, 3.5, -0.07, 5.0, 0.01, 2.9, -3.1]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf6E2M3FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf6E2M3FN>) {
          ^bb0(%a: f32, %unused: f6E2M3FN):
            %r = arith.truncf %a : f32 to f6E2M3FN
            linalg.yield %r : f6E2M3FN
          } -> tensor<16xf6E2M3FN>
          %bytes = flow.tensor.bitcast %out : tensor<16xf6E2M3FN> -> tensor<16xi8>
  check.expect_eq_const(%bytes, dense<[0, 8, 44, 4, 28, 56, 2, 8, 10, 18, 22, 33, 26, 0, 20, 52]> : tensor<16xi8>) : tensor<16xi8>
  return
}
