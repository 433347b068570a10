// stablehlo.convolution with padding and with stride two, NHWC image and HWIO kernel, and stablehlo.reduce_window for max pooling.
// Numbers: NumPy, the sum or maximum over shifted views; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @image() -> tensor<1x9x11x3xf32> {
  %seed = util.unfoldable_constant dense<3> : tensor<i32>
  %modulus = stablehlo.constant dense<11> : tensor<1x9x11x3xi32>
  %shift = stablehlo.constant dense<5> : tensor<1x9x11x3xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<1x9x11x3xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<1x9x11x3xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<1x9x11x3xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<1x9x11x3xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<1x9x11x3xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<1x9x11x3xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<1x9x11x3xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<1x9x11x3xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<1x9x11x3xi32>
  %i2 = stablehlo.iota dim = 2 : tensor<1x9x11x3xi32>
  %factor2 = stablehlo.constant dense<7> : tensor<1x9x11x3xi32>
  %p2 = stablehlo.multiply %i2, %factor2 : tensor<1x9x11x3xi32>
  %t2 = stablehlo.add %t1, %p2 : tensor<1x9x11x3xi32>
  %i3 = stablehlo.iota dim = 3 : tensor<1x9x11x3xi32>
  %factor3 = stablehlo.constant dense<5> : tensor<1x9x11x3xi32>
  %p3 = stablehlo.multiply %i3, %factor3 : tensor<1x9x11x3xi32>
  %t3 = stablehlo.add %t2, %p3 : tensor<1x9x11x3xi32>
  %square = stablehlo.multiply %t3, %t3 : tensor<1x9x11x3xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<1x9x11x3xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<1x9x11x3xi32>
  %value = stablehlo.convert %number : (tensor<1x9x11x3xi32>) -> tensor<1x9x11x3xf32>
  %hidden = util.optimization_barrier %value : tensor<1x9x11x3xf32>
  return %hidden : tensor<1x9x11x3xf32>
}

func.func private @kernel() -> tensor<3x3x3x4xf32> {
  %seed = util.unfoldable_constant dense<8> : tensor<i32>
  %modulus = stablehlo.constant dense<7> : tensor<3x3x3x4xi32>
  %shift = stablehlo.constant dense<3> : tensor<3x3x3x4xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<3x3x3x4xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<3x3x3x4xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<3x3x3x4xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<3x3x3x4xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<3x3x3x4xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<3x3x3x4xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<3x3x3x4xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<3x3x3x4xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<3x3x3x4xi32>
  %i2 = stablehlo.iota dim = 2 : tensor<3x3x3x4xi32>
  %factor2 = stablehlo.constant dense<7> : tensor<3x3x3x4xi32>
  %p2 = stablehlo.multiply %i2, %factor2 : tensor<3x3x3x4xi32>
  %t2 = stablehlo.add %t1, %p2 : tensor<3x3x3x4xi32>
  %i3 = stablehlo.iota dim = 3 : tensor<3x3x3x4xi32>
  %factor3 = stablehlo.constant dense<5> : tensor<3x3x3x4xi32>
  %p3 = stablehlo.multiply %i3, %factor3 : tensor<3x3x3x4xi32>
  %t3 = stablehlo.add %t2, %p3 : tensor<3x3x3x4xi32>
  %square = stablehlo.multiply %t3, %t3 : tensor<3x3x3x4xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<3x3x3x4xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<3x3x3x4xi32>
  %value = stablehlo.convert %number : (tensor<3x3x3x4xi32>) -> tensor<3x3x3x4xf32>
  %hidden = util.optimization_barrier %value : tensor<3x3x3x4xf32>
  return %hidden : tensor<3x3x3x4xf32>
}

func.func @padded() {
  %image = call @image() : () -> tensor<1x9x11x3xf32>
          %kernel = call @kernel() : () -> tensor<3x3x3x4xf32>
          %out = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<1x9x11x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x9x11x4xf32>
  check.expect_eq_const(%out, dense<
      [[[[-11.0, 9.0, -17.0, 2.0],
         [24.0, 50.0, -4.0, 51.0],
         [60.0, 9.0, 65.0, 32.0],
         [41.0, -48.0, 26.0, 4.0],
         [0.0, 22.0, 0.0, 11.0],
         [36.0, 54.0, 20.0, 53.0],
         [61.0, -29.0, 53.0, 20.0],
         [20.0, -29.0, 11.0, 0.0],
         [1.0, 54.0, 4.0, 26.0],
         [70.0, 22.0, 32.0, 65.0],
         [61.0, -16.0, 58.0, 24.0]],
        [[12.0, 26.0, -28.0, 39.0],
         [54.0, 26.0, 37.0, 73.0],
         [95.0, -33.0, 90.0, 16.0],
         [22.0, -9.0, 28.0, -28.0],
         [22.0, 65.0, -6.0, 40.0],
         [95.0, -9.0, 54.0, 88.0],
         [54.0, -33.0, 87.0, -27.0],
         [20.0, 26.0, 5.0, -8.0],
         [48.0, 36.0, -5.0, 79.0],
         [83.0, -14.0, 101.0, 36.0],
         [82.0, -15.0, 66.0, 3.0]],
        [[36.0, 45.0, 5.0, 56.0],
         [95.0, -9.0, 54.0, 88.0],
         [54.0, -33.0, 87.0, -27.0],
         [20.0, 26.0, 5.0, -8.0],
         [48.0, 36.0, -5.0, 79.0],
         [83.0, -14.0, 101.0, 36.0],
         [48.0, -25.0, 48.0, -27.0],
         [20.0, 36.0, -10.0, 22.0],
         [54.0, 26.0, 37.0, 73.0],
         [95.0, -33.0, 90.0, 16.0],
         [36.0, -15.0, 46.0, -26.0]],
        [[82.0, 28.0, 26.0, 83.0],
         [83.0, -14.0, 101.0, 36.0],
         [48.0, -25.0, 48.0, -27.0],
         [20.0, 36.0, -10.0, 22.0],
         [54.0, 26.0, 37.0, 73.0],
         [95.0, -33.0, 90.0, 16.0],
         [22.0, -9.0, 28.0, -28.0],
         [22.0, 65.0, -6.0, 40.0],
         [95.0, -9.0, 54.0, 88.0],
         [54.0, -33.0, 87.0, -27.0],
         [12.0, 7.0, 4.0, -25.0]],
        [[84.0, 30.0, 68.0, 65.0],
         [95.0, -33.0, 90.0, 16.0],
         [22.0, -9.0, 28.0, -28.0],
         [22.0, 65.0, -6.0, 40.0],
         [95.0, -9.0, 54.0, 88.0],
         [54.0, -33.0, 87.0, -27.0],
         [20.0, 26.0, 5.0, -8.0],
         [48.0, 36.0, -5.0, 79.0],
         [83.0, -14.0, 101.0, 36.0],
         [48.0, -25.0, 48.0, -27.0],
         [-23.0, 18.0, -16.0, -27.0]],
        [[97.0, 7.0, 65.0, 68.0],
         [54.0, -33.0, 87.0, -27.0],
         [20.0, 26.0, 5.0, -8.0],
         [48.0, 36.0, -5.0, 79.0],
         [83.0, -14.0, 101.0, 36.0],
         [48.0, -25.0, 48.0, -27.0],
         [20.0, 36.0, -10.0, 22.0],
         [54.0, 26.0, 37.0, 73.0],
         [95.0, -33.0, 90.0, 16.0],
         [22.0, -9.0, 28.0, -28.0],
         [-25.0, 40.0, -25.0, -10.0]],
        [[66.0, 3.0, 83.0, 26.0],
         [48.0, -25.0, 48.0, -27.0],
         [20.0, 36.0, -10.0, 22.0],
         [54.0, 26.0, 37.0, 73.0],
         [95.0, -33.0, 90.0, 16.0],
         [22.0, -9.0, 28.0, -28.0],
         [22.0, 65.0, -6.0, 40.0],
         [95.0, -9.0, 54.0, 88.0],
         [54.0, -33.0, 87.0, -27.0],
         [20.0, 26.0, 5.0, -8.0],
         [-16.0, 18.0, -23.0, 15.0]],
        [[46.0, -26.0, 56.0, 5.0],
         [22.0, -9.0, 28.0, -28.0],
         [22.0, 65.0, -6.0, 40.0],
         [95.0, -9.0, 54.0, 88.0],
         [54.0, -33.0, 87.0, -27.0],
         [20.0, 26.0, 5.0, -8.0],
         [48.0, 36.0, -5.0, 79.0],
         [83.0, -14.0, 101.0, 36.0],
         [48.0, -25.0, 48.0, -27.0],
         [20.0, 36.0, -10.0, 22.0],
         [4.0, 7.0, 12.0, 26.0]],
        [[13.0, -28.0, 22.0, -12.0],
         [0.0, 39.0, 20.0, -29.0],
         [41.0, 6.0, 1.0, 54.0],
         [60.0, -27.0, 70.0, 22.0],
         [24.0, -5.0, 40.0, -37.0],
         [10.0, 28.0, 10.0, -2.0],
         [40.0, -5.0, 24.0, 50.0],
         [70.0, -27.0, 60.0, 9.0],
         [1.0, 6.0, 41.0, -48.0],
         [20.0, 39.0, 0.0, 22.0],
         [22.0, -28.0, 13.0, 26.0]]]]> : tensor<1x9x11x4xf32>) : tensor<1x9x11x4xf32>
  return
}

func.func @stride_two() {
  %image = call @image() : () -> tensor<1x9x11x3xf32>
          %kernel = call @kernel() : () -> tensor<3x3x3x4xf32>
          %out = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {stride = [2, 2], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<1x9x11x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x5x4xf32>
  check.expect_eq_const(%out, dense<
      [[[[54.0, 26.0, 37.0, 73.0],
         [22.0, -9.0, 28.0, -28.0],
         [95.0, -9.0, 54.0, 88.0],
         [20.0, 26.0, 5.0, -8.0],
         [83.0, -14.0, 101.0, 36.0]],
        [[83.0, -14.0, 101.0, 36.0],
         [20.0, 36.0, -10.0, 22.0],
         [95.0, -33.0, 90.0, 16.0],
         [22.0, 65.0, -6.0, 40.0],
         [54.0, -33.0, 87.0, -27.0]],
        [[54.0, -33.0, 87.0, -27.0],
         [48.0, 36.0, -5.0, 79.0],
         [48.0, -25.0, 48.0, -27.0],
         [54.0, 26.0, 37.0, 73.0],
         [22.0, -9.0, 28.0, -28.0]],
        [[22.0, -9.0, 28.0, -28.0],
         [95.0, -9.0, 54.0, 88.0],
         [20.0, 26.0, 5.0, -8.0],
         [83.0, -14.0, 101.0, 36.0],
         [20.0, 36.0, -10.0, 22.0]]]]> : tensor<1x4x5x4xf32>) : tensor<1x4x5x4xf32>
  return
}

func.func @max_pooling() {
  %image = call @image() : () -> tensor<1x9x11x3xf32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %out = "stablehlo.reduce_window"(%image, %lowest) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>} : (tensor<1x9x11x3xf32>, tensor<f32>) -> tensor<1x4x5x3xf32>
  check.expect_eq_const(%out, dense<
      [[[[4.0, 4.0, 4.0], [4.0, 4.0, 4.0], [0.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 0.0, 4.0]],
        [[4.0, 0.0, 4.0], [4.0, 4.0, 4.0], [4.0, 4.0, 0.0], [4.0, 4.0, 4.0], [4.0, 4.0, 4.0]],
        [[4.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 4.0, 4.0]],
        [[4.0, 4.0, 4.0], [0.0, 4.0, 4.0], [4.0, 4.0, 4.0], [4.0, 0.0, 4.0], [4.0, 4.0, 4.0]]]]> : tensor<1x4x5x3xf32>) : tensor<1x4x5x3xf32>
  return
}
