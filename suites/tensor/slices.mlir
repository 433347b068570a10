// tensor.extract_slice and tensor.insert_slice: offsets, a dropped dimension, and a slice written over another part of the same tensor.
// Numbers: NumPy; values are only moved.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tensor.py; change it there.

func.func private @x() -> tensor<11x13xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 0 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<11x13xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<11x13xf32>) {
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
  } -> tensor<11x13xf32>
  %hidden = util.optimization_barrier %made : tensor<11x13xf32>
  return %hidden : tensor<11x13xf32>
}

func.func @extract() {
  %x = call @x() : () -> tensor<11x13xf32>
  %out = tensor.extract_slice %x[3, 5] [4, 6] [1, 1] : tensor<11x13xf32> to tensor<4x6xf32>
  check.expect_eq_const(%out, dense<
      [[473.0, 862.0, 820.0, 347.0, 452.0, 126.0],
       [548.0, 982.0, 985.0, 557.0, 707.0, 426.0],
       [527.0, 1006.0, 45.0, 671.0, 866.0, 630.0],
       [410.0, 934.0, 18.0, 689.0, 929.0, 738.0]]> : tensor<4x6xf32>) : tensor<4x6xf32>
  return
}

func.func @extract_row() {
  %x = call @x() : () -> tensor<11x13xf32>
  %out = tensor.extract_slice %x[6, 0] [1, 13] [1, 1] : tensor<11x13xf32> to tensor<13xf32>
  check.expect_eq_const(%out, dense<
      [406.0, 58.0, 288.0, 87.0, 464.0, 410.0, 934.0, 18.0, 689.0, 929.0, 738.0, 116.0, 72.0]> : tensor<13xf32>) : tensor<13xf32>
  return
}

func.func @insert() {
  %x = call @x() : () -> tensor<11x13xf32>
  %part = tensor.extract_slice %x[7, 0] [3, 4] [1, 1] : tensor<11x13xf32> to tensor<3x4xf32>
  %kept = util.optimization_barrier %part : tensor<3x4xf32>
  %out = tensor.insert_slice %kept into %x[2, 4] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<11x13xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, 150.0, 120.0, 668.0, 785.0, 471.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0, 648.0, 663.0, 247.0, 409.0, 140.0],
       [189.0, 670.0, 720.0, 339.0, 977.0, 674.0, 949.0, 793.0, 41.0, 101.0, 739.0, 946.0, 722.0],
       [135.0, 661.0, 756.0, 420.0, 443.0, 185.0, 505.0, 394.0, 347.0, 452.0, 126.0, 378.0, 199.0],
       [994.0, 556.0, 696.0, 405.0, 822.0, 609.0, 974.0, 908.0, 557.0, 707.0, 426.0, 723.0, 589.0],
       [748.0, 355.0, 540.0, 294.0, 626.0, 527.0, 1006.0, 45.0, 671.0, 866.0, 630.0, 972.0, 883.0],
       [406.0, 58.0, 288.0, 87.0, 464.0, 410.0, 934.0, 18.0, 689.0, 929.0, 738.0, 116.0, 72.0],
       [977.0, 674.0, 949.0, 793.0, 206.0, 197.0, 766.0, 904.0, 611.0, 896.0, 750.0, 173.0, 174.0],
       [443.0, 185.0, 505.0, 394.0, 861.0, 897.0, 502.0, 685.0, 437.0, 767.0, 666.0, 134.0, 180.0],
       [822.0, 609.0, 974.0, 908.0, 411.0, 492.0, 142.0, 370.0, 167.0, 542.0, 486.0, 1008.0, 90.0],
       [96.0, 937.0, 338.0, 317.0, 874.0, 1000.0, 695.0, 968.0, 810.0, 221.0, 210.0, 777.0, 913.0]]> : tensor<11x13xf32>) : tensor<11x13xf32>
  return
}
