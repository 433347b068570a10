// linalg.pack into 8x4 tiles with padding, linalg.unpack back again, and the tiles themselves.
// Numbers: NumPy's pad, reshape and transpose; values are only moved.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tensor.py; change it there.

func.func private @x() -> tensor<13x10xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 0 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<13x10xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<13x10xf32>) {
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
  } -> tensor<13x10xf32>
  %hidden = util.optimization_barrier %made : tensor<13x10xf32>
  return %hidden : tensor<13x10xf32>
}

func.func @tiles() {
  %x = call @x() : () -> tensor<13x10xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<2x3x8x4xf32>
  %tiles = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %room : tensor<13x10xf32> -> tensor<2x3x8x4xf32>
  check.expect_eq_const(%tiles, dense<
      [[[[9.0, 400.0, 360.0, 898.0],
         [147.0, 583.0, 588.0, 162.0],
         [189.0, 670.0, 720.0, 339.0],
         [135.0, 661.0, 756.0, 420.0],
         [994.0, 556.0, 696.0, 405.0],
         [748.0, 355.0, 540.0, 294.0],
         [406.0, 58.0, 288.0, 87.0],
         [977.0, 674.0, 949.0, 793.0]],
        [[1005.0, 681.0, 935.0, 758.0],
         [314.0, 35.0, 334.0, 202.0],
         [536.0, 302.0, 646.0, 559.0],
         [662.0, 473.0, 862.0, 820.0],
         [692.0, 548.0, 982.0, 985.0],
         [626.0, 527.0, 1006.0, 45.0],
         [464.0, 410.0, 934.0, 18.0],
         [206.0, 197.0, 766.0, 904.0]],
        [[150.0, 120.0, 0.0, 0.0],
         [648.0, 663.0, 0.0, 0.0],
         [41.0, 101.0, 0.0, 0.0],
         [347.0, 452.0, 0.0, 0.0],
         [557.0, 707.0, 0.0, 0.0],
         [671.0, 866.0, 0.0, 0.0],
         [689.0, 929.0, 0.0, 0.0],
         [611.0, 896.0, 0.0, 0.0]]],
       [[[443.0, 185.0, 505.0, 394.0],
         [822.0, 609.0, 974.0, 908.0],
         [96.0, 937.0, 338.0, 317.0],
         [283.0, 160.0, 615.0, 639.0],
         [374.0, 296.0, 796.0, 865.0],
         [0.0, 0.0, 0.0, 0.0],
         [0.0, 0.0, 0.0, 0.0],
         [0.0, 0.0, 0.0, 0.0]],
        [[861.0, 897.0, 502.0, 685.0],
         [411.0, 492.0, 142.0, 370.0],
         [874.0, 1000.0, 695.0, 968.0],
         [232.0, 403.0, 143.0, 461.0],
         [503.0, 719.0, 504.0, 867.0],
         [0.0, 0.0, 0.0, 0.0],
         [0.0, 0.0, 0.0, 0.0],
         [0.0, 0.0, 0.0, 0.0]],
        [[437.0, 767.0, 0.0, 0.0],
         [167.0, 542.0, 0.0, 0.0],
         [810.0, 221.0, 0.0, 0.0],
         [348.0, 813.0, 0.0, 0.0],
         [799.0, 300.0, 0.0, 0.0],
         [0.0, 0.0, 0.0, 0.0],
         [0.0, 0.0, 0.0, 0.0],
         [0.0, 0.0, 0.0, 0.0]]]]> : tensor<2x3x8x4xf32>) : tensor<2x3x8x4xf32>
  return
}

func.func @there_and_back() {
  %x = call @x() : () -> tensor<13x10xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<2x3x8x4xf32>
  %tiles = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %room : tensor<13x10xf32> -> tensor<2x3x8x4xf32>
  %kept = util.optimization_barrier %tiles : tensor<2x3x8x4xf32>
  %empty = tensor.empty() : tensor<13x10xf32>
  %out = linalg.unpack %kept inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %empty : tensor<2x3x8x4xf32> -> tensor<13x10xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, 150.0, 120.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0, 648.0, 663.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0, 41.0, 101.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0, 347.0, 452.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0, 557.0, 707.0],
       [748.0, 355.0, 540.0, 294.0, 626.0, 527.0, 1006.0, 45.0, 671.0, 866.0],
       [406.0, 58.0, 288.0, 87.0, 464.0, 410.0, 934.0, 18.0, 689.0, 929.0],
       [977.0, 674.0, 949.0, 793.0, 206.0, 197.0, 766.0, 904.0, 611.0, 896.0],
       [443.0, 185.0, 505.0, 394.0, 861.0, 897.0, 502.0, 685.0, 437.0, 767.0],
       [822.0, 609.0, 974.0, 908.0, 411.0, 492.0, 142.0, 370.0, 167.0, 542.0],
       [96.0, 937.0, 338.0, 317.0, 874.0, 1000.0, 695.0, 968.0, 810.0, 221.0],
       [283.0, 160.0, 615.0, 639.0, 232.0, 403.0, 143.0, 461.0, 348.0, 813.0],
       [374.0, 296.0, 796.0, 865.0, 503.0, 719.0, 504.0, 867.0, 799.0, 300.0]]> : tensor<13x10xf32>) : tensor<13x10xf32>
  return
}
