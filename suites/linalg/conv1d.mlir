// linalg.conv_1d_nwc_wcf, and a one-dimensional filter written as a linalg.generic with an affine sum in its map.
// Numbers: NumPy, the sum over shifted views in float64; exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/convolutions.py; change it there.

func.func private @signal() -> tensor<2x37x3xf32> {
  %seed = util.unfoldable_constant 1 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<2x37x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<2x37x3xf32>) {
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
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<2x37x3xf32>
  %hidden = util.optimization_barrier %made : tensor<2x37x3xf32>
  return %hidden : tensor<2x37x3xf32>
}

func.func private @kernel() -> tensor<5x3x4xf32> {
  %seed = util.unfoldable_constant 2 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<5x3x4xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<5x3x4xf32>) {
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
    %square = arith.muli %t2, %t2 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<5x3x4xf32>
  %hidden = util.optimization_barrier %made : tensor<5x3x4xf32>
  return %hidden : tensor<5x3x4xf32>
}

func.func private @line() -> tensor<64xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<64xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<64xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %square = arith.muli %t0, %t0 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<64xf32>
  %hidden = util.optimization_barrier %made : tensor<64xf32>
  return %hidden : tensor<64xf32>
}

func.func @conv_1d_nwc_wcf() {
  %signal = call @signal() : () -> tensor<2x37x3xf32>
  %kernel = call @kernel() : () -> tensor<5x3x4xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x33x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x33x4xf32>) -> tensor<2x33x4xf32>
  %out = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
    ins(%signal, %kernel : tensor<2x37x3xf32>, tensor<5x3x4xf32>) outs(%init : tensor<2x33x4xf32>) -> tensor<2x33x4xf32>
  check.expect_eq_const(%out, dense<
      [[[2.0, 2.0, 2.0, 2.0],
        [45.0, 45.0, 45.0, 45.0],
        [29.0, 29.0, 29.0, 29.0],
        [75.0, 75.0, 75.0, 75.0],
        [29.0, 29.0, 29.0, 29.0],
        [45.0, 45.0, 45.0, 45.0],
        [2.0, 2.0, 2.0, 2.0],
        [10.0, 10.0, 10.0, 10.0],
        [-19.0, -19.0, -19.0, -19.0],
        [-8.0, -8.0, -8.0, -8.0],
        [-1.0, -1.0, -1.0, -1.0],
        [2.0, 2.0, 2.0, 2.0],
        [45.0, 45.0, 45.0, 45.0],
        [29.0, 29.0, 29.0, 29.0],
        [75.0, 75.0, 75.0, 75.0],
        [29.0, 29.0, 29.0, 29.0],
        [45.0, 45.0, 45.0, 45.0],
        [2.0, 2.0, 2.0, 2.0],
        [10.0, 10.0, 10.0, 10.0],
        [-19.0, -19.0, -19.0, -19.0],
        [-8.0, -8.0, -8.0, -8.0],
        [-1.0, -1.0, -1.0, -1.0],
        [2.0, 2.0, 2.0, 2.0],
        [45.0, 45.0, 45.0, 45.0],
        [29.0, 29.0, 29.0, 29.0],
        [75.0, 75.0, 75.0, 75.0],
        [29.0, 29.0, 29.0, 29.0],
        [45.0, 45.0, 45.0, 45.0],
        [2.0, 2.0, 2.0, 2.0],
        [10.0, 10.0, 10.0, 10.0],
        [-19.0, -19.0, -19.0, -19.0],
        [-8.0, -8.0, -8.0, -8.0],
        [-1.0, -1.0, -1.0, -1.0]],
       [[10.0, 10.0, 10.0, 10.0],
        [-19.0, -19.0, -19.0, -19.0],
        [-8.0, -8.0, -8.0, -8.0],
        [-1.0, -1.0, -1.0, -1.0],
        [2.0, 2.0, 2.0, 2.0],
        [45.0, 45.0, 45.0, 45.0],
        [29.0, 29.0, 29.0, 29.0],
        [75.0, 75.0, 75.0, 75.0],
        [29.0, 29.0, 29.0, 29.0],
        [45.0, 45.0, 45.0, 45.0],
        [2.0, 2.0, 2.0, 2.0],
        [10.0, 10.0, 10.0, 10.0],
        [-19.0, -19.0, -19.0, -19.0],
        [-8.0, -8.0, -8.0, -8.0],
        [-1.0, -1.0, -1.0, -1.0],
        [2.0, 2.0, 2.0, 2.0],
        [45.0, 45.0, 45.0, 45.0],
        [29.0, 29.0, 29.0, 29.0],
        [75.0, 75.0, 75.0, 75.0],
        [29.0, 29.0, 29.0, 29.0],
        [45.0, 45.0, 45.0, 45.0],
        [2.0, 2.0, 2.0, 2.0],
        [10.0, 10.0, 10.0, 10.0],
        [-19.0, -19.0, -19.0, -19.0],
        [-8.0, -8.0, -8.0, -8.0],
        [-1.0, -1.0, -1.0, -1.0],
        [2.0, 2.0, 2.0, 2.0],
        [45.0, 45.0, 45.0, 45.0],
        [29.0, 29.0, 29.0, 29.0],
        [75.0, 75.0, 75.0, 75.0],
        [29.0, 29.0, 29.0, 29.0],
        [45.0, 45.0, 45.0, 45.0],
        [2.0, 2.0, 2.0, 2.0]]]> : tensor<2x33x4xf32>) : tensor<2x33x4xf32>
  return
}

func.func @smoothing_filter() {
  %line = call @line() : () -> tensor<64xf32>
  %taps = util.unfoldable_constant dense<[0.25, 0.5, 0.25]> : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<62xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<62xf32>) -> tensor<62xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%line, %taps : tensor<64xf32>, tensor<3xf32>) outs(%init : tensor<62xf32>) {
  ^bb0(%x: f32, %t: f32, %sum: f32):
    %product = arith.mulf %x, %t : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<62xf32>
  check.expect_eq_const(%out, dense<
      [-2.0, -2.0, 0.5, 0.0, -0.75, -1.75, -3.0, -1.75, -0.75, 0.0, 0.5, -2.0, -2.0, 0.5, 0.0, -0.75, -1.75, -3.0,
       -1.75, -0.75, 0.0, 0.5, -2.0, -2.0, 0.5, 0.0, -0.75, -1.75, -3.0, -1.75, -0.75, 0.0, 0.5, -2.0, -2.0, 0.5,
       0.0, -0.75, -1.75, -3.0, -1.75, -0.75, 0.0, 0.5, -2.0, -2.0, 0.5, 0.0, -0.75, -1.75, -3.0, -1.75, -0.75,
       0.0, 0.5, -2.0, -2.0, 0.5, 0.0, -0.75, -1.75, -3.0]> : tensor<62xf32>) : tensor<62xf32>
  return
}
