// f32 to f64, which is exact, and f64 to f32, which rounds to nearest even and overflows to infinity.
// Numbers: NumPy's astype, the same IEEE 754 conversions.
//
// Written by suites/generate.py from suites/generator/float64.py; change it there.

func.func @extf() {
  %x = util.unfoldable_constant dense<[1.0, 0.1, -2.5, 1.0e-30]> : tensor<4xf32>
          %empty = tensor.empty() : tensor<4xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf64>) {
          ^bb0(%a: f32, %unused: f64):
            %r = arith.extf %a : f32 to f64
            linalg.yield %r : f64
          } -> tensor<4xf64>
  check.expect_eq_const(%out, dense<[1.0, 0.10000000149011612, -2.5, 1.0000000031710769e-30]> : tensor<4xf64>) : tensor<4xf64>
  return
}

func.func @truncf() {
  %x = util.unfoldable_constant dense<[0.1, 1.0000000596046448, 1.0000001788139343, -1.0e+39]> : tensor<4xf64>
          %empty = tensor.empty() : tensor<4xf32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<4xf64>) outs(%empty : tensor<4xf32>) {
          ^bb0(%a: f64, %unused: f32):
            %r = arith.truncf %a : f64 to f32
            linalg.yield %r : f32
          } -> tensor<4xf32>
  check.expect_eq_const(%out, dense<[0.1, 1.0, 1.0000002, 0xFF800000]> : tensor<4xf32>) : tensor<4xf32>
  return
}
