// Hyperbolic functions and their inverses.
// Numbers: Python's module math.

func.func @sinh() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.sinh %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.2526123168081683, 0.5210953054937474, 0.82231673193583, 1.0265167257081753]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @cosh() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.cosh %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.0314130998795732, 1.1276259652063807, 1.2946832846768448, 1.4330863854487745]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @tanh() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9, -2.0]> : tensor<5xf32>
  %y = math.tanh %x : tensor<5xf32>
  check.expect_almost_eq_const(%y, dense<[0.24491866240370913, 0.46211715726000974, 0.6351489523872873, 0.7162978701990245, -0.9640275800758169]> : tensor<5xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<5xf32>
  return
}

func.func @asinh() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.asinh %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.24746646154726346, 0.48121182505960347, 0.6931471805599453, 0.8088669356527824]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @acosh() {
  %x = util.unfoldable_constant dense<[1.5, 2.0, 3.25, 8.0]> : tensor<4xf32>
  %y = math.acosh %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.9624236501192069, 1.3169578969248166, 1.8472460857138377, 2.7686593833135738]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @atanh() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.atanh %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.25541281188299536, 0.5493061443340548, 0.9729550745276566, 1.4722194895832204]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}
