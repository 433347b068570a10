// Functions of two and three arguments.
// Numbers: Python's module math (fma, minimum and maximum by hand).

func.func @fma() {
  %a = util.unfoldable_constant dense<[0.5, -1.5, 2.0, -3.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.0, 0.5, -1.0, -2.0]> : tensor<4xf32>
  %c = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = math.fma %a, %b, %c : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[2.0, 1.25, 1.0, 10.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @copysign() {
  %a = util.unfoldable_constant dense<[0.5, -1.5, 2.0, -3.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.0, 0.5, -1.0, -2.0]> : tensor<4xf32>
  %y = math.copysign %a, %b : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.5, 1.5, -2.0, -3.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @atan2() {
  %a = util.unfoldable_constant dense<[0.5, -1.5, 2.0, -3.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.0, 0.5, -1.0, -2.0]> : tensor<4xf32>
  %y = math.atan2 %a, %b : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.24497866312686414, -1.2490457723982544, 2.0344439357957027, -2.158798930342464]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @powf() {
  %a = util.unfoldable_constant dense<[0.5, 1.5, 2.0, 3.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.0, 0.5, -1.0, -2.0]> : tensor<4xf32>
  %y = math.powf %a, %b : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.25, 1.224744871391589, 0.5, 0.1111111111111111]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @remf() {
  %a = util.unfoldable_constant dense<[5.5, -5.5, 7.0, 1.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.0, 2.0, -3.0, 0.25]> : tensor<4xf32>
  %y = arith.remf %a, %b : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.5, -1.5, 1.0, 0.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @minimum() {
  %a = util.unfoldable_constant dense<[0.5, -1.5, 2.0, -3.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.0, 0.5, -1.0, -2.0]> : tensor<4xf32>
  %u = arith.minimumf %a, %b : tensor<4xf32>
  %y = arith.maximumf %u, %a : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.5, -1.5, 2.0, -3.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @minnum() {
  %a = util.unfoldable_constant dense<[0.5, -1.5, 2.0, -3.0]> : tensor<4xf32>
  %b = util.unfoldable_constant dense<[2.0, 0.5, -1.0, -2.0]> : tensor<4xf32>
  %u = arith.minnumf %a, %b : tensor<4xf32>
  %y = arith.maxnumf %u, %b : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[2.0, 0.5, -1.0, -2.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @negate() {
  %a = util.unfoldable_constant dense<[0.5, -1.5, 2.0, -3.0]> : tensor<4xf32>
  %u = arith.negf %a : tensor<4xf32>
  %y = math.absf %u : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.5, 1.5, 2.0, 3.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}
