// Modules that check themselves with IREE's dialect `check` run on XLA too, where the rest is StableHLO.

func.func @doubles_until_large() {
  %start = util.unfoldable_constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<1000> : tensor<i32>
  %out = stablehlo.while(%value = %start) : tensor<i32>
  cond {
    %more = stablehlo.compare LT, %value, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %value, %value : tensor<i32>
    stablehlo.return %next : tensor<i32>
  }
  check.expect_eq_const(%out, dense<1024> : tensor<i32>) : tensor<i32>
  return
}

func.func @sine_is_odd() {
  %x = util.unfoldable_constant dense<[-1.0, 0.25, 3.0]> : tensor<3xf32>
  %minus = stablehlo.negate %x : tensor<3xf32>
  %left = stablehlo.sine %minus : tensor<3xf32>
  %sine = stablehlo.sine %x : tensor<3xf32>
  %right = stablehlo.negate %sine : tensor<3xf32>
  check.expect_almost_eq(%left, %right, atol 1.0e-06) : tensor<3xf32>
  return
}
