// tosa.conv2d (kernel OHWI, padding of one, bias) and tosa.max_pool2d.
// Numbers: NumPy, the sum or maximum over shifted views of the padded image; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tosa.py; change it there.

func.func private @image() -> tensor<1x8x9x4xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x8x9x4xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x8x9x4xf32>) {
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
  } -> tensor<1x8x9x4xf32>
  %hidden = util.optimization_barrier %made : tensor<1x8x9x4xf32>
  return %hidden : tensor<1x8x9x4xf32>
}

func.func private @kernel() -> tensor<5x3x3x4xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<5x3x3x4xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<5x3x3x4xf32>) {
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
  } -> tensor<5x3x3x4xf32>
  %hidden = util.optimization_barrier %made : tensor<5x3x3x4xf32>
  return %hidden : tensor<5x3x3x4xf32>
}

func.func @conv2d_padded() {
  %image = call @image() : () -> tensor<1x8x9x4xf32>
  %kernel = call @kernel() : () -> tensor<5x3x3x4xf32>
  %bias = util.unfoldable_constant dense<[1.0, -2.0, 3.0, 0.0, 100.0]> : tensor<5xf32>
  %zi = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %zk = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %out = "tosa.conv2d"(%image, %kernel, %bias, %zi, %zk) {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
    : (tensor<1x8x9x4xf32>, tensor<5x3x3x4xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x9x5xf32>
  check.expect_eq_const(%out, dense<
      [[[[24.0, -7.0, 11.0, -15.0, 75.0],
         [42.0, 24.0, 42.0, 3.0, 102.0],
         [40.0, 58.0, 63.0, 39.0, 132.0],
         [4.0, 37.0, 29.0, 41.0, 114.0],
         [0.0, 27.0, 17.0, 31.0, 103.0],
         [17.0, 50.0, 38.0, 42.0, 110.0],
         [22.0, 40.0, 48.0, 30.0, 146.0],
         [4.0, 8.0, 14.0, 6.0, 123.0],
         [-19.0, -28.0, -23.0, -20.0, 106.0]],
        [[-8.0, 28.0, -1.0, 8.0, 75.0],
         [27.0, 63.0, 47.0, 54.0, 111.0],
         [51.0, 61.0, 75.0, 63.0, 164.0],
         [9.0, 10.0, 41.0, 23.0, 151.0],
         [11.0, 9.0, 33.0, 11.0, 138.0],
         [46.0, 47.0, 73.0, 38.0, 158.0],
         [59.0, 36.0, 73.0, 49.0, 145.0],
         [39.0, 9.0, 33.0, 11.0, 110.0],
         [16.0, -25.0, -7.0, -23.0, 73.0]],
        [[23.0, 13.0, 33.0, 4.0, 121.0],
         [46.0, 47.0, 73.0, 38.0, 158.0],
         [59.0, 36.0, 73.0, 49.0, 145.0],
         [39.0, 9.0, 33.0, 11.0, 110.0],
         [52.0, 21.0, 41.0, 12.0, 108.0],
         [65.0, 61.0, 75.0, 63.0, 150.0],
         [12.0, 52.0, 47.0, 65.0, 126.0],
         [3.0, 38.0, 23.0, 40.0, 102.0],
         [-8.0, 28.0, -1.0, 8.0, 75.0]],
        [[54.0, 51.0, 51.0, 31.0, 123.0],
         [65.0, 61.0, 75.0, 63.0, 150.0],
         [12.0, 52.0, 47.0, 65.0, 126.0],
         [3.0, 38.0, 23.0, 40.0, 102.0],
         [27.0, 63.0, 47.0, 54.0, 111.0],
         [51.0, 61.0, 75.0, 63.0, 164.0],
         [9.0, 10.0, 41.0, 23.0, 151.0],
         [11.0, 9.0, 33.0, 11.0, 138.0],
         [23.0, 13.0, 33.0, 4.0, 121.0]],
        [[63.0, 65.0, 75.0, 56.0, 147.0],
         [51.0, 61.0, 75.0, 63.0, 164.0],
         [9.0, 10.0, 41.0, 23.0, 151.0],
         [11.0, 9.0, 33.0, 11.0, 138.0],
         [46.0, 47.0, 73.0, 38.0, 158.0],
         [59.0, 36.0, 73.0, 49.0, 145.0],
         [39.0, 9.0, 33.0, 11.0, 110.0],
         [52.0, 21.0, 41.0, 12.0, 108.0],
         [54.0, 51.0, 51.0, 31.0, 123.0]],
        [[61.0, 66.0, 83.0, 68.0, 160.0],
         [59.0, 36.0, 73.0, 49.0, 145.0],
         [39.0, 9.0, 33.0, 11.0, 110.0],
         [52.0, 21.0, 41.0, 12.0, 108.0],
         [65.0, 61.0, 75.0, 63.0, 150.0],
         [12.0, 52.0, 47.0, 65.0, 126.0],
         [3.0, 38.0, 23.0, 40.0, 102.0],
         [27.0, 63.0, 47.0, 54.0, 111.0],
         [63.0, 65.0, 75.0, 56.0, 147.0]],
        [[48.0, 54.0, 75.0, 67.0, 162.0],
         [12.0, 52.0, 47.0, 65.0, 126.0],
         [3.0, 38.0, 23.0, 40.0, 102.0],
         [27.0, 63.0, 47.0, 54.0, 111.0],
         [51.0, 61.0, 75.0, 63.0, 164.0],
         [9.0, 10.0, 41.0, 23.0, 151.0],
         [11.0, 9.0, 33.0, 11.0, 138.0],
         [46.0, 47.0, 73.0, 38.0, 158.0],
         [61.0, 66.0, 83.0, 68.0, 160.0]],
        [[23.0, 22.0, 47.0, 47.0, 133.0],
         [3.0, 1.0, 42.0, 26.0, 141.0],
         [2.0, -3.0, 32.0, 14.0, 131.0],
         [19.0, 14.0, 55.0, 35.0, 142.0],
         [32.0, 19.0, 45.0, 45.0, 130.0],
         [19.0, 1.0, 13.0, 11.0, 106.0],
         [24.0, 4.0, 14.0, 10.0, 103.0],
         [47.0, 28.0, 48.0, 42.0, 121.0],
         [34.0, 32.0, 59.0, 57.0, 137.0]]]]> : tensor<1x8x9x5xf32>) : tensor<1x8x9x5xf32>
  return
}

func.func @max_pool2d() {
  %image = call @image() : () -> tensor<1x8x9x4xf32>
  %out = "tosa.max_pool2d"(%image) {kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 3>} : (tensor<1x8x9x4xf32>) -> tensor<1x4x3x4xf32>
  check.expect_eq_const(%out, dense<
      [[[[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]],
        [[0.0, 0.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]],
        [[4.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]],
        [[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 4.0]]]]> : tensor<1x4x3x4xf32>) : tensor<1x4x3x4xf32>
  return
}
