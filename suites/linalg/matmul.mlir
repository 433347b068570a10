// linalg.matmul in f32: sizes that no tile divides, tile multiples, one element, and an accumulator that is not zero.
// Numbers: NumPy's matmul in float64; small integers, so f32 is exact.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),
// which are exact in the element type: one wrong element shows in one of each.
// Written by suites/generate.py from suites/generator/linalg/contractions.py; change it there.

func.func private @lhs_odd() -> tensor<37x53xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<37x53xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<37x53xf32>) {
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
  } -> tensor<37x53xf32>
  %hidden = util.optimization_barrier %made : tensor<37x53xf32>
  return %hidden : tensor<37x53xf32>
}

func.func private @rhs_odd() -> tensor<53x29xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<53x29xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<53x29xf32>) {
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
  } -> tensor<53x29xf32>
  %hidden = util.optimization_barrier %made : tensor<53x29xf32>
  return %hidden : tensor<53x29xf32>
}

func.func private @lhs_tiled() -> tensor<128x96xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<128x96xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<128x96xf32>) {
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
  } -> tensor<128x96xf32>
  %hidden = util.optimization_barrier %made : tensor<128x96xf32>
  return %hidden : tensor<128x96xf32>
}

func.func private @rhs_tiled() -> tensor<96x160xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<96x160xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<96x160xf32>) {
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
  } -> tensor<96x160xf32>
  %hidden = util.optimization_barrier %made : tensor<96x160xf32>
  return %hidden : tensor<96x160xf32>
}

func.func private @weigh_rows_128x160xf32(%x: tensor<128x160xf32>) -> tensor<128xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<160xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<160xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<160xf32>
  %weights = util.optimization_barrier %made : tensor<160xf32>
  %empty = tensor.empty() : tensor<128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128xf32>) -> tensor<128xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %weights : tensor<128x160xf32>, tensor<160xf32>) outs(%init : tensor<128xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<128xf32>
  return %sums : tensor<128xf32>
}

func.func private @weigh_columns_128x160xf32(%x: tensor<128x160xf32>) -> tensor<160xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %room = tensor.empty() : tensor<128xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} outs(%room : tensor<128xf32>) {
  ^bb0(%unused: f32):
    %index = linalg.index 0 : index
    %i = arith.index_cast %index : index to i32
    %p = arith.muli %i, %c5 : i32
    %rest = arith.remui %p, %c7 : i32
    %weight = arith.addi %rest, %c1 : i32
    %w = arith.sitofp %weight : i32 to f32
    linalg.yield %w : f32
  } -> tensor<128xf32>
  %weights = util.optimization_barrier %made : tensor<128xf32>
  %empty = tensor.empty() : tensor<160xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<160xf32>) -> tensor<160xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>],
      iterator_types = ["reduction", "parallel"]} ins(%x, %weights : tensor<128x160xf32>, tensor<128xf32>) outs(%init : tensor<160xf32>) {
  ^bb0(%v: f32, %weight: f32, %sum: f32):
    %term = arith.mulf %v, %weight : f32
    %next = arith.addf %sum, %term : f32
    linalg.yield %next : f32
  } -> tensor<160xf32>
  return %sums : tensor<160xf32>
}

func.func private @lhs_thin() -> tensor<1x67xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<1x67xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<1x67xf32>) {
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
  } -> tensor<1x67xf32>
  %hidden = util.optimization_barrier %made : tensor<1x67xf32>
  return %hidden : tensor<1x67xf32>
}

func.func private @rhs_thin() -> tensor<67x3xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<67x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<67x3xf32>) {
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
  } -> tensor<67x3xf32>
  %hidden = util.optimization_barrier %made : tensor<67x3xf32>
  return %hidden : tensor<67x3xf32>
}

func.func private @start() -> tensor<37x29xf32> {
  %seed = util.unfoldable_constant 20 : i32
  %modulus = arith.constant 101 : i32
  %shift = arith.constant 50 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<37x29xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<37x29xf32>) {
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
  } -> tensor<37x29xf32>
  %hidden = util.optimization_barrier %made : tensor<37x29xf32>
  return %hidden : tensor<37x29xf32>
}

func.func @matmul_37x53x29() {
  %a = call @lhs_odd() : () -> tensor<37x53xf32>
  %b = call @rhs_odd() : () -> tensor<53x29xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x29xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x29xf32>) -> tensor<37x29xf32>
  %c = linalg.matmul ins(%a, %b : tensor<37x53xf32>, tensor<53x29xf32>) outs(%init : tensor<37x29xf32>) -> tensor<37x29xf32>
  check.expect_eq_const(%c, dense<
      [[42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0,
        71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0],
       [74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0,
        40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0],
       [65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0,
        52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0],
       [48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0,
        52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0],
       [56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0,
        40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0],
       [56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0,
        71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0],
       [59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0,
        57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0],
       [76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0,
        31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0],
       [52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0,
        59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0],
       [42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0,
        31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0],
       [46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0,
        57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0],
       [42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0,
        71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0],
       [74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0,
        40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0],
       [65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0,
        52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0],
       [48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0,
        52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0],
       [56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0,
        40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0],
       [56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0,
        71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0],
       [59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0,
        57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0],
       [76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0,
        31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0],
       [52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0,
        59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0],
       [42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0,
        31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0],
       [46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0,
        57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0],
       [42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0,
        71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0],
       [74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0,
        40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0],
       [65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0,
        52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0],
       [48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0,
        52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0],
       [56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0,
        40.0, 25.0, 70.0, 56.0, 74.0, 33.0, 38.0, 40.0, 25.0, 70.0, 56.0],
       [56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0,
        71.0, 53.0, 69.0, 56.0, 42.0, 55.0, 60.0, 71.0, 53.0, 69.0, 56.0],
       [59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0,
        57.0, 33.0, 43.0, 59.0, 46.0, 74.0, 45.0, 57.0, 33.0, 43.0, 59.0],
       [76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0,
        31.0, 53.0, 47.0, 76.0, 42.0, 57.0, 37.0, 31.0, 53.0, 47.0, 76.0],
       [52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0,
        59.0, 80.0, 59.0, 52.0, 52.0, 59.0, 80.0, 59.0, 80.0, 59.0, 52.0],
       [42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0,
        31.0, 37.0, 57.0, 42.0, 76.0, 47.0, 53.0, 31.0, 37.0, 57.0, 42.0],
       [46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0,
        57.0, 45.0, 74.0, 46.0, 59.0, 43.0, 33.0, 57.0, 45.0, 74.0, 46.0],
       [42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0,
        71.0, 60.0, 55.0, 42.0, 56.0, 69.0, 53.0, 71.0, 60.0, 55.0, 42.0],
       [74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0,
        40.0, 38.0, 33.0, 74.0, 56.0, 70.0, 25.0, 40.0, 38.0, 33.0, 74.0],
       [65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0,
        52.0, 67.0, 41.0, 65.0, 48.0, 46.0, 59.0, 52.0, 67.0, 41.0, 65.0],
       [48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0,
        52.0, 59.0, 46.0, 48.0, 65.0, 41.0, 67.0, 52.0, 59.0, 46.0, 48.0]]> : tensor<37x29xf32>) : tensor<37x29xf32>
  return
}

func.func @matmul_128x96x160() {
  %a = call @lhs_tiled() : () -> tensor<128x96xf32>
  %b = call @rhs_tiled() : () -> tensor<96x160xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x160xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x160xf32>) -> tensor<128x160xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x96xf32>, tensor<96x160xf32>) outs(%init : tensor<128x160xf32>) -> tensor<128x160xf32>
  // 20480 elements: checked through weighted sums (see the comment at the top).
  %c_kept = util.optimization_barrier %c : tensor<128x160xf32>
  %c_rows = call @weigh_rows_128x160xf32(%c_kept) : (tensor<128x160xf32>) -> tensor<128xf32>
  check.expect_eq_const(%c_rows, dense<
      [65218.0, 56286.0, 65239.0, 60397.0, 57666.0, 69377.0, 58504.0, 56760.0, 67654.0, 55865.0, 60355.0, 65218.0,
       56286.0, 65239.0, 60397.0, 57666.0, 69377.0, 58504.0, 56760.0, 67654.0, 55865.0, 60355.0, 65218.0, 56286.0,
       65239.0, 60397.0, 57666.0, 69377.0, 58504.0, 56760.0, 67654.0, 55865.0, 60355.0, 65218.0, 56286.0, 65239.0,
       60397.0, 57666.0, 69377.0, 58504.0, 56760.0, 67654.0, 55865.0, 60355.0, 65218.0, 56286.0, 65239.0, 60397.0,
       57666.0, 69377.0, 58504.0, 56760.0, 67654.0, 55865.0, 60355.0, 65218.0, 56286.0, 65239.0, 60397.0, 57666.0,
       69377.0, 58504.0, 56760.0, 67654.0, 55865.0, 60355.0, 65218.0, 56286.0, 65239.0, 60397.0, 57666.0, 69377.0,
       58504.0, 56760.0, 67654.0, 55865.0, 60355.0, 65218.0, 56286.0, 65239.0, 60397.0, 57666.0, 69377.0, 58504.0,
       56760.0, 67654.0, 55865.0, 60355.0, 65218.0, 56286.0, 65239.0, 60397.0, 57666.0, 69377.0, 58504.0, 56760.0,
       67654.0, 55865.0, 60355.0, 65218.0, 56286.0, 65239.0, 60397.0, 57666.0, 69377.0, 58504.0, 56760.0, 67654.0,
       55865.0, 60355.0, 65218.0, 56286.0, 65239.0, 60397.0, 57666.0, 69377.0, 58504.0, 56760.0, 67654.0, 55865.0,
       60355.0, 65218.0, 56286.0, 65239.0, 60397.0, 57666.0, 69377.0, 58504.0]> : tensor<128xf32>) : tensor<128xf32>
  %c_columns = call @weigh_columns_128x160xf32(%c_kept) : (tensor<128x160xf32>) -> tensor<160xf32>
  check.expect_eq_const(%c_columns, dense<
      [51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0,
       48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0,
       47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0,
       49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0,
       49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0,
       48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0,
       48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0,
       51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0,
       48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0,
       47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0,
       49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0,
       49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0,
       48001.0, 48536.0, 49374.0, 51180.0, 49600.0, 48645.0, 47930.0, 48001.0, 48536.0, 49374.0, 51180.0, 49600.0,
       48645.0, 47930.0, 48001.0, 48536.0]> : tensor<160xf32>) : tensor<160xf32>
  return
}

func.func @matmul_1x67x3() {
  %a = call @lhs_thin() : () -> tensor<1x67xf32>
  %b = call @rhs_thin() : () -> tensor<67x3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x3xf32>) -> tensor<1x3xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1x67xf32>, tensor<67x3xf32>) outs(%init : tensor<1x3xf32>) -> tensor<1x3xf32>
  check.expect_eq_const(%c, dense<[[57.0, 52.0, 65.0]]> : tensor<1x3xf32>) : tensor<1x3xf32>
  return
}

func.func @one_element() {
  %a = util.unfoldable_constant dense<3.5> : tensor<1x1xf32>
  %b = util.unfoldable_constant dense<-2.0> : tensor<1x1xf32>
  %init = util.unfoldable_constant dense<0.25> : tensor<1x1xf32>
  %c = linalg.matmul ins(%a, %b : tensor<1x1xf32>, tensor<1x1xf32>) outs(%init : tensor<1x1xf32>) -> tensor<1x1xf32>
  check.expect_eq_const(%c, dense<[[-6.75]]> : tensor<1x1xf32>) : tensor<1x1xf32>
  return
}

func.func @accumulates() {
  %a = call @lhs_odd() : () -> tensor<37x53xf32>
  %b = call @rhs_odd() : () -> tensor<53x29xf32>
  %start = call @start() : () -> tensor<37x29xf32>
  %c = linalg.matmul ins(%a, %b : tensor<37x53xf32>, tensor<53x29xf32>) outs(%start : tensor<37x29xf32>) -> tensor<37x29xf32>
  check.expect_eq_const(%c, dense<
      [[89.0, 62.0, 107.0, 95.0, 89.0, 26.0, 42.0, 22.0, 102.0, 52.0, 46.0, 46.0, 90.0, 11.0, -3.0, 83.0, 39.0,
        39.0, 45.0, 95.0, 22.0, 14.0, 106.0, 68.0, 74.0, 86.0, 41.0, 75.0, 73.0],
       [100.0, 85.0, 74.0, -24.0, 11.0, 1.0, 61.0, 38.0, 29.0, 24.0, 33.0, 74.0, 70.0, 35.0, 119.0, 15.0, 117.0,
        31.0, 78.0, 80.0, 51.0, 40.0, 43.0, 50.0, 71.0, 23.0, 31.0, 8.0, 104.0],
       [73.0, 2.0, 19.0, 23.0, 80.0, 30.0, 12.0, 16.0, 52.0, 75.0, 85.0, 47.0, 104.0, -9.0, 102.0, 43.0, 72.0,
        88.0, 56.0, 18.0, 12.0, 28.0, 76.0, 10.0, 32.0, 6.0, 75.0, 75.0, 97.0],
       [41.0, 48.0, 87.0, 47.0, 39.0, 25.0, 64.0, 90.0, 103.0, 47.0, 114.0, 11.0, 104.0, 48.0, 80.0, 99.0, 49.0,
        21.0, 25.0, 23.0, 74.0, 11.0, 36.0, -8.0, 71.0, 81.0, 85.0, 41.0, 85.0],
       [37.0, 89.0, 54.0, 37.0, 90.0, -3.0, 37.0, 91.0, 48.0, 19.0, 8.0, 67.0, -20.0, 26.0, 86.0, 49.0, 26.0, 21.0,
        86.0, 5.0, 57.0, 22.0, 92.0, 75.0, 76.0, 46.0, 72.0, 29.0, 101.0],
       [28.0, 92.0, 54.0, 81.0, 86.0, 34.0, 89.0, 87.0, 56.0, 24.0, 57.0, 68.0, 22.0, 83.0, 87.0, 62.0, 36.0, 75.0,
        92.0, 52.0, 119.0, 28.0, 9.0, 90.0, 34.0, 57.0, 23.0, 96.0, 11.0],
       [25.0, 33.0, 54.0, 91.0, 40.0, 26.0, 18.0, 89.0, 2.0, 29.0, 72.0, 27.0, 19.0, 17.0, 94.0, 13.0, 46.0, 95.0,
        56.0, 54.0, 58.0, 40.0, 66.0, 105.0, 59.0, 26.0, 30.0, 40.0, 28.0],
       [39.0, 70.0, 21.0, 10.0, -15.0, 61.0, 81.0, 108.0, 44.0, 102.0, -4.0, 78.0, 59.0, 85.0, 118.0, 60.0, 23.0,
        24.0, 11.0, 99.0, 30.0, 69.0, 17.0, 87.0, -7.0, -14.0, 80.0, 17.0, 62.0],
       [15.0, 23.0, 10.0, 84.0, 88.0, 106.0, 54.0, 89.0, 2.0, 96.0, 75.0, 85.0, 109.0, 63.0, 3.0, 23.0, 22.0,
        108.0, 23.0, 53.0, 13.0, 60.0, 86.0, 91.0, 82.0, 104.0, 39.0, 106.0, 58.0],
       [8.0, 94.0, 89.0, 91.0, 37.0, 84.0, 16.0, 87.0, 78.0, 79.0, 87.0, 39.0, -9.0, 30.0, 6.0, 104.0, 10.0, 24.0,
        -18.0, 41.0, 86.0, 68.0, 71.0, 84.0, 3.0, 68.0, 32.0, 83.0, 71.0],
       [18.0, 26.0, 78.0, 7.0, 43.0, 15.0, 101.0, 1.0, 15.0, 73.0, 8.0, 50.0, 28.0, 120.0, 26.0, 46.0, 9.0, 51.0,
        99.0, 83.0, 80.0, 93.0, 18.0, 88.0, 35.0, 89.0, 79.0, 82.0, 0.0],
       [23.0, 76.0, 100.0, 67.0, 40.0, 57.0, 52.0, 11.0, 70.0, 100.0, 73.0, 52.0, 75.0, 76.0, 41.0, 106.0, 41.0,
        20.0, 106.0, 34.0, 41.0, 12.0, 83.0, 24.0, 9.0, 101.0, 35.0, 48.0, 25.0],
       [67.0, 31.0, 100.0, -19.0, -5.0, 65.0, 3.0, 60.0, 30.0, 105.0, -8.0, 12.0, 88.0, 32.0, 95.0, 71.0, 51.0,
        45.0, 71.0, 52.0, 2.0, 71.0, 53.0, 39.0, 39.0, 71.0, 58.0, 14.0, 89.0],
       [73.0, 82.0, 78.0, 61.0, 97.0, 26.0, 88.0, 71.0, 86.0, 88.0, 77.0, 18.0, 54.0, 21.0, 111.0, 31.0, 39.0,
        34.0, 82.0, 23.0, -4.0, 92.0, 18.0, 32.0, 33.0, 87.0, 34.0, 13.0, 115.0],
       [74.0, 60.0, 78.0, 17.0, 89.0, 54.0, 72.0, 77.0, 69.0, -8.0, 38.0, 15.0, 87.0, 10.0, 21.0, 19.0, 49.0,
        101.0, 84.0, 61.0, 91.0, 7.0, 112.0, 47.0, 105.0, 94.0, 77.0, 12.0, 35.0],
       [103.0, 33.0, 78.0, 40.0, 72.0, 59.0, 78.0, 10.0, 47.0, -3.0, 66.0, 3.0, -4.0, 21.0, 60.0, 103.0, 59.0,
        33.0, 77.0, -25.0, 107.0, 51.0, 100.0, 62.0, 42.0, -9.0, -4.0, 33.0, 84.0],
       [26.0, 69.0, 10.0, 16.0, 101.0, 28.0, 62.0, 39.0, 88.0, 35.0, 47.0, 37.0, 71.0, 111.0, 94.0, 48.0, 102.0,
        19.0, 116.0, 55.0, 101.0, 90.0, 50.0, 9.0, 33.0, 35.0, 81.0, 32.0, 27.0],
       [56.0, 43.0, 43.0, 59.0, 88.0, 53.0, 24.0, 74.0, 67.0, 73.0, 95.0, 29.0, 0.0, 78.0, 33.0, 32.0, 44.0, 72.0,
        12.0, -11.0, 73.0, 34.0, 39.0, 57.0, 91.0, 37.0, 20.0, 9.0, 77.0],
       [103.0, 12.0, 43.0, 11.0, 66.0, 20.0, 19.0, 126.0, 41.0, 78.0, 52.0, 12.0, 73.0, 78.0, 90.0, 11.0, 54.0,
        34.0, 0.0, 67.0, 78.0, 96.0, 23.0, 72.0, 58.0, 30.0, 103.0, 19.0, 43.0],
       [11.0, 99.0, 65.0, 118.0, 101.0, 98.0, 25.0, 39.0, 32.0, 105.0, 63.0, 52.0, 55.0, 89.0, 8.0, 7.0, 86.0,
        50.0, 45.0, 54.0, 94.0, 19.0, 24.0, 109.0, 79.0, 80.0, 95.0, 40.0, 72.0],
       [37.0, 102.0, 76.0, 57.0, -18.0, 8.0, 20.0, 70.0, 40.0, 20.0, 7.0, 39.0, 71.0, 89.0, 44.0, 121.0, 6.0,
        100.0, 37.0, 75.0, 99.0, 60.0, 42.0, 34.0, 33.0, 77.0, 20.0, 50.0, 17.0],
       [80.0, 67.0, -3.0, 6.0, 21.0, 73.0, 37.0, 17.0, 10.0, 47.0, 62.0, 83.0, 40.0, 111.0, -4.0, 96.0, 38.0, 59.0,
        86.0, 49.0, 25.0, 17.0, 22.0, 71.0, -3.0, 30.0, -1.0, 82.0, 80.0],
       [17.0, 49.0, 52.0, 99.0, 51.0, 47.0, 21.0, 60.0, 98.0, 107.0, 59.0, 118.0, 19.0, 100.0, 44.0, 88.0, 103.0,
        61.0, 25.0, 33.0, 19.0, 70.0, 19.0, 40.0, 4.0, 75.0, 89.0, 81.0, 37.0],
       [94.0, 37.0, 85.0, 46.0, 39.0, 88.0, 5.0, 41.0, 91.0, 44.0, 11.0, 10.0, 65.0, -12.0, 30.0, 86.0, 45.0, 18.0,
        23.0, 84.0, 13.0, 61.0, 22.0, 88.0, 67.0, 78.0, 44.0, 80.0, 33.0],
       [32.0, 20.0, 96.0, 58.0, 73.0, 82.0, 22.0, 85.0, 79.0, 60.0, 28.0, 49.0, 64.0, 10.0, 79.0, 79.0, 66.0, 40.0,
        67.0, 88.0, 40.0, 115.0, 20.0, 13.0, 94.0, 26.0, 53.0, 11.0, 92.0],
       [66.0, 31.0, 28.0, 47.0, 98.0, 42.0, 39.0, 23.0, 95.0, -3.0, 22.0, 79.0, 29.0, 32.0, 22.0, 100.0, 8.0, 39.0,
        102.0, 58.0, 67.0, 63.0, 46.0, 61.0, 98.0, 66.0, 28.0, 43.0, 45.0],
       [27.0, 37.0, 61.0, 2.0, 13.0, -21.0, 78.0, 90.0, 106.0, 35.0, 83.0, -1.0, 72.0, 76.0, 94.0, 116.0, 51.0,
        4.0, 27.0, 5.0, 116.0, 39.0, 67.0, 8.0, 68.0, -4.0, -20.0, 97.0, 26.0],
       [84.0, 5.0, 26.0, 11.0, 75.0, 82.0, 95.0, 51.0, 79.0, 5.0, 97.0, 66.0, 79.0, 98.0, 60.0, -7.0, 26.0, 23.0,
        99.0, 17.0, 42.0, 10.0, 50.0, 89.0, 92.0, 73.0, 98.0, 28.0, 103.0],
       [46.0, 12.0, 92.0, 87.0, 95.0, 39.0, 90.0, 18.0, 91.0, 76.0, 77.0, 91.0, 41.0, -3.0, 32.0, 10.0, 102.0, 8.0,
        28.0, -16.0, 47.0, 88.0, 72.0, 69.0, 82.0, 7.0, 70.0, 38.0, 85.0],
       [126.0, 14.0, 24.0, 72.0, 5.0, 39.0, 17.0, 103.0, -3.0, 13.0, 67.0, 6.0, 46.0, 30.0, 122.0, 22.0, 44.0, 3.0,
        49.0, 95.0, 85.0, 82.0, 89.0, 16.0, 82.0, 33.0, 85.0, 81.0, 84.0],
       [67.0, 33.0, 79.0, 111.0, 73.0, 49.0, 56.0, 49.0, 21.0, 73.0, 111.0, 79.0, 61.0, 74.0, 73.0, 51.0, 109.0,
        52.0, 26.0, 115.0, 33.0, 38.0, 22.0, 86.0, 35.0, 15.0, 110.0, 34.0, 45.0],
       [25.0, 69.0, 22.0, 83.0, -13.0, -8.0, 84.0, 12.0, 62.0, 21.0, 88.0, -2.0, 9.0, 107.0, 41.0, 97.0, 62.0,
        34.0, 51.0, 68.0, 71.0, 11.0, 73.0, 44.0, 22.0, 45.0, 68.0, 77.0, 23.0],
       [0.0, 67.0, 77.0, 65.0, 59.0, 90.0, 33.0, 93.0, 65.0, 81.0, 75.0, 75.0, 11.0, 61.0, 26.0, 105.0, 26.0, 26.0,
        32.0, 75.0, 30.0, 1.0, 86.0, 13.0, 19.0, 31.0, 80.0, 41.0, 18.0],
       [71.0, 82.0, 64.0, 90.0, 21.0, 97.0, 50.0, 68.0, 85.0, 73.0, 4.0, 42.0, 23.0, 83.0, 6.0, 29.0, 23.0, 61.0,
        105.0, 92.0, 57.0, 87.0, 15.0, 116.0, 59.0, 109.0, 102.0, 73.0, 8.0],
       [80.0, 103.0, 29.0, 70.0, 42.0, 70.0, 67.0, 82.0, 10.0, 43.0, -11.0, 68.0, 1.0, 4.0, 25.0, 60.0, 99.0, 51.0,
        35.0, 75.0, -17.0, 111.0, 51.0, 96.0, 54.0, 44.0, -11.0, 4.0, 37.0],
       [51.0, 18.0, 73.0, 14.0, 8.0, 97.0, 16.0, 58.0, 31.0, 92.0, 39.0, 39.0, 33.0, 59.0, 107.0, 86.0, 52.0,
        106.0, 11.0, 112.0, 43.0, 97.0, 82.0, 54.0, 13.0, 25.0, 31.0, 69.0, 28.0],
       [17.0, 62.0, 38.0, 36.0, 66.0, 90.0, 66.0, 29.0, 80.0, 62.0, 66.0, 102.0, 31.0, 13.0, 83.0, 39.0, 27.0,
        37.0, 79.0, 14.0, 2.0, 78.0, 40.0, 34.0, 50.0, 98.0, 39.0, 33.0, 14.0]]> : tensor<37x29xf32>) : tensor<37x29xf32>
  return
}
