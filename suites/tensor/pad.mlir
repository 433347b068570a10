// tensor.pad with zeros, with another value, on one side only, and padding that a later slice removes again.
// Numbers: NumPy; values are only moved.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tensor.py; change it there.

func.func private @x() -> tensor<6x9xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 0 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<6x9xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<6x9xf32>) {
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
  } -> tensor<6x9xf32>
  %hidden = util.optimization_barrier %made : tensor<6x9xf32>
  return %hidden : tensor<6x9xf32>
}

func.func @with_zeros() {
  %x = call @x() : () -> tensor<6x9xf32>
  %zero = arith.constant 0.0 : f32
  %out = tensor.pad %x low[1, 2] high[3, 4] {
  ^bb0(%i: index, %j: index):
  tensor.yield %zero : f32
  } : tensor<6x9xf32> to tensor<10x15xf32>
  check.expect_eq_const(%out, dense<
      [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, 150.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0, 648.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0, 41.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0, 347.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0, 557.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 748.0, 355.0, 540.0, 294.0, 626.0, 527.0, 1006.0, 45.0, 671.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<10x15xf32>) : tensor<10x15xf32>
  return
}

func.func @below_only() {
  %x = call @x() : () -> tensor<6x9xf32>
  %fill = util.unfoldable_constant -7.5 : f32
  %out = tensor.pad %x low[0, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
  tensor.yield %fill : f32
  } : tensor<6x9xf32> to tensor<8x9xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, 150.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0, 648.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0, 41.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0, 347.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0, 557.0],
       [748.0, 355.0, 540.0, 294.0, 626.0, 527.0, 1006.0, 45.0, 671.0],
       [-7.5, -7.5, -7.5, -7.5, -7.5, -7.5, -7.5, -7.5, -7.5],
       [-7.5, -7.5, -7.5, -7.5, -7.5, -7.5, -7.5, -7.5, -7.5]]> : tensor<8x9xf32>) : tensor<8x9xf32>
  return
}

func.func @padded_and_sliced() {
  %x = call @x() : () -> tensor<6x9xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[2, 2] high[2, 2] {
  ^bb0(%i: index, %j: index):
  tensor.yield %zero : f32
  } : tensor<6x9xf32> to tensor<10x13xf32>
  %out = tensor.extract_slice %padded[1, 3] [6, 9] [1, 1] : tensor<10x13xf32> to tensor<6x9xf32>
  check.expect_eq_const(%out, dense<
      [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, 150.0, 0.0],
       [583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0, 648.0, 0.0],
       [670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0, 41.0, 0.0],
       [661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0, 347.0, 0.0],
       [556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0, 557.0, 0.0]]> : tensor<6x9xf32>) : tensor<6x9xf32>
  return
}
