// f16 to f32 and back: rounding to nearest even, overflow to infinity, subnormals of f16, and integers.
// Numbers: NumPy's astype, which rounds to nearest even as IEEE 754 asks.
//
// Written by suites/generate.py from suites/generator/float16.py; change it there.

func.func @extf() {
  %x = util.unfoldable_constant dense<[0.0, 1.0, -1.5, 65504.0, 6.103515625e-05, 0.333251953125, 0x7C00, 0xFC00]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xf16>) outs(%empty : tensor<8xf32>) {
          ^bb0(%a: f16, %unused: f32):
            %r = arith.extf %a : f16 to f32
            linalg.yield %r : f32
          } -> tensor<8xf32>
  check.expect_eq_const(%out, dense<
      [0.0, 1.0, -1.5, 65504.0, 6.1035156e-05, 0.33325195, 0x7F800000, 0xFF800000]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @truncf() {
  %x = util.unfoldable_constant dense<[1.0, 2049.0, 2051.0, 0.001, 65519.0, -65504.0, 0.1, 3.1415927]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f32, %unused: f16):
            %r = arith.truncf %a : f32 to f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_eq_const(%out, dense<
      [1.0, 2048.0, 2052.0, 0.0010004043579101562, 65504.0, -65504.0, 0.0999755859375, 3.140625]> : tensor<8xf16>) : tensor<8xf16>
  return
}

func.func @sitofp() {
  %x = util.unfoldable_constant dense<[0, 1, -1, 2048, -2048, 100, -37, 7]> : tensor<8xi32>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xi32>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: i32, %unused: f16):
            %r = arith.sitofp %a : i32 to f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_eq_const(%out, dense<[0.0, 1.0, -1.0, 2048.0, -2048.0, 100.0, -37.0, 7.0]> : tensor<8xf16>) : tensor<8xf16>
  return
}
