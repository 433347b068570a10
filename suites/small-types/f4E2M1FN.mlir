// f4E2M1FN: every code as f32, rounding from f32 to nearest even, arithmetic. IREE 3.13 has it inside a module only: it comes from bytes and leaves as f32 or bytes.
// Numbers: ml_dtypes' conversions; arithmetic in f32 or wider, rounded once.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @every_code_to_f32() {
  %bytes = util.unfoldable_constant dense<[16, 50, 84, 118, -104, -70, -36, -2]> : tensor<8xi8>
          %cast = flow.tensor.bitcast %bytes : tensor<8xi8> -> tensor<16xf4E2M1FN>
          %x = util.optimization_barrier %cast : tensor<16xf4E2M1FN>

          %empty = tensor.empty() : tensor<16xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf4E2M1FN>) outs(%empty : tensor<16xf32>) {
          ^bb0(%a: f4E2M1FN, %unused: f32):
            %r = arith.extf %a : f4E2M1FN to f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
  check.expect_almost_eq_const(%out, dense<
      [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]> : tensor<16xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<16xf32>
  return
}

func.func @round_from_f32() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3, 1.0625, 1.1875, 2.5, 3.5, -0.07, 5.0, 0.01, 2.9, -3.1]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf4E2M1FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf4E2M1FN>) {
          ^bb0(%a: f32, %unused: f4E2M1FN):
            %r = arith.truncf %a : f32 to f4E2M1FN
            linalg.yield %r : f4E2M1FN
          } -> tensor<16xf4E2M1FN>

          %kept = util.optimization_barrier %out : tensor<16xf4E2M1FN>
          %wide = arith.extf %kept : tensor<16xf4E2M1FN> to tensor<16xf32>
  check.expect_almost_eq_const(%wide, dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.5, 1.0, 1.0, 2.0, 4.0, -0.0, 4.0, 0.0, 3.0, -3.0]> : tensor<16xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<16xf32>
  return
}

func.func @bytes_of_what_is_rounded() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3, 1.0625, 1.1875, 2.5, 3.5, -0.07, 5.0, 0.01, 2.9, -3.1]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf4E2M1FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf4E2M1FN>) {
          ^bb0(%a: f32, %unused: f4E2M1FN):
            %r = arith.truncf %a : f32 to f4E2M1FN
            linalg.yield %r : f4E2M1FN
          } -> tensor<16xf4E2M1FN>
          %bytes = flow.tensor.bitcast %out : tensor<16xf4E2M1FN> -> tensor<8xi8>
  check.expect_eq_const(%bytes, dense<[32, 27, -25, 33, 66, -122, 6, -43]> : tensor<8xi8>) : tensor<8xi8>
  return
}
