// tosa.rescale of i32 to i8 with a multiplier of 1/4 (2^30 >> 32) and zero points, and tosa.table on i8.
// Numbers: (v - 0) * 2^30 + 2^31 >> 32, plus 3, clipped to i8, in Python integers; NumPy's indexing of the table at v + 128.
//
// Written by suites/generate.py from suites/generator/tosa.py; change it there.

func.func @rescale() {
  %v = util.unfoldable_constant dense<[0, 1, 2, 3, -1, -2, 100, -100, 400, -400, 2000, -2000]> : tensor<12xi32>
  %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<32> : tensor<1xi8>} : () -> tensor<1xi8>
  %zi = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %zo = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %out = "tosa.rescale"(%v, %multiplier, %shift, %zi, %zo) {input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, scale32 = true}
    : (tensor<12xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<12xi8>
  check.expect_eq_const(%out, dense<[3, 3, 4, 4, 3, 3, 28, -22, 103, -97, 127, -128]> : tensor<12xi8>) : tensor<12xi8>
  return
}

func.func @table() {
  %x = util.unfoldable_constant dense<[-128, -1, 0, 1, 127, 64, -64, 5]> : tensor<8xi8>
          %table = util.unfoldable_constant dense<
      [-117, -80, -43, -6, 31, 68, 105, -114, -77, -40, -3, 34, 71, 108, -111, -74, -37, 0, 37, 74, 111, -108, -71,
       -34, 3, 40, 77, 114, -105, -68, -31, 6, 43, 80, 117, -102, -65, -28, 9, 46, 83, 120, -99, -62, -25, 12, 49,
       86, 123, -96, -59, -22, 15, 52, 89, 126, -93, -56, -19, 18, 55, 92, -127, -90, -53, -16, 21, 58, 95, -124,
       -87, -50, -13, 24, 61, 98, -121, -84, -47, -10, 27, 64, 101, -118, -81, -44, -7, 30, 67, 104, -115, -78,
       -41, -4, 33, 70, 107, -112, -75, -38, -1, 36, 73, 110, -109, -72, -35, 2, 39, 76, 113, -106, -69, -32, 5,
       42, 79, 116, -103, -66, -29, 8, 45, 82, 119, -100, -63, -26, 11, 48, 85, 122, -97, -60, -23, 14, 51, 88,
       125, -94, -57, -20, 17, 54, 91, -128, -91, -54, -17, 20, 57, 94, -125, -88, -51, -14, 23, 60, 97, -122, -85,
       -48, -11, 26, 63, 100, -119, -82, -45, -8, 29, 66, 103, -116, -79, -42, -5, 32, 69, 106, -113, -76, -39, -2,
       35, 72, 109, -110, -73, -36, 1, 38, 75, 112, -107, -70, -33, 4, 41, 78, 115, -104, -67, -30, 7, 44, 81, 118,
       -101, -64, -27, 10, 47, 84, 121, -98, -61, -24, 13, 50, 87, 124, -95, -58, -21, 16, 53, 90, 127, -92, -55,
       -18, 19, 56, 93, -126, -89, -52, -15, 22, 59, 96, -123, -86, -49, -12, 25, 62, 99, -120, -83, -46, -9, 28,
       65, 102]> : tensor<256xi8>
          %out = tosa.table %x, %table : (tensor<8xi8>, tensor<256xi8>) -> tensor<8xi8>
  check.expect_eq_const(%out, dense<[-117, -26, 11, 48, 102, 75, -53, -60]> : tensor<8xi8>) : tensor<8xi8>
  return
}
