// Trigonometric functions and their inverses.
// Numbers: Python's module math.

func.func @sin() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9, -2.0]> : tensor<5xf32>
  %y = math.sin %x : tensor<5xf32>
  check.expect_almost_eq_const(%y, dense<[0.24740395925452294, 0.479425538604203, 0.6816387600233341, 0.7833269096274834, -0.9092974268256817]> : tensor<5xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<5xf32>
  return
}

func.func @cos() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9, -2.0]> : tensor<5xf32>
  %y = math.cos %x : tensor<5xf32>
  check.expect_almost_eq_const(%y, dense<[0.9689124217106447, 0.8775825618903728, 0.7316888688738209, 0.6216099682706644, -0.4161468365471424]> : tensor<5xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<5xf32>
  return
}

func.func @tan() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.tan %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.25534192122103627, 0.5463024898437905, 0.9315964599440725, 1.2601582175503392]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @asin() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.asin %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[0.25268025514207865, 0.5235987755982989, 0.848062078981481, 1.1197695149986342]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @acos() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9]> : tensor<4xf32>
  %y = math.acos %x : tensor<4xf32>
  check.expect_almost_eq_const(%y, dense<[1.318116071652818, 1.0471975511965979, 0.7227342478134157, 0.45102681179626236]> : tensor<4xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<4xf32>
  return
}

func.func @atan() {
  %x = util.unfoldable_constant dense<[0.25, 0.5, 0.75, 0.9, -3.0]> : tensor<5xf32>
  %y = math.atan %x : tensor<5xf32>
  check.expect_almost_eq_const(%y, dense<[0.24497866312686414, 0.4636476090008061, 0.6435011087932844, 0.7328151017865066, -1.2490457723982544]> : tensor<5xf32>, atol 1.0e-4, rtol 1.0e-4) : tensor<5xf32>
  return
}
