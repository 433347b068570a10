// f64 arithmetic with results that f32 could not hold: 2^53 - 1, 1 + 2^-40, products of 27-bit numbers, a range beyond 1e38.
// Numbers: NumPy's float64, which is the same IEEE 754 arithmetic; compared exactly.
//
// Written by suites/generate.py from suites/generator/float64.py; change it there.

func.func @addf() {
  %x = util.unfoldable_constant dense<[9007199254740991.0, 1.0, 134217727.0, 1.0e+200, -3.0, 1.0e-280]> : tensor<6xf64>
          %y = util.unfoldable_constant dense<[-1.0, 9.094947017729282e-13, 134217729.0, 1.0e+100, 7.0, 10000000000.0]> : tensor<6xf64>
          %empty = tensor.empty() : tensor<6xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<6xf64>, tensor<6xf64>) outs(%empty : tensor<6xf64>) {
          ^bb0(%a: f64, %b: f64, %unused: f64):
            %r = arith.addf %a, %b : f64
            linalg.yield %r : f64
          } -> tensor<6xf64>
  check.expect_eq_const(%out, dense<
      [9007199254740990.0, 1.0000000000009095, 268435456.0, 1.0e+200, 4.0, 10000000000.0]> : tensor<6xf64>) : tensor<6xf64>
  return
}

func.func @subf() {
  %x = util.unfoldable_constant dense<[9007199254740991.0, 1.0, 134217727.0, 1.0e+200, -3.0, 1.0e-280]> : tensor<6xf64>
          %y = util.unfoldable_constant dense<[-1.0, 9.094947017729282e-13, 134217729.0, 1.0e+100, 7.0, 10000000000.0]> : tensor<6xf64>
          %empty = tensor.empty() : tensor<6xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<6xf64>, tensor<6xf64>) outs(%empty : tensor<6xf64>) {
          ^bb0(%a: f64, %b: f64, %unused: f64):
            %r = arith.subf %a, %b : f64
            linalg.yield %r : f64
          } -> tensor<6xf64>
  check.expect_eq_const(%out, dense<
      [9007199254740992.0, 0.9999999999990905, -2.0, 1.0e+200, -10.0, -10000000000.0]> : tensor<6xf64>) : tensor<6xf64>
  return
}

func.func @mulf() {
  %x = util.unfoldable_constant dense<[9007199254740991.0, 1.0, 134217727.0, 1.0e+200, -3.0, 1.0e-280]> : tensor<6xf64>
          %y = util.unfoldable_constant dense<[-1.0, 9.094947017729282e-13, 134217729.0, 1.0e+100, 7.0, 10000000000.0]> : tensor<6xf64>
          %empty = tensor.empty() : tensor<6xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<6xf64>, tensor<6xf64>) outs(%empty : tensor<6xf64>) {
          ^bb0(%a: f64, %b: f64, %unused: f64):
            %r = arith.mulf %a, %b : f64
            linalg.yield %r : f64
          } -> tensor<6xf64>
  check.expect_eq_const(%out, dense<
      [-9007199254740991.0, 9.094947017729282e-13, 1.8014398509481984e+16, 1.0e+300, -21.0, 1.0e-270]> : tensor<6xf64>) : tensor<6xf64>
  return
}

func.func @divf() {
  %x = util.unfoldable_constant dense<[9007199254740991.0, 1.0, 134217727.0, 1.0e+200, -3.0, 1.0e-280]> : tensor<6xf64>
          %y = util.unfoldable_constant dense<[-1.0, 9.094947017729282e-13, 134217729.0, 1.0e+100, 7.0, 10000000000.0]> : tensor<6xf64>
          %empty = tensor.empty() : tensor<6xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<6xf64>, tensor<6xf64>) outs(%empty : tensor<6xf64>) {
          ^bb0(%a: f64, %b: f64, %unused: f64):
            %r = arith.divf %a, %b : f64
            linalg.yield %r : f64
          } -> tensor<6xf64>
  check.expect_eq_const(%out, dense<
      [-9007199254740991.0, 1099511627776.0, 0.9999999850988389, 1.0e+100, -0.42857142857142855,
       9.999999999999999e-291]> : tensor<6xf64>) : tensor<6xf64>
  return
}
