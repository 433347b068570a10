// bf16 to f32 and back with rounding to nearest even, and bf16 addition and multiplication of exact values.
// Numbers: bit arithmetic on NumPy's uint32 view: add 0x7FFF plus the lowest kept bit, keep the upper 16 bits.
//
// Written by suites/generate.py from suites/generator/float16.py; change it there.

func.func @truncf_extf() {
  %x = util.unfoldable_constant dense<
      [1.0, 1.0039062, 1.0117188, -3.1415927, 1.0e+30, 0.1, 65536.5, -1.1754944e-38]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xbf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xf32>) outs(%empty : tensor<8xbf16>) {
          ^bb0(%a: f32, %unused: bf16):
            %r = arith.truncf %a : f32 to bf16
            linalg.yield %r : bf16
          } -> tensor<8xbf16>
          %kept = util.optimization_barrier %out : tensor<8xbf16>
          %wide = arith.extf %kept : tensor<8xbf16> to tensor<8xf32>
  check.expect_almost_eq_const(%out, dense<
      [1.0, 1.0, 1.015625, -3.140625, 1.0002555517425873e+30, 0.10009765625, 65536.0, -1.1754943508222875e-38]> : tensor<8xbf16>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xbf16>
  check.expect_eq_const(%wide, dense<
      [1.0, 1.0, 1.015625, -3.140625, 1.00025555e+30, 0.100097656, 65536.0, -1.1754944e-38]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @addf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 128.0, -0.125, 3.0, 96.0, 0.0]> : tensor<8xbf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xbf16>
          %empty = tensor.empty() : tensor<8xbf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xbf16>, tensor<8xbf16>) outs(%empty : tensor<8xbf16>) {
          ^bb0(%a: bf16, %b: bf16, %unused: bf16):
            %r = arith.addf %a, %b : bf16
            linalg.yield %r : bf16
          } -> tensor<8xbf16>
  check.expect_almost_eq_const(%out, dense<[3.0, -1.5, -3.5, 129.0, 7.875, 0.0, 96.25, 5.0]> : tensor<8xbf16>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xbf16>
  return
}

func.func @mulf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 128.0, -0.125, 3.0, 96.0, 0.0]> : tensor<8xbf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xbf16>
          %empty = tensor.empty() : tensor<8xbf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xbf16>, tensor<8xbf16>) outs(%empty : tensor<8xbf16>) {
          ^bb0(%a: bf16, %b: bf16, %unused: bf16):
            %r = arith.mulf %a, %b : bf16
            linalg.yield %r : bf16
          } -> tensor<8xbf16>
  check.expect_almost_eq_const(%out, dense<[2.0, -1.0, -2.0, 128.0, -1.0, -9.0, 24.0, 0.0]> : tensor<8xbf16>, atol 0.00e+00, rtol 0.00e+00) : tensor<8xbf16>
  return
}
