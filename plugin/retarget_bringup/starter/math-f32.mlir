// Elementary functions. Numbers: NumPy in f64; rtol for what a device's library may lose.

func.func @math_f32() {
  %x = util.unfoldable_constant dense<[0.25, 1.0, 2.0]> : tensor<3xf32>
  %root = math.sqrt %x : tensor<3xf32>
  check.expect_almost_eq_const(%root, dense<[0.5, 1.0, 1.41421356]> : tensor<3xf32>, atol 0.0, rtol 1.0e-05) : tensor<3xf32>
  %power = math.exp %x : tensor<3xf32>
  check.expect_almost_eq_const(%power, dense<[1.28402542, 2.71828183, 7.3890561]> : tensor<3xf32>, atol 0.0, rtol 1.0e-05) : tensor<3xf32>
  %curve = math.tanh %x : tensor<3xf32>
  check.expect_almost_eq_const(%curve, dense<[0.24491866, 0.76159416, 0.96402758]> : tensor<3xf32>, atol 0.0, rtol 1.0e-05) : tensor<3xf32>
  return
}
