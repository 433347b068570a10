// stablehlo.convolution with padding and with stride two, NHWC image and HWIO kernel, and stablehlo.reduce_window for max pooling.
// Numbers: NumPy, the sum or maximum over shifted views; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @image() -> tensor<1x9x11x3xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x9x11x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x9x11x3xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %index3 = linalg.index 3 : index
    %i3 = arith.index_cast %index3 : index to i32
    %p3 = arith.muli %i3, %factor3 : i32
    %t3 = arith.addi %t2, %p3 : i32
    %square = arith.muli %t3, %t3 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<1x9x11x3xf32>
  %hidden = util.optimization_barrier %made : tensor<1x9x11x3xf32>
  return %hidden : tensor<1x9x11x3xf32>
}

func.func private @kernel() -> tensor<3x3x3x4xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<3x3x3x4xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<3x3x3x4xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %index2 = linalg.index 2 : index
    %i2 = arith.index_cast %index2 : index to i32
    %p2 = arith.muli %i2, %factor2 : i32
    %t2 = arith.addi %t1, %p2 : i32
    %index3 = linalg.index 3 : index
    %i3 = arith.index_cast %index3 : index to i32
    %p3 = arith.muli %i3, %factor3 : i32
    %t3 = arith.addi %t2, %p3 : i32
    %square = arith.muli %t3, %t3 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<3x3x3x4xf32>
  %hidden = util.optimization_barrier %made : tensor<3x3x3x4xf32>
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
