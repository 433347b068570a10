// tosa.matmul of f32 in batches of two, and of i8 to i32 with zero points.
// Numbers: NumPy's matmul, exact.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tosa.py; change it there.

func.func private @a() -> tensor<2x11x17xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<2x11x17xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<2x11x17xf32>) {
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
  } -> tensor<2x11x17xf32>
  %hidden = util.optimization_barrier %made : tensor<2x11x17xf32>
  return %hidden : tensor<2x11x17xf32>
}

func.func private @b() -> tensor<2x17x13xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<2x17x13xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<2x17x13xf32>) {
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
  } -> tensor<2x17x13xf32>
  %hidden = util.optimization_barrier %made : tensor<2x17x13xf32>
  return %hidden : tensor<2x17x13xf32>
}

func.func private @qa() -> tensor<1x12x20xi8> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 251 : i32
  %shift = arith.constant 125 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<1x12x20xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<1x12x20xi8>) {
  ^bb0(%unused: i8):
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
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<1x12x20xi8>
  %hidden = util.optimization_barrier %made : tensor<1x12x20xi8>
  return %hidden : tensor<1x12x20xi8>
}

func.func private @qb() -> tensor<1x20x8xi8> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 251 : i32
  %shift = arith.constant 125 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<1x20x8xi8>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<1x20x8xi8>) {
  ^bb0(%unused: i8):
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
    %value = arith.trunci %number : i32 to i8
    linalg.yield %value : i8
  } -> tensor<1x20x8xi8>
  %hidden = util.optimization_barrier %made : tensor<1x20x8xi8>
  return %hidden : tensor<1x20x8xi8>
}

func.func @f32() {
  %a = call @a() : () -> tensor<2x11x17xf32>
  %b = call @b() : () -> tensor<2x17x13xf32>
  %za = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %zb = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %out = tosa.matmul %a, %b, %za, %zb : (tensor<2x11x17xf32>, tensor<2x17x13xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x11x13xf32>
  check.expect_eq_const(%out, dense<
      [[[32.0, 46.0, -22.0, 4.0, 69.0, 41.0, 8.0, -30.0, 26.0, 44.0, -31.0, 32.0, 46.0],
        [13.0, 5.0, 16.0, 24.0, -4.0, 42.0, -3.0, -18.0, 30.0, 42.0, 62.0, 13.0, 5.0],
        [11.0, 5.0, 17.0, 58.0, 40.0, 29.0, -19.0, -5.0, 38.0, 0.0, 24.0, 11.0, 5.0],
        [-18.0, 46.0, 36.0, -15.0, 36.0, 46.0, -18.0, 20.0, 61.0, 61.0, 20.0, -18.0, 46.0],
        [-19.0, 29.0, 40.0, 58.0, 17.0, 5.0, 11.0, 24.0, 0.0, 38.0, -5.0, -19.0, 29.0],
        [-3.0, 42.0, -4.0, 24.0, 16.0, 5.0, 13.0, 62.0, 42.0, 30.0, -18.0, -3.0, 42.0],
        [8.0, 41.0, 69.0, 4.0, -22.0, 46.0, 32.0, -31.0, 44.0, 26.0, -30.0, 8.0, 41.0],
        [14.0, -18.0, 50.0, -13.0, -31.0, 29.0, 46.0, 42.0, 17.0, -7.0, 3.0, 14.0, -18.0],
        [59.0, 41.0, 16.0, -38.0, 22.0, 42.0, -33.0, 28.0, 38.0, -14.0, 4.0, 59.0, 41.0],
        [-33.0, 42.0, 22.0, -38.0, 16.0, 41.0, 59.0, 4.0, -14.0, 38.0, 28.0, -33.0, 42.0],
        [46.0, 29.0, -31.0, -13.0, 50.0, -18.0, 14.0, 3.0, -7.0, 17.0, 42.0, 46.0, 29.0]],
       [[46.0, 42.0, 17.0, -7.0, 3.0, 14.0, -18.0, 50.0, -13.0, -31.0, 29.0, 46.0, 42.0],
        [-33.0, 28.0, 38.0, -14.0, 4.0, 59.0, 41.0, 16.0, -38.0, 22.0, 42.0, -33.0, 28.0],
        [59.0, 4.0, -14.0, 38.0, 28.0, -33.0, 42.0, 22.0, -38.0, 16.0, 41.0, 59.0, 4.0],
        [14.0, 3.0, -7.0, 17.0, 42.0, 46.0, 29.0, -31.0, -13.0, 50.0, -18.0, 14.0, 3.0],
        [8.0, -30.0, 26.0, 44.0, -31.0, 32.0, 46.0, -22.0, 4.0, 69.0, 41.0, 8.0, -30.0],
        [-3.0, -18.0, 30.0, 42.0, 62.0, 13.0, 5.0, 16.0, 24.0, -4.0, 42.0, -3.0, -18.0],
        [-19.0, -5.0, 38.0, 0.0, 24.0, 11.0, 5.0, 17.0, 58.0, 40.0, 29.0, -19.0, -5.0],
        [-18.0, 20.0, 61.0, 61.0, 20.0, -18.0, 46.0, 36.0, -15.0, 36.0, 46.0, -18.0, 20.0],
        [11.0, 24.0, 0.0, 38.0, -5.0, -19.0, 29.0, 40.0, 58.0, 17.0, 5.0, 11.0, 24.0],
        [13.0, 62.0, 42.0, 30.0, -18.0, -3.0, 42.0, -4.0, 24.0, 16.0, 5.0, 13.0, 62.0],
        [32.0, -31.0, 44.0, 26.0, -30.0, 8.0, 41.0, 69.0, 4.0, -22.0, 46.0, 32.0, -31.0]]]> : tensor<2x11x13xf32>) : tensor<2x11x13xf32>
  return
}

func.func @i8() {
  %a = call @qa() : () -> tensor<1x12x20xi8>
  %b = call @qb() : () -> tensor<1x20x8xi8>
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<-7> : tensor<1xi8>} : () -> tensor<1xi8>
  %out = tosa.matmul %a, %b, %za, %zb : (tensor<1x12x20xi8>, tensor<1x20x8xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x12x8xi32>
  check.expect_eq_const(%out, dense<
      [[[6613, -2791, -13401, 5907, 12212, 3004, 1375, -66720],
        [14092, -26925, -11708, -2505, 28796, -20213, 40726, 37670],
        [-17616, -5887, -20676, 22855, 8242, -26363, 24460, 18645],
        [-9697, 2342, -4663, 663, -17322, -17454, -42152, -6829],
        [5219, -23071, -14120, -1562, 33177, -3275, -49172, 23496],
        [-26331, -20380, -22692, -17454, -21483, -22229, 20217, 31057],
        [7599, -19956, -11052, 25024, 9458, -13825, 36248, 13846],
        [-4937, 9576, 3481, -6154, -60744, 29467, 8710, -19101],
        [47003, 27554, -34564, -44473, -32795, 9506, 56828, 27596],
        [18090, -8692, 28425, -24422, -24665, -29532, 39540, -15739],
        [22027, 13788, -2579, -217, -4979, -25901, -6257, -3275],
        [17901, 18690, 40343, -36114, 9446, 15630, 17327, 41143]]]> : tensor<1x12x8xi32>) : tensor<1x12x8xi32>
  return
}
