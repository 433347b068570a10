// Rounding to whole numbers.
// Numbers: by hand.

func.func @roundeven() {
  %x = util.unfoldable_constant dense<[0.5, 1.5, -2.5, 2.25]> : tensor<4xf32>
  %y = math.roundeven %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.0, 2.0, -2.0, 2.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @round() {
  %x = util.unfoldable_constant dense<[0.5, 1.5, -2.5, 2.25]> : tensor<4xf32>
  %y = math.round %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.0, 2.0, -3.0, 2.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @floor() {
  %x = util.unfoldable_constant dense<[0.5, -1.5, -2.0, 2.25]> : tensor<4xf32>
  %y = math.floor %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.0, -2.0, -2.0, 2.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @ceil() {
  %x = util.unfoldable_constant dense<[0.5, -1.5, -2.0, 2.25]> : tensor<4xf32>
  %y = math.ceil %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.0, -1.0, -2.0, 3.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @trunc() {
  %x = util.unfoldable_constant dense<[0.5, -1.5, -2.0, 2.75]> : tensor<4xf32>
  %y = math.trunc %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.0, -1.0, -2.0, 2.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}
