// f16 arithmetic whose results are exact in f16, and division and square root within one part in 1000 (f16 keeps 11 bits: 2^-11 = 4.9e-4).
// Numbers: NumPy in float64; exact results are made sure of.
//
// Written by suites/generate.py from suites/generator/float16.py; change it there.

func.func @addf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0]> : tensor<8xf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf16>, tensor<8xf16>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %b: f16, %unused: f16):
            %r = arith.addf %a, %b : f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_eq_const(%out, dense<[3.0, -1.5, -3.5, 1025.0, 7.875, 0.0, 100.25, 5.0]> : tensor<8xf16>) : tensor<8xf16>
  return
}

func.func @subf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0]> : tensor<8xf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf16>, tensor<8xf16>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %b: f16, %unused: f16):
            %r = arith.subf %a, %b : f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_eq_const(%out, dense<[-1.0, -2.5, 4.5, 1023.0, -8.125, 6.0, 99.75, -5.0]> : tensor<8xf16>) : tensor<8xf16>
  return
}

func.func @mulf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0]> : tensor<8xf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf16>, tensor<8xf16>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %b: f16, %unused: f16):
            %r = arith.mulf %a, %b : f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_eq_const(%out, dense<[2.0, -1.0, -2.0, 1024.0, -1.0, -9.0, 25.0, 0.0]> : tensor<8xf16>) : tensor<8xf16>
  return
}

func.func @maximumf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0]> : tensor<8xf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf16>, tensor<8xf16>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %b: f16, %unused: f16):
            %r = arith.maximumf %a, %b : f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_eq_const(%out, dense<[2.0, 0.5, 0.5, 1024.0, 8.0, 3.0, 100.0, 5.0]> : tensor<8xf16>) : tensor<8xf16>
  return
}

func.func @minimumf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0]> : tensor<8xf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf16>, tensor<8xf16>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %b: f16, %unused: f16):
            %r = arith.minimumf %a, %b : f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_eq_const(%out, dense<[1.0, -2.0, -4.0, 1.0, -0.125, -3.0, 0.25, 0.0]> : tensor<8xf16>) : tensor<8xf16>
  return
}

func.func @divf() {
  %x = util.unfoldable_constant dense<[1.0, -2.0, 0.5, 1024.0, -0.125, 3.0, 100.0, 0.0]> : tensor<8xf16>
          %y = util.unfoldable_constant dense<[2.0, 0.5, -4.0, 1.0, 8.0, -3.0, 0.25, 5.0]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<8xf16>, tensor<8xf16>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %b: f16, %unused: f16):
            %r = arith.divf %a, %b : f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_almost_eq_const(%out, dense<[0.5, -4.0, -0.125, 1024.0, -0.015625, -1.0, 400.0, 0.0]> : tensor<8xf16>, atol 0.00e+00, rtol 1.00e-03) : tensor<8xf16>
  return
}

func.func @sqrt() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, 0.5, 1024.0, 0.125, 3.0, 100.0, 0.0]> : tensor<8xf16>
          %empty = tensor.empty() : tensor<8xf16>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xf16>) outs(%empty : tensor<8xf16>) {
          ^bb0(%a: f16, %unused: f16):
            %r = math.sqrt %a : f16
            linalg.yield %r : f16
          } -> tensor<8xf16>
  check.expect_almost_eq_const(%out, dense<[1.0, 1.4140625, 0.70703125, 32.0, 0.353515625, 1.732421875, 10.0, 0.0]> : tensor<8xf16>, atol 1.00e-04, rtol 1.00e-03) : tensor<8xf16>
  return
}
