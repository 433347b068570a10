// f8E4M3FN: every code as f32, rounding from f32 to nearest even, arithmetic.
// Numbers: ml_dtypes' conversions; arithmetic in f32 or wider, rounded once.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @every_code_to_f32() {
  %bytes = util.unfoldable_constant dense<
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
       29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55,
       56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82,
       83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107,
       108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, -128,
       -127, -126, -125, -124, -123, -122, -121, -120, -119, -118, -117, -116, -115, -114, -113, -112, -111, -110,
       -109, -108, -107, -106, -105, -104, -103, -102, -101, -100, -99, -98, -97, -96, -95, -94, -93, -92, -91,
       -90, -89, -88, -87, -86, -85, -84, -83, -82, -81, -80, -79, -78, -77, -76, -75, -74, -73, -72, -71, -70,
       -69, -68, -67, -66, -65, -64, -63, -62, -61, -60, -59, -58, -57, -56, -55, -54, -53, -52, -51, -50, -49,
       -48, -47, -46, -45, -44, -43, -42, -41, -40, -39, -38, -37, -36, -35, -34, -33, -32, -31, -30, -29, -28,
       -27, -26, -25, -24, -23, -22, -21, -20, -19, -18, -17, -16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6,
       -5, -4, -3, -2, -1]> : tensor<256xi8>
          %cast = flow.tensor.bitcast %bytes : tensor<256xi8> -> tensor<256xf8E4M3FN>
          %x = util.optimization_barrier %cast : tensor<256xf8E4M3FN>

          %empty = tensor.empty() : tensor<256xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<256xf8E4M3FN>) outs(%empty : tensor<256xf32>) {
          ^bb0(%a: f8E4M3FN, %unused: f32):
            %r = arith.extf %a : f8E4M3FN to f32
            linalg.yield %r : f32
          } -> tensor<256xf32>
  check.expect_almost_eq_const(%out, dense<
      [0.0, 0.001953125, 0.00390625, 0.005859375, 0.0078125, 0.009765625, 0.01171875, 0.013671875, 0.015625,
       0.017578125, 0.01953125, 0.021484375, 0.0234375, 0.025390625, 0.02734375, 0.029296875, 0.03125, 0.03515625,
       0.0390625, 0.04296875, 0.046875, 0.05078125, 0.0546875, 0.05859375, 0.0625, 0.0703125, 0.078125, 0.0859375,
       0.09375, 0.1015625, 0.109375, 0.1171875, 0.125, 0.140625, 0.15625, 0.171875, 0.1875, 0.203125, 0.21875,
       0.234375, 0.25, 0.28125, 0.3125, 0.34375, 0.375, 0.40625, 0.4375, 0.46875, 0.5, 0.5625, 0.625, 0.6875, 0.75,
       0.8125, 0.875, 0.9375, 1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25,
       3.5, 3.75, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 18.0,
       20.0, 22.0, 24.0, 26.0, 28.0, 30.0, 32.0, 36.0, 40.0, 44.0, 48.0, 52.0, 56.0, 60.0, 64.0, 72.0, 80.0, 88.0,
       96.0, 104.0, 112.0, 120.0, 128.0, 144.0, 160.0, 176.0, 192.0, 208.0, 224.0, 240.0, 256.0, 288.0, 320.0,
       352.0, 384.0, 416.0, 448.0, 0x7FC00000, -0.0, -0.001953125, -0.00390625, -0.005859375, -0.0078125,
       -0.009765625, -0.01171875, -0.013671875, -0.015625, -0.017578125, -0.01953125, -0.021484375, -0.0234375,
       -0.025390625, -0.02734375, -0.029296875, -0.03125, -0.03515625, -0.0390625, -0.04296875, -0.046875,
       -0.05078125, -0.0546875, -0.05859375, -0.0625, -0.0703125, -0.078125, -0.0859375, -0.09375, -0.1015625,
       -0.109375, -0.1171875, -0.125, -0.140625, -0.15625, -0.171875, -0.1875, -0.203125, -0.21875, -0.234375,
       -0.25, -0.28125, -0.3125, -0.34375, -0.375, -0.40625, -0.4375, -0.46875, -0.5, -0.5625, -0.625, -0.6875,
       -0.75, -0.8125, -0.875, -0.9375, -1.0, -1.125, -1.25, -1.375, -1.5, -1.625, -1.75, -1.875, -2.0, -2.25,
       -2.5, -2.75, -3.0, -3.25, -3.5, -3.75, -4.0, -4.5, -5.0, -5.5, -6.0, -6.5, -7.0, -7.5, -8.0, -9.0, -10.0,
       -11.0, -12.0, -13.0, -14.0, -15.0, -16.0, -18.0, -20.0, -22.0, -24.0, -26.0, -28.0, -30.0, -32.0, -36.0,
       -40.0, -44.0, -48.0, -52.0, -56.0, -60.0, -64.0, -72.0, -80.0, -88.0, -96.0, -104.0, -112.0, -120.0, -128.0,
       -144.0, -160.0, -176.0, -192.0, -208.0, -224.0, -240.0, -256.0, -288.0, -320.0, -352.0, -384.0, -416.0,
       -448.0, 0x7FC00000]> : tensor<256xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<256xf32>
  return
}

func.func @round_from_f32() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3, 1.0625, 1.1875, 2.5, 3.5, -0.07, 5.0, 0.01, 2.9, -3.1]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf8E4M3FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf8E4M3FN>) {
          ^bb0(%a: f32, %unused: f8E4M3FN):
            %r = arith.truncf %a : f32 to f8E4M3FN
            linalg.yield %r : f8E4M3FN
          } -> tensor<16xf8E4M3FN>

          %kept = util.optimization_barrier %out : tensor<16xf8E4M3FN>
          %wide = arith.extf %kept : tensor<16xf8E4M3FN> to tensor<16xf32>
  check.expect_almost_eq_const(%wide, dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3125, 1.0, 1.25, 2.5, 3.5, -0.0703125, 5.0, 0.009765625, 3.0, -3.0]> : tensor<16xf32>, atol 0.00e+00, rtol 0.00e+00) : tensor<16xf32>
  return
}

func.func @bytes_of_what_is_rounded() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3, 1.0625, 1.1875, 2.5, 3.5, -0.07, 5.0, 0.01, 2.9, -3.1]> : tensor<16xf32>
          %empty = tensor.empty() : tensor<16xf8E4M3FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<16xf32>) outs(%empty : tensor<16xf8E4M3FN>) {
          ^bb0(%a: f32, %unused: f8E4M3FN):
            %r = arith.truncf %a : f32 to f8E4M3FN
            linalg.yield %r : f8E4M3FN
          } -> tensor<16xf8E4M3FN>
          %bytes = flow.tensor.bitcast %out : tensor<16xf8E4M3FN> -> tensor<16xi8>
  check.expect_eq_const(%bytes, dense<[0, 56, -68, 48, 76, -56, 42, 56, 58, 66, 70, -103, 74, 5, 68, -60]> : tensor<16xi8>) : tensor<16xi8>
  return
}

func.func @constants() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3125, 1.0, 1.25, 2.5, 3.5, -0.0703125, 5.0, 0.009765625, 3.0, -3.0]> : tensor<16xf8E4M3FN>
          %out = util.optimization_barrier %x : tensor<16xf8E4M3FN>
  check.expect_eq_const(%out, dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3125, 1.0, 1.25, 2.5, 3.5, -0.0703125, 5.0, 0.009765625, 3.0, -3.0]> : tensor<16xf8E4M3FN>) : tensor<16xf8E4M3FN>
  return
}

func.func @add() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3125, 1.0, 1.25, 2.5, 3.5, -0.0703125, 5.0, 0.009765625, 3.0, -3.0]> : tensor<16xf8E4M3FN>
          %y = util.unfoldable_constant dense<
      [-3.0, 3.0, 0.009765625, 5.0, -0.0703125, 3.5, 2.5, 1.25, 1.0, 0.3125, -4.0, 6.0, 0.5, -1.5, 1.0, 0.0]> : tensor<16xf8E4M3FN>
          %empty = tensor.empty() : tensor<16xf8E4M3FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xf8E4M3FN>, tensor<16xf8E4M3FN>) outs(%empty : tensor<16xf8E4M3FN>) {
          ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %unused: f8E4M3FN):
            %r = arith.addf %a, %b : f8E4M3FN
            linalg.yield %r : f8E4M3FN
          } -> tensor<16xf8E4M3FN>
  check.expect_eq_const(%out, dense<
      [-3.0, 4.0, -1.5, 5.5, 6.0, -0.5, 2.75, 2.25, 2.25, 2.75, -0.5, 6.0, 5.5, -1.5, 4.0, -3.0]> : tensor<16xf8E4M3FN>) : tensor<16xf8E4M3FN>
  return
}

func.func @multiply() {
  %x = util.unfoldable_constant dense<
      [0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3125, 1.0, 1.25, 2.5, 3.5, -0.0703125, 5.0, 0.009765625, 3.0, -3.0]> : tensor<16xf8E4M3FN>
          %y = util.unfoldable_constant dense<
      [-3.0, 3.0, 0.009765625, 5.0, -0.0703125, 3.5, 2.5, 1.25, 1.0, 0.3125, -4.0, 6.0, 0.5, -1.5, 1.0, 0.0]> : tensor<16xf8E4M3FN>
          %empty = tensor.empty() : tensor<16xf8E4M3FN>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<16xf8E4M3FN>, tensor<16xf8E4M3FN>) outs(%empty : tensor<16xf8E4M3FN>) {
          ^bb0(%a: f8E4M3FN, %b: f8E4M3FN, %unused: f8E4M3FN):
            %r = arith.mulf %a, %b : f8E4M3FN
            linalg.yield %r : f8E4M3FN
          } -> tensor<16xf8E4M3FN>
  check.expect_eq_const(%out, dense<
      [-0.0, 3.0, -0.015625, 2.5, -0.4375, -14.0, 0.75, 1.25, 1.25, 0.75, -14.0, -0.4375, 2.5, -0.015625, 3.0, -0.0]> : tensor<16xf8E4M3FN>) : tensor<16xf8E4M3FN>
  return
}
