// Offsets and sizes that are known only at run time: extract_slice, insert_slice, concat, pad and reshape of dynamic tensors.
// Numbers: NumPy; values are only moved.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/dynamic.py; change it there.

func.func private @x() -> tensor<11x8xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 0 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<11x8xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<11x8xf32>) {
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
  } -> tensor<11x8xf32>
  %hidden = util.optimization_barrier %made : tensor<11x8xf32>
  return %hidden : tensor<11x8xf32>
}

func.func @extract() {
  %x = call @x() : () -> tensor<11x8xf32>
  %three = util.unfoldable_constant 3 : index
  %five = util.unfoldable_constant 5 : index
  %part = tensor.extract_slice %x[%three, 2] [%five, 4] [1, 1] : tensor<11x8xf32> to tensor<?x4xf32>
  %out = tensor.cast %part : tensor<?x4xf32> to tensor<5x4xf32>
  check.expect_eq_const(%out, dense<
      [[756.0, 420.0, 662.0, 473.0],
       [696.0, 405.0, 692.0, 548.0],
       [540.0, 294.0, 626.0, 527.0],
       [288.0, 87.0, 464.0, 410.0],
       [949.0, 793.0, 206.0, 197.0]]> : tensor<5x4xf32>) : tensor<5x4xf32>
  return
}

func.func @insert() {
  %x = call @x() : () -> tensor<11x8xf32>
  %three = util.unfoldable_constant 3 : index
  %five = util.unfoldable_constant 5 : index
  %part = tensor.extract_slice %x[%three, 0] [3, 8] [1, 1] : tensor<11x8xf32> to tensor<3x8xf32>
  %kept = util.optimization_barrier %part : tensor<3x8xf32>
  %out = tensor.insert_slice %kept into %x[%five, 0] [3, 8] [1, 1] : tensor<3x8xf32> into tensor<11x8xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0],
       [748.0, 355.0, 540.0, 294.0, 626.0, 527.0, 1006.0, 45.0],
       [443.0, 185.0, 505.0, 394.0, 861.0, 897.0, 502.0, 685.0],
       [822.0, 609.0, 974.0, 908.0, 411.0, 492.0, 142.0, 370.0],
       [96.0, 937.0, 338.0, 317.0, 874.0, 1000.0, 695.0, 968.0]]> : tensor<11x8xf32>) : tensor<11x8xf32>
  return
}

func.func @concat() {
  %x = call @x() : () -> tensor<11x8xf32>
  %three = util.unfoldable_constant 3 : index
  %five = util.unfoldable_constant 5 : index
  %a = tensor.extract_slice %x[0, 0] [%three, 8] [1, 1] : tensor<11x8xf32> to tensor<?x8xf32>
  %b = tensor.extract_slice %x[4, 0] [%five, 8] [1, 1] : tensor<11x8xf32> to tensor<?x8xf32>
  %c = tensor.concat dim(0) %a, %b : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %out = tensor.cast %c : tensor<?x8xf32> to tensor<8x8xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0],
       [748.0, 355.0, 540.0, 294.0, 626.0, 527.0, 1006.0, 45.0],
       [406.0, 58.0, 288.0, 87.0, 464.0, 410.0, 934.0, 18.0],
       [977.0, 674.0, 949.0, 793.0, 206.0, 197.0, 766.0, 904.0],
       [443.0, 185.0, 505.0, 394.0, 861.0, 897.0, 502.0, 685.0]]> : tensor<8x8xf32>) : tensor<8x8xf32>
  return
}

func.func @pad() {
  %x = call @x() : () -> tensor<11x8xf32>
  %three = util.unfoldable_constant 3 : index
  %five = util.unfoldable_constant 5 : index
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[%three, 0] high[0, %five] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<11x8xf32> to tensor<?x?xf32>
  %out = tensor.cast %p : tensor<?x?xf32> to tensor<14x13xf32>
  check.expect_eq_const(%out, dense<
      [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [748.0, 355.0, 540.0, 294.0, 626.0, 527.0, 1006.0, 45.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [406.0, 58.0, 288.0, 87.0, 464.0, 410.0, 934.0, 18.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [977.0, 674.0, 949.0, 793.0, 206.0, 197.0, 766.0, 904.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [443.0, 185.0, 505.0, 394.0, 861.0, 897.0, 502.0, 685.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [822.0, 609.0, 974.0, 908.0, 411.0, 492.0, 142.0, 370.0, 0.0, 0.0, 0.0, 0.0, 0.0],
       [96.0, 937.0, 338.0, 317.0, 874.0, 1000.0, 695.0, 968.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<14x13xf32>) : tensor<14x13xf32>
  return
}

func.func @collapse() {
  %x_static = call @x() : () -> tensor<11x8xf32>
  %x_size0 = util.unfoldable_constant 11 : index
  %x = tensor.extract_slice %x_static[0, 0] [%x_size0, 8] [1, 1] : tensor<11x8xf32> to tensor<?x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
  %doubled = arith.addf %flat, %flat : tensor<?xf32>
  %out = tensor.cast %doubled : tensor<?xf32> to tensor<88xf32>
  check.expect_eq_const(%out, dense<
      [18.0, 800.0, 720.0, 1796.0, 2010.0, 1362.0, 1870.0, 1516.0, 294.0, 1166.0, 1176.0, 324.0, 628.0, 70.0,
       668.0, 404.0, 378.0, 1340.0, 1440.0, 678.0, 1072.0, 604.0, 1292.0, 1118.0, 270.0, 1322.0, 1512.0, 840.0,
       1324.0, 946.0, 1724.0, 1640.0, 1988.0, 1112.0, 1392.0, 810.0, 1384.0, 1096.0, 1964.0, 1970.0, 1496.0, 710.0,
       1080.0, 588.0, 1252.0, 1054.0, 2012.0, 90.0, 812.0, 116.0, 576.0, 174.0, 928.0, 820.0, 1868.0, 36.0, 1954.0,
       1348.0, 1898.0, 1586.0, 412.0, 394.0, 1532.0, 1808.0, 886.0, 370.0, 1010.0, 788.0, 1722.0, 1794.0, 1004.0,
       1370.0, 1644.0, 1218.0, 1948.0, 1816.0, 822.0, 984.0, 284.0, 740.0, 192.0, 1874.0, 676.0, 634.0, 1748.0,
       2000.0, 1390.0, 1936.0]> : tensor<88xf32>) : tensor<88xf32>
  return
}
