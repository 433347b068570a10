// sqrt, exp, log and absf in f64.
// Numbers: NumPy's float64. rtol 1e-6, atol 1e-7: IREE evaluates some of them with approximations made for f32, which this holds it to.
//
// Written by suites/generate.py from suites/generator/float64.py; change it there.

func.func @sqrt_of_17() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25]> : tensor<17xf64>
          %empty = tensor.empty() : tensor<17xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<17xf64>) outs(%empty : tensor<17xf64>) {
          ^bb0(%a: f64, %unused: f64):
            %r = math.sqrt %a : f64
            linalg.yield %r : f64
          } -> tensor<17xf64>
  check.expect_almost_eq_const(%out, dense<
      [0.5, 0.7071067811865476, 0.8660254037844386, 1.0, 1.118033988749895, 1.224744871391589, 1.3228756555322954,
       1.4142135623730951, 1.5, 1.5811388300841898, 1.6583123951777, 1.7320508075688772, 1.8027756377319946,
       1.8708286933869707, 1.9364916731037085, 2.0, 2.0615528128088303]> : tensor<17xf64>, atol 1.00e-07, rtol 1.00e-06) : tensor<17xf64>
  return
}

func.func @exp_of_17() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25]> : tensor<17xf64>
          %empty = tensor.empty() : tensor<17xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<17xf64>) outs(%empty : tensor<17xf64>) {
          ^bb0(%a: f64, %unused: f64):
            %r = math.exp %a : f64
            linalg.yield %r : f64
          } -> tensor<17xf64>
  check.expect_almost_eq_const(%out, dense<
      [1.2840254166877414, 1.6487212707001282, 2.117000016612675, 2.718281828459045, 3.4903429574618414,
       4.4816890703380645, 5.754602676005731, 7.38905609893065, 9.487735836358526, 12.182493960703473,
       15.642631884188171, 20.085536923187668, 25.790339917193062, 33.11545195869231, 42.52108200006278,
       54.598150033144236, 70.10541234668786]> : tensor<17xf64>, atol 1.00e-07, rtol 1.00e-06) : tensor<17xf64>
  return
}

func.func @log_of_17() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25]> : tensor<17xf64>
          %empty = tensor.empty() : tensor<17xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<17xf64>) outs(%empty : tensor<17xf64>) {
          ^bb0(%a: f64, %unused: f64):
            %r = math.log %a : f64
            linalg.yield %r : f64
          } -> tensor<17xf64>
  check.expect_almost_eq_const(%out, dense<
      [-1.3862943611198906, -0.6931471805599453, -0.2876820724517809, 0.0, 0.22314355131420976, 0.4054651081081644,
       0.5596157879354227, 0.6931471805599453, 0.8109302162163288, 0.9162907318741551, 1.0116009116784799,
       1.0986122886681098, 1.1786549963416462, 1.252762968495368, 1.3217558399823195, 1.3862943611198906,
       1.4469189829363254]> : tensor<17xf64>, atol 1.00e-07, rtol 1.00e-06) : tensor<17xf64>
  return
}

func.func @absf_of_17() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25]> : tensor<17xf64>
          %empty = tensor.empty() : tensor<17xf64>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<17xf64>) outs(%empty : tensor<17xf64>) {
          ^bb0(%a: f64, %unused: f64):
            %r = math.absf %a : f64
            linalg.yield %r : f64
          } -> tensor<17xf64>
  check.expect_almost_eq_const(%out, dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25]> : tensor<17xf64>, atol 1.00e-07, rtol 1.00e-06) : tensor<17xf64>
  return
}
