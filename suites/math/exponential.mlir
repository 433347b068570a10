// Exponentials and logarithms.
// Numbers: Python's module math.

func.func @exp() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.exp %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.2840254166877414, 1.6487212707001282, 2.117000016612675, 2.45960311115695]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @exp2() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.exp2 %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.189207115002721, 1.4142135623730951, 1.681792830507429, 1.8660659830736148]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @expm1() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.expm1 %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.2840254166877415, 0.6487212707001282, 1.1170000166126748, 1.4596031111569499]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @log() {
  %x = util.unfoldable_constant dense<[1.5, 2.0, 3.25, 8.0]> : tensor<4xf32>
  %y = math.log %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.4054651081081644, 0.6931471805599453, 1.1786549963416462, 2.0794415416798357]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @log2() {
  %x = util.unfoldable_constant dense<[1.5, 2.0, 3.25, 8.0]> : tensor<4xf32>
  %y = math.log2 %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.5849625007211562, 1.0, 1.7004397181410922, 3.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @log10() {
  %x = util.unfoldable_constant dense<[1.5, 2.0, 3.25, 8.0]> : tensor<4xf32>
  %y = math.log10 %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.17609125905568124, 0.3010299956639812, 0.5118833609788744, 0.9030899869919435]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @log1p() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.log1p %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.22314355131420976, 0.4054651081081644, 0.5596157879354227, 0.6418538861723948]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}
