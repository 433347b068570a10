// linalg.conv_2d_nhwc_hwcf with f16 operands accumulated in f32.
// Numbers: NumPy, the sum over shifted views in float64; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/float16.py; change it there.

func.func private @image() -> tensor<1x8x10x4xf16> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<1x8x10x4xf16>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<1x8x10x4xf16>) {
  ^bb0(%unused: f16):
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
    %value = arith.sitofp %number : i32 to f16
    linalg.yield %value : f16
  } -> tensor<1x8x10x4xf16>
  %hidden = util.optimization_barrier %made : tensor<1x8x10x4xf16>
  return %hidden : tensor<1x8x10x4xf16>
}

func.func private @kernel() -> tensor<3x3x4x8xf16> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %factor3 = arith.constant 5 : i32
  %empty = tensor.empty() : tensor<3x3x4x8xf16>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%empty : tensor<3x3x4x8xf16>) {
  ^bb0(%unused: f16):
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
    %value = arith.sitofp %number : i32 to f16
    linalg.yield %value : f16
  } -> tensor<3x3x4x8xf16>
  %hidden = util.optimization_barrier %made : tensor<3x3x4x8xf16>
  return %hidden : tensor<3x3x4x8xf16>
}

func.func @accumulated_in_f32() {
  %image = call @image() : () -> tensor<1x8x10x4xf16>
  %kernel = call @kernel() : () -> tensor<3x3x4x8xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x6x8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%image, %kernel : tensor<1x8x10x4xf16>, tensor<3x3x4x8xf16>) outs(%init : tensor<1x6x8x8xf32>) -> tensor<1x6x8x8xf32>
  check.expect_eq_const(%out, dense<
      [[[[66.0, 37.0, 28.0, 95.0, -35.0, 93.0, -32.0, 66.0],
         [113.0, -32.0, 123.0, 32.0, 80.0, 99.0, -16.0, 113.0],
         [52.0, -27.0, 50.0, -32.0, 84.0, -8.0, 63.0, 52.0],
         [26.0, 63.0, -4.0, 35.0, -23.0, 25.0, 18.0, 26.0],
         [101.0, 18.0, 60.0, 101.0, 1.0, 110.0, -41.0, 101.0],
         [101.0, -41.0, 110.0, 1.0, 101.0, 60.0, 18.0, 101.0],
         [26.0, 18.0, 25.0, -23.0, 35.0, -4.0, 63.0, 26.0],
         [52.0, 63.0, -8.0, 84.0, -32.0, 50.0, -27.0, 52.0]],
        [[101.0, 18.0, 60.0, 101.0, 1.0, 110.0, -41.0, 101.0],
         [101.0, -41.0, 110.0, 1.0, 101.0, 60.0, 18.0, 101.0],
         [26.0, 18.0, 25.0, -23.0, 35.0, -4.0, 63.0, 26.0],
         [52.0, 63.0, -8.0, 84.0, -32.0, 50.0, -27.0, 52.0],
         [113.0, -16.0, 99.0, 80.0, 32.0, 123.0, -32.0, 113.0],
         [66.0, -32.0, 93.0, -35.0, 95.0, 28.0, 37.0, 66.0],
         [32.0, 37.0, -4.0, 14.0, 14.0, -4.0, 37.0, 32.0],
         [66.0, 37.0, 28.0, 95.0, -35.0, 93.0, -32.0, 66.0]],
        [[113.0, -16.0, 99.0, 80.0, 32.0, 123.0, -32.0, 113.0],
         [66.0, -32.0, 93.0, -35.0, 95.0, 28.0, 37.0, 66.0],
         [32.0, 37.0, -4.0, 14.0, 14.0, -4.0, 37.0, 32.0],
         [66.0, 37.0, 28.0, 95.0, -35.0, 93.0, -32.0, 66.0],
         [113.0, -32.0, 123.0, 32.0, 80.0, 99.0, -16.0, 113.0],
         [52.0, -27.0, 50.0, -32.0, 84.0, -8.0, 63.0, 52.0],
         [26.0, 63.0, -4.0, 35.0, -23.0, 25.0, 18.0, 26.0],
         [101.0, 18.0, 60.0, 101.0, 1.0, 110.0, -41.0, 101.0]],
        [[113.0, -32.0, 123.0, 32.0, 80.0, 99.0, -16.0, 113.0],
         [52.0, -27.0, 50.0, -32.0, 84.0, -8.0, 63.0, 52.0],
         [26.0, 63.0, -4.0, 35.0, -23.0, 25.0, 18.0, 26.0],
         [101.0, 18.0, 60.0, 101.0, 1.0, 110.0, -41.0, 101.0],
         [101.0, -41.0, 110.0, 1.0, 101.0, 60.0, 18.0, 101.0],
         [26.0, 18.0, 25.0, -23.0, 35.0, -4.0, 63.0, 26.0],
         [52.0, 63.0, -8.0, 84.0, -32.0, 50.0, -27.0, 52.0],
         [113.0, -16.0, 99.0, 80.0, 32.0, 123.0, -32.0, 113.0]],
        [[101.0, -41.0, 110.0, 1.0, 101.0, 60.0, 18.0, 101.0],
         [26.0, 18.0, 25.0, -23.0, 35.0, -4.0, 63.0, 26.0],
         [52.0, 63.0, -8.0, 84.0, -32.0, 50.0, -27.0, 52.0],
         [113.0, -16.0, 99.0, 80.0, 32.0, 123.0, -32.0, 113.0],
         [66.0, -32.0, 93.0, -35.0, 95.0, 28.0, 37.0, 66.0],
         [32.0, 37.0, -4.0, 14.0, 14.0, -4.0, 37.0, 32.0],
         [66.0, 37.0, 28.0, 95.0, -35.0, 93.0, -32.0, 66.0],
         [113.0, -32.0, 123.0, 32.0, 80.0, 99.0, -16.0, 113.0]],
        [[66.0, -32.0, 93.0, -35.0, 95.0, 28.0, 37.0, 66.0],
         [32.0, 37.0, -4.0, 14.0, 14.0, -4.0, 37.0, 32.0],
         [66.0, 37.0, 28.0, 95.0, -35.0, 93.0, -32.0, 66.0],
         [113.0, -32.0, 123.0, 32.0, 80.0, 99.0, -16.0, 113.0],
         [52.0, -27.0, 50.0, -32.0, 84.0, -8.0, 63.0, 52.0],
         [26.0, 63.0, -4.0, 35.0, -23.0, 25.0, 18.0, 26.0],
         [101.0, 18.0, 60.0, 101.0, 1.0, 110.0, -41.0, 101.0],
         [101.0, -41.0, 110.0, 1.0, 101.0, 60.0, 18.0, 101.0]]]]> : tensor<1x6x8x8xf32>) : tensor<1x6x8x8xf32>
  return
}
