// tensor.concat along both dimensions, of three operands, and of a part with itself.
// Numbers: NumPy; values are only moved.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tensor.py; change it there.

func.func private @x() -> tensor<5x7xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 0 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<5x7xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<5x7xf32>) {
  ^bb0(%unused: f32):
    %index0 = linalg.index 0 : index
    %i0 = arith.index_cast %index0 : index to i32
    %p0 = arith.muli %i0, %factor0 : i32
    %t0 = arith.addi %seed, %p0 : i32
    %index1 = linalg.index 1 : index
    %i1 = arith.index_cast %index1 : index to i32
    %p1 = arith.muli %i1, %factor1 : i32
    %t1 = arith.addi %t0, %p1 : i32
    %square = arith.muli %t1, %t1 : i32
    %rest = arith.remui %square, %modulus : i32
    %number = arith.subi %rest, %shift : i32
    %value = arith.sitofp %number : i32 to f32
    linalg.yield %value : f32
  } -> tensor<5x7xf32>
  %hidden = util.optimization_barrier %made : tensor<5x7xf32>
  return %hidden : tensor<5x7xf32>
}

func.func @along_rows() {
  %x = call @x() : () -> tensor<5x7xf32>
  %out = tensor.concat dim(0) %x, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<10x7xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0],
       [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0]]> : tensor<10x7xf32>) : tensor<10x7xf32>
  return
}

func.func @along_columns() {
  %x = call @x() : () -> tensor<5x7xf32>
  %part = tensor.extract_slice %x[0, 1] [5, 3] [1, 1] : tensor<5x7xf32> to tensor<5x3xf32>
  %out = tensor.concat dim(1) %x, %part, %x : (tensor<5x7xf32>, tensor<5x3xf32>, tensor<5x7xf32>) -> tensor<5x17xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 400.0, 360.0, 898.0, 9.0, 400.0, 360.0, 898.0, 1005.0,
        681.0, 935.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 583.0, 588.0, 162.0, 147.0, 583.0, 588.0, 162.0, 314.0,
        35.0, 334.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 670.0, 720.0, 339.0, 189.0, 670.0, 720.0, 339.0, 536.0,
        302.0, 646.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 661.0, 756.0, 420.0, 135.0, 661.0, 756.0, 420.0, 662.0,
        473.0, 862.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 556.0, 696.0, 405.0, 994.0, 556.0, 696.0, 405.0, 692.0,
        548.0, 982.0]]> : tensor<5x17xf32>) : tensor<5x17xf32>
  return
}
