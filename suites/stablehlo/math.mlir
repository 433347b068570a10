// StableHLO element-wise maths in f32: exponential, log, tanh, logistic, rsqrt, power, remainder, clamp, sort.
// Numbers: NumPy in float64. rtol 1e-5, atol 1e-6 for the approximated functions, exact for the others.
//
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func @exponential_of_23() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75,
       5.0, 5.25, 5.5, 5.75]> : tensor<23xf32>
          %out = stablehlo.exponential %x : tensor<23xf32>
  check.expect_almost_eq_const(%out, dense<
      [1.2840254, 1.6487212, 2.117, 2.7182817, 3.4903429, 4.481689, 5.754603, 7.389056, 9.487736, 12.182494,
       15.642632, 20.085537, 25.79034, 33.11545, 42.521084, 54.59815, 70.105415, 90.01713, 115.58428, 148.41316,
       190.56627, 244.69193, 314.19067]> : tensor<23xf32>, atol 1.00e-06, rtol 1.00e-05) : tensor<23xf32>
  return
}

func.func @log_of_23() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75,
       5.0, 5.25, 5.5, 5.75]> : tensor<23xf32>
          %out = stablehlo.log %x : tensor<23xf32>
  check.expect_almost_eq_const(%out, dense<
      [-1.3862944, -0.6931472, -0.2876821, 0.0, 0.22314355, 0.4054651, 0.5596158, 0.6931472, 0.8109302, 0.91629076,
       1.011601, 1.0986123, 1.178655, 1.2527629, 1.3217559, 1.3862944, 1.446919, 1.5040774, 1.5581446, 1.609438,
       1.658228, 1.704748, 1.7491999]> : tensor<23xf32>, atol 1.00e-06, rtol 1.00e-05) : tensor<23xf32>
  return
}

func.func @tanh_of_23() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75,
       5.0, 5.25, 5.5, 5.75]> : tensor<23xf32>
          %out = stablehlo.tanh %x : tensor<23xf32>
  check.expect_almost_eq_const(%out, dense<
      [0.24491866, 0.46211717, 0.63514894, 0.7615942, 0.84828365, 0.90514827, 0.94137555, 0.9640276, 0.9780261,
       0.9866143, 0.99185973, 0.9950548, 0.99699765, 0.9981779, 0.99889445, 0.9993293, 0.99959314, 0.99975324,
       0.99985033, 0.9999092, 0.9999449, 0.9999666, 0.99997973]> : tensor<23xf32>, atol 1.00e-06, rtol 1.00e-05) : tensor<23xf32>
  return
}

func.func @logistic_of_23() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75,
       5.0, 5.25, 5.5, 5.75]> : tensor<23xf32>
          %out = stablehlo.logistic %x : tensor<23xf32>
  check.expect_almost_eq_const(%out, dense<
      [0.5621765, 0.62245935, 0.6791787, 0.7310586, 0.7772999, 0.8175745, 0.8519528, 0.8807971, 0.9046505,
       0.9241418, 0.93991333, 0.95257413, 0.9626731, 0.97068775, 0.97702265, 0.98201376, 0.98593634, 0.9890131,
       0.99142253, 0.9933072, 0.9947799, 0.99592984, 0.9968273]> : tensor<23xf32>, atol 1.00e-06, rtol 1.00e-05) : tensor<23xf32>
  return
}

func.func @rsqrt_of_23() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75,
       5.0, 5.25, 5.5, 5.75]> : tensor<23xf32>
          %out = stablehlo.rsqrt %x : tensor<23xf32>
  check.expect_almost_eq_const(%out, dense<
      [2.0, 1.4142135, 1.1547005, 1.0, 0.8944272, 0.8164966, 0.75592893, 0.70710677, 0.6666667, 0.6324555,
       0.6030227, 0.57735026, 0.5547002, 0.5345225, 0.5163978, 0.5, 0.48507124, 0.47140452, 0.45883146, 0.4472136,
       0.4364358, 0.42640144, 0.4170288]> : tensor<23xf32>, atol 1.00e-06, rtol 1.00e-05) : tensor<23xf32>
  return
}

func.func @clamp() {
  %x = util.unfoldable_constant dense<
      [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75,
       5.0, 5.25, 5.5, 5.75]> : tensor<23xf32>
          %low = stablehlo.constant dense<1.5> : tensor<f32>
          %high = stablehlo.constant dense<4.0> : tensor<f32>
          %out = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<23xf32>, tensor<f32>) -> tensor<23xf32>
  check.expect_eq_const(%out, dense<
      [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, 3.75, 4.0, 4.0, 4.0, 4.0, 4.0,
       4.0, 4.0, 4.0]> : tensor<23xf32>) : tensor<23xf32>
  return
}

func.func @remainder() {
  %a = util.unfoldable_constant dense<[7, -7, 7, -7]> : tensor<4xi32>
          %b = util.unfoldable_constant dense<[3, 3, -3, -3]> : tensor<4xi32>
          %out = stablehlo.remainder %a, %b : tensor<4xi32>
  check.expect_eq_const(%out, dense<[1, -1, 1, -1]> : tensor<4xi32>) : tensor<4xi32>
  return
}
