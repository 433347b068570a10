// linalg.conv_2d_nchw_fchw, the layout of PyTorch and ONNX, with stride one and stride two.
// Numbers: NumPy, the sum over shifted views in float64 after moving the channels last; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/convolutions.py; change it there.

func.func private @image() -> tensor<1x4x14x11xf32> {
  %seed = util.unfoldable_constant 1 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x4x14x11xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x4x14x11xf32>) {
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
  } -> tensor<1x4x14x11xf32>
  %hidden = util.optimization_barrier %made : tensor<1x4x14x11xf32>
  return %hidden : tensor<1x4x14x11xf32>
}

func.func private @kernel() -> tensor<6x4x3x3xf32> {
  %seed = util.unfoldable_constant 2 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<6x4x3x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<6x4x3x3xf32>) {
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
  } -> tensor<6x4x3x3xf32>
  %hidden = util.optimization_barrier %made : tensor<6x4x3x3xf32>
  return %hidden : tensor<6x4x3x3xf32>
}

func.func @stride_one() {
  %image = call @image() : () -> tensor<1x4x14x11xf32>
  %kernel = call @kernel() : () -> tensor<6x4x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x6x12x9xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x6x12x9xf32>) -> tensor<1x6x12x9xf32>
  %out = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x4x14x11xf32>, tensor<6x4x3x3xf32>) outs(%init : tensor<1x6x12x9xf32>) -> tensor<1x6x12x9xf32>
  check.expect_eq_const(%out, dense<
      [[[[24.0, 11.0, 20.0, 40.0, 38.0, 69.0, 45.0, 43.0, 41.0],
         [41.0, 17.0, 15.0, 24.0, 11.0, 20.0, 40.0, 38.0, 69.0],
         [69.0, 45.0, 43.0, 41.0, 17.0, 15.0, 24.0, 11.0, 20.0],
         [20.0, 40.0, 38.0, 69.0, 45.0, 43.0, 41.0, 17.0, 15.0],
         [15.0, 24.0, 11.0, 20.0, 40.0, 38.0, 69.0, 45.0, 43.0],
         [43.0, 41.0, 17.0, 15.0, 24.0, 11.0, 20.0, 40.0, 38.0],
         [38.0, 69.0, 45.0, 43.0, 41.0, 17.0, 15.0, 24.0, 11.0],
         [11.0, 20.0, 40.0, 38.0, 69.0, 45.0, 43.0, 41.0, 17.0],
         [17.0, 15.0, 24.0, 11.0, 20.0, 40.0, 38.0, 69.0, 45.0],
         [45.0, 43.0, 41.0, 17.0, 15.0, 24.0, 11.0, 20.0, 40.0],
         [40.0, 38.0, 69.0, 45.0, 43.0, 41.0, 17.0, 15.0, 24.0],
         [24.0, 11.0, 20.0, 40.0, 38.0, 69.0, 45.0, 43.0, 41.0]],
        [[13.0, 34.0, 30.0, 34.0, 68.0, 55.0, 50.0, 53.0, 31.0],
         [31.0, 39.0, 22.0, 13.0, 34.0, 30.0, 34.0, 68.0, 55.0],
         [55.0, 50.0, 53.0, 31.0, 39.0, 22.0, 13.0, 34.0, 30.0],
         [30.0, 34.0, 68.0, 55.0, 50.0, 53.0, 31.0, 39.0, 22.0],
         [22.0, 13.0, 34.0, 30.0, 34.0, 68.0, 55.0, 50.0, 53.0],
         [53.0, 31.0, 39.0, 22.0, 13.0, 34.0, 30.0, 34.0, 68.0],
         [68.0, 55.0, 50.0, 53.0, 31.0, 39.0, 22.0, 13.0, 34.0],
         [34.0, 30.0, 34.0, 68.0, 55.0, 50.0, 53.0, 31.0, 39.0],
         [39.0, 22.0, 13.0, 34.0, 30.0, 34.0, 68.0, 55.0, 50.0],
         [50.0, 53.0, 31.0, 39.0, 22.0, 13.0, 34.0, 30.0, 34.0],
         [34.0, 68.0, 55.0, 50.0, 53.0, 31.0, 39.0, 22.0, 13.0],
         [13.0, 34.0, 30.0, 34.0, 68.0, 55.0, 50.0, 53.0, 31.0]],
        [[42.0, 19.0, 27.0, 66.0, 59.0, 72.0, 72.0, 59.0, 66.0],
         [66.0, 27.0, 19.0, 42.0, 19.0, 27.0, 66.0, 59.0, 72.0],
         [72.0, 72.0, 59.0, 66.0, 27.0, 19.0, 42.0, 19.0, 27.0],
         [27.0, 66.0, 59.0, 72.0, 72.0, 59.0, 66.0, 27.0, 19.0],
         [19.0, 42.0, 19.0, 27.0, 66.0, 59.0, 72.0, 72.0, 59.0],
         [59.0, 66.0, 27.0, 19.0, 42.0, 19.0, 27.0, 66.0, 59.0],
         [59.0, 72.0, 72.0, 59.0, 66.0, 27.0, 19.0, 42.0, 19.0],
         [19.0, 27.0, 66.0, 59.0, 72.0, 72.0, 59.0, 66.0, 27.0],
         [27.0, 19.0, 42.0, 19.0, 27.0, 66.0, 59.0, 72.0, 72.0],
         [72.0, 59.0, 66.0, 27.0, 19.0, 42.0, 19.0, 27.0, 66.0],
         [66.0, 59.0, 72.0, 72.0, 59.0, 66.0, 27.0, 19.0, 42.0],
         [42.0, 19.0, 27.0, 66.0, 59.0, 72.0, 72.0, 59.0, 66.0]],
        [[13.0, 22.0, 39.0, 31.0, 53.0, 50.0, 55.0, 68.0, 34.0],
         [34.0, 30.0, 34.0, 13.0, 22.0, 39.0, 31.0, 53.0, 50.0],
         [50.0, 55.0, 68.0, 34.0, 30.0, 34.0, 13.0, 22.0, 39.0],
         [39.0, 31.0, 53.0, 50.0, 55.0, 68.0, 34.0, 30.0, 34.0],
         [34.0, 13.0, 22.0, 39.0, 31.0, 53.0, 50.0, 55.0, 68.0],
         [68.0, 34.0, 30.0, 34.0, 13.0, 22.0, 39.0, 31.0, 53.0],
         [53.0, 50.0, 55.0, 68.0, 34.0, 30.0, 34.0, 13.0, 22.0],
         [22.0, 39.0, 31.0, 53.0, 50.0, 55.0, 68.0, 34.0, 30.0],
         [30.0, 34.0, 13.0, 22.0, 39.0, 31.0, 53.0, 50.0, 55.0],
         [55.0, 68.0, 34.0, 30.0, 34.0, 13.0, 22.0, 39.0, 31.0],
         [31.0, 53.0, 50.0, 55.0, 68.0, 34.0, 30.0, 34.0, 13.0],
         [13.0, 22.0, 39.0, 31.0, 53.0, 50.0, 55.0, 68.0, 34.0]],
        [[24.0, 15.0, 17.0, 41.0, 43.0, 45.0, 69.0, 38.0, 40.0],
         [40.0, 20.0, 11.0, 24.0, 15.0, 17.0, 41.0, 43.0, 45.0],
         [45.0, 69.0, 38.0, 40.0, 20.0, 11.0, 24.0, 15.0, 17.0],
         [17.0, 41.0, 43.0, 45.0, 69.0, 38.0, 40.0, 20.0, 11.0],
         [11.0, 24.0, 15.0, 17.0, 41.0, 43.0, 45.0, 69.0, 38.0],
         [38.0, 40.0, 20.0, 11.0, 24.0, 15.0, 17.0, 41.0, 43.0],
         [43.0, 45.0, 69.0, 38.0, 40.0, 20.0, 11.0, 24.0, 15.0],
         [15.0, 17.0, 41.0, 43.0, 45.0, 69.0, 38.0, 40.0, 20.0],
         [20.0, 11.0, 24.0, 15.0, 17.0, 41.0, 43.0, 45.0, 69.0],
         [69.0, 38.0, 40.0, 20.0, 11.0, 24.0, 15.0, 17.0, 41.0],
         [41.0, 43.0, 45.0, 69.0, 38.0, 40.0, 20.0, 11.0, 24.0],
         [24.0, 15.0, 17.0, 41.0, 43.0, 45.0, 69.0, 38.0, 40.0]],
        [[5.0, 5.0, 45.0, 26.0, 36.0, 64.0, 44.0, 53.0, 14.0],
         [14.0, 4.0, 34.0, 5.0, 5.0, 45.0, 26.0, 36.0, 64.0],
         [64.0, 44.0, 53.0, 14.0, 4.0, 34.0, 5.0, 5.0, 45.0],
         [45.0, 26.0, 36.0, 64.0, 44.0, 53.0, 14.0, 4.0, 34.0],
         [34.0, 5.0, 5.0, 45.0, 26.0, 36.0, 64.0, 44.0, 53.0],
         [53.0, 14.0, 4.0, 34.0, 5.0, 5.0, 45.0, 26.0, 36.0],
         [36.0, 64.0, 44.0, 53.0, 14.0, 4.0, 34.0, 5.0, 5.0],
         [5.0, 45.0, 26.0, 36.0, 64.0, 44.0, 53.0, 14.0, 4.0],
         [4.0, 34.0, 5.0, 5.0, 45.0, 26.0, 36.0, 64.0, 44.0],
         [44.0, 53.0, 14.0, 4.0, 34.0, 5.0, 5.0, 45.0, 26.0],
         [26.0, 36.0, 64.0, 44.0, 53.0, 14.0, 4.0, 34.0, 5.0],
         [5.0, 5.0, 45.0, 26.0, 36.0, 64.0, 44.0, 53.0, 14.0]]]]> : tensor<1x6x12x9xf32>) : tensor<1x6x12x9xf32>
  return
}

func.func @stride_two() {
  %image = call @image() : () -> tensor<1x4x14x11xf32>
  %kernel = call @kernel() : () -> tensor<6x4x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x6x6x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x6x6x5xf32>) -> tensor<1x6x6x5xf32>
  %out = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x4x14x11xf32>, tensor<6x4x3x3xf32>) outs(%init : tensor<1x6x6x5xf32>) -> tensor<1x6x6x5xf32>
  check.expect_eq_const(%out, dense<
      [[[[24.0, 20.0, 38.0, 45.0, 41.0],
         [69.0, 43.0, 17.0, 24.0, 20.0],
         [15.0, 11.0, 40.0, 69.0, 43.0],
         [38.0, 45.0, 41.0, 15.0, 11.0],
         [17.0, 24.0, 20.0, 38.0, 45.0],
         [40.0, 69.0, 43.0, 17.0, 24.0]],
        [[13.0, 30.0, 68.0, 50.0, 31.0],
         [55.0, 53.0, 39.0, 13.0, 30.0],
         [22.0, 34.0, 34.0, 55.0, 53.0],
         [68.0, 50.0, 31.0, 22.0, 34.0],
         [39.0, 13.0, 30.0, 68.0, 50.0],
         [34.0, 55.0, 53.0, 39.0, 13.0]],
        [[42.0, 27.0, 59.0, 72.0, 66.0],
         [72.0, 59.0, 27.0, 42.0, 27.0],
         [19.0, 19.0, 66.0, 72.0, 59.0],
         [59.0, 72.0, 66.0, 19.0, 19.0],
         [27.0, 42.0, 27.0, 59.0, 72.0],
         [66.0, 72.0, 59.0, 27.0, 42.0]],
        [[13.0, 39.0, 53.0, 55.0, 34.0],
         [50.0, 68.0, 30.0, 13.0, 39.0],
         [34.0, 22.0, 31.0, 50.0, 68.0],
         [53.0, 55.0, 34.0, 34.0, 22.0],
         [30.0, 13.0, 39.0, 53.0, 55.0],
         [31.0, 50.0, 68.0, 30.0, 13.0]],
        [[24.0, 17.0, 43.0, 69.0, 40.0],
         [45.0, 38.0, 20.0, 24.0, 17.0],
         [11.0, 15.0, 41.0, 45.0, 38.0],
         [43.0, 69.0, 40.0, 11.0, 15.0],
         [20.0, 24.0, 17.0, 43.0, 69.0],
         [41.0, 45.0, 38.0, 20.0, 24.0]],
        [[5.0, 45.0, 36.0, 44.0, 14.0],
         [64.0, 53.0, 4.0, 5.0, 45.0],
         [34.0, 5.0, 26.0, 64.0, 53.0],
         [36.0, 44.0, 14.0, 34.0, 5.0],
         [4.0, 5.0, 45.0, 36.0, 44.0],
         [26.0, 64.0, 53.0, 4.0, 5.0]]]]> : tensor<1x6x6x5xf32>) : tensor<1x6x6x5xf32>
  return
}
