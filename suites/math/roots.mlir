// Roots, and the error function.
// Numbers: Python's module math.

func.func @sqrt() {
  %x = util.unfoldable_constant dense<[1.5, 2.0, 3.25, 8.0]> : tensor<4xf32>
  %y = math.sqrt %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.224744871391589, 1.4142135623730951, 1.8027756377319946, 2.8284271247461903]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @rsqrt() {
  %x = util.unfoldable_constant dense<[1.5, 2.0, 3.25, 8.0]> : tensor<4xf32>
  %y = math.rsqrt %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.8164965809277261, 0.7071067811865475, 0.5547001962252291, 0.35355339059327373]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @cbrt() {
  %x = util.unfoldable_constant dense<[1.5, 2.0, 3.25, 8.0]> : tensor<4xf32>
  %y = math.cbrt %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.1447142425533319, 1.2599210498948732, 1.4812480342036851, 2.0]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @erf() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9, -1.5]> : tensor<5xf32>
  %y = math.erf %x : tensor<5xf32>
  check.expect_almost_eq_const(%y, dense<[0.2763263901682369, 0.5204998778130465, 0.7111556336535151, 0.7969082124228322, -0.9661051464753108]> : tensor<5xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<5xf32>
  return
}
