// TOSA element-wise ops: add and sub with a broadcast row, maximum, clamp, negate through sub, abs, select by greater, and reciprocal.
// Numbers: NumPy in float64, exact in f32; reciprocal of powers of two.
//
// Written by suites/generate.py from suites/generator/tosa.py; change it there.

func.func @add() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]]> : tensor<2x3xf32>
          %row = util.unfoldable_constant dense<[[10.0, 20.0, -30.0]]> : tensor<1x3xf32>
          %out = tosa.add %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[11.0, 18.0, -26.5], [6.0, 25.0, -30.25]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @sub() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]]> : tensor<2x3xf32>
          %row = util.unfoldable_constant dense<[[10.0, 20.0, -30.0]]> : tensor<1x3xf32>
          %out = tosa.sub %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[-9.0, -22.0, 33.5], [-14.0, -15.0, 29.75]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @maximum() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]]> : tensor<2x3xf32>
          %row = util.unfoldable_constant dense<[[10.0, 20.0, -30.0]]> : tensor<1x3xf32>
          %out = tosa.maximum %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[10.0, 20.0, 3.5], [10.0, 20.0, -0.25]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @clamp() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]]> : tensor<2x3xf32>
          %row = util.unfoldable_constant dense<[[10.0, 20.0, -30.0]]> : tensor<1x3xf32>
          %out = "tosa.clamp"(%x) {min_val = -1.0 : f32, max_val = 3.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[1.0, -1.0, 3.0], [-1.0, 3.0, -0.25]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @abs() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]]> : tensor<2x3xf32>
          %row = util.unfoldable_constant dense<[[10.0, 20.0, -30.0]]> : tensor<1x3xf32>
          %out = tosa.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[1.0, 2.0, 3.5], [4.0, 5.0, 0.25]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @floor() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]]> : tensor<2x3xf32>
          %row = util.unfoldable_constant dense<[[10.0, 20.0, -30.0]]> : tensor<1x3xf32>
          %out = tosa.floor %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[1.0, -2.0, 3.0], [-4.0, 5.0, -1.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @select() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 3.5], [-4.0, 5.0, -0.25]]> : tensor<2x3xf32>
          %row = util.unfoldable_constant dense<[[10.0, 20.0, -30.0]]> : tensor<1x3xf32>
          %mask = tosa.greater %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xi1>
          %out = tosa.select %mask, %x, %row : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[10.0, 20.0, 3.5], [10.0, 20.0, -0.25]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}

func.func @reciprocal() {
  %x = util.unfoldable_constant dense<[1.0, 2.0, -4.0, 0.5]> : tensor<4xf32>
          %out = tosa.reciprocal %x : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const(%out, dense<[1.0, 0.5, -0.25, 2.0]> : tensor<4xf32>) : tensor<4xf32>
  return
}
