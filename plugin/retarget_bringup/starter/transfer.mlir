// No dispatch: a constant goes to the device and comes back.

func.func @transfer() {
  %x = util.unfoldable_constant dense<[1.5, -2.0, 0.0, 3.25]> : tensor<4xf32>
  check.expect_eq_const(%x, dense<[1.5, -2.0, 0.0, 3.25]> : tensor<4xf32>) : tensor<4xf32>
  return
}
