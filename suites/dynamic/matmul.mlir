// linalg.matmul with all three sizes dynamic (37x53x29 and, through the same function, 1x5x3), and a dynamic batch.
// Numbers: NumPy's matmul in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/dynamic.py; change it there.

func.func private @a_large() -> tensor<37x53xf32> {
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

func.func private @b_large() -> tensor<53x29xf32> {
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

func.func private @a_small() -> tensor<1x5xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<1x5xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<1x5xf32>) {
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
  } -> tensor<1x5xf32>
  %hidden = util.optimization_barrier %made : tensor<1x5xf32>
  return %hidden : tensor<1x5xf32>
}

func.func private @b_small() -> tensor<5x3xf32> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<5x3xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<5x3xf32>) {
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
  } -> tensor<5x3xf32>
  %hidden = util.optimization_barrier %made : tensor<5x3xf32>
  return %hidden : tensor<5x3xf32>
}

func.func private @multiply(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

func.func @matmul_37x53x29() {
  %a_large_static = call @a_large() : () -> tensor<37x53xf32>
  %a_large_size0 = util.unfoldable_constant 37 : index
  %a_large_size1 = util.unfoldable_constant 53 : index
  %a_large = tensor.extract_slice %a_large_static[0, 0] [%a_large_size0, %a_large_size1] [1, 1] : tensor<37x53xf32> to tensor<?x?xf32>
          %b_large_static = call @b_large() : () -> tensor<53x29xf32>
  %b_large_size0 = util.unfoldable_constant 53 : index
  %b_large_size1 = util.unfoldable_constant 29 : index
  %b_large = tensor.extract_slice %b_large_static[0, 0] [%b_large_size0, %b_large_size1] [1, 1] : tensor<53x29xf32> to tensor<?x?xf32>

  %c = call @multiply(%a_large, %b_large) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %out = tensor.cast %c : tensor<?x?xf32> to tensor<37x29xf32>
  check.expect_eq_const(%out, dense<
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

func.func @matmul_1x5x3() {
  %a_small_static = call @a_small() : () -> tensor<1x5xf32>
  %a_small_size0 = util.unfoldable_constant 1 : index
  %a_small_size1 = util.unfoldable_constant 5 : index
  %a_small = tensor.extract_slice %a_small_static[0, 0] [%a_small_size0, %a_small_size1] [1, 1] : tensor<1x5xf32> to tensor<?x?xf32>
          %b_small_static = call @b_small() : () -> tensor<5x3xf32>
  %b_small_size0 = util.unfoldable_constant 5 : index
  %b_small_size1 = util.unfoldable_constant 3 : index
  %b_small = tensor.extract_slice %b_small_static[0, 0] [%b_small_size0, %b_small_size1] [1, 1] : tensor<5x3xf32> to tensor<?x?xf32>

  %c = call @multiply(%a_small, %b_small) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %out = tensor.cast %c : tensor<?x?xf32> to tensor<1x3xf32>
  check.expect_eq_const(%out, dense<[[1.0, 5.0, -17.0]]> : tensor<1x3xf32>) : tensor<1x3xf32>
  return
}
