// Contractions that have no named op: two reduction dimensions, an outer product, and a trace-like diagonal read.
// Numbers: NumPy's einsum in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/contractions.py; change it there.

func.func private @a() -> tensor<7x11x13xf32> {
  %seed = util.unfoldable_constant 1 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<7x11x13xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<7x11x13xf32>) {
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
  } -> tensor<7x11x13xf32>
  %hidden = util.optimization_barrier %made : tensor<7x11x13xf32>
  return %hidden : tensor<7x11x13xf32>
}

func.func private @b() -> tensor<11x13x17xf32> {
  %seed = util.unfoldable_constant 2 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<11x13x17xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<11x13x17xf32>) {
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
  } -> tensor<11x13x17xf32>
  %hidden = util.optimization_barrier %made : tensor<11x13x17xf32>
  return %hidden : tensor<11x13x17xf32>
}

func.func private @u() -> tensor<31xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<31xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<31xf32>) {
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
  } -> tensor<31xf32>
  %hidden = util.optimization_barrier %made : tensor<31xf32>
  return %hidden : tensor<31xf32>
}

func.func private @v() -> tensor<21xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<21xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<21xf32>) {
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
  } -> tensor<21xf32>
  %hidden = util.optimization_barrier %made : tensor<21xf32>
  return %hidden : tensor<21xf32>
}

func.func private @square() -> tensor<19x19xf32> {
  %seed = util.unfoldable_constant 5 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<19x19xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<19x19xf32>) {
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
  } -> tensor<19x19xf32>
  %hidden = util.optimization_barrier %made : tensor<19x19xf32>
  return %hidden : tensor<19x19xf32>
}

func.func @two_reduction_dimensions() {
  %a = call @a() : () -> tensor<7x11x13xf32>
  %b = call @b() : () -> tensor<11x13x17xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<7x17xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<7x17xf32>) -> tensor<7x17xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, l, n)>, affine_map<(m, n, k, l) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<7x11x13xf32>, tensor<11x13x17xf32>) outs(%init : tensor<7x17xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<7x17xf32>
  check.expect_eq_const(%c, dense<
      [[133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0, 133.0,
        133.0, 133.0],
       [93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0],
       [180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0,
        180.0, 180.0],
       [141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0,
        141.0, 141.0],
       [141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0, 141.0,
        141.0, 141.0],
       [180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0, 180.0,
        180.0, 180.0],
       [93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0, 93.0]]> : tensor<7x17xf32>) : tensor<7x17xf32>
  return
}

func.func @outer_product() {
  %u = call @u() : () -> tensor<31xf32>
  %v = call @v() : () -> tensor<21xf32>
  %empty = tensor.empty() : tensor<31x21xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%u, %v : tensor<31xf32>, tensor<21xf32>) outs(%empty : tensor<31x21xf32>) {
  ^bb0(%x: f32, %y: f32, %unused: f32):
    %product = arith.mulf %x, %y : f32
    linalg.yield %product : f32
  } -> tensor<31x21xf32>
  check.expect_eq_const(%c, dense<
      [[0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0, -16.0, -16.0, 16.0, -8.0, 0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0,
        -16.0, -16.0, 16.0],
       [-0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0, 16.0, 16.0, -16.0, 8.0, -0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0,
        16.0, 16.0, -16.0],
       [-0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0, 16.0, 16.0, -16.0, 8.0, -0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0,
        16.0, 16.0, -16.0],
       [0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0, -16.0, -16.0, 16.0, -8.0, 0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0,
        -16.0, -16.0, 16.0],
       [-0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0, 8.0, -8.0, 4.0, -0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0,
        8.0, -8.0],
       [0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0,
        -0.0, 0.0],
       [-0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0, -4.0, 2.0, -0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0,
        -4.0],
       [-0.0, 5.0, 25.0, 5.0, -0.0, 10.0, -20.0, 20.0, 20.0, -20.0, 10.0, -0.0, 5.0, 25.0, 5.0, -0.0, 10.0, -20.0,
        20.0, 20.0, -20.0],
       [-0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0, -4.0, 2.0, -0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0,
        -4.0],
       [0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0,
        -0.0, 0.0],
       [-0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0, 8.0, -8.0, 4.0, -0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0,
        8.0, -8.0],
       [0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0, -16.0, -16.0, 16.0, -8.0, 0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0,
        -16.0, -16.0, 16.0],
       [-0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0, 16.0, 16.0, -16.0, 8.0, -0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0,
        16.0, 16.0, -16.0],
       [-0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0, 16.0, 16.0, -16.0, 8.0, -0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0,
        16.0, 16.0, -16.0],
       [0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0, -16.0, -16.0, 16.0, -8.0, 0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0,
        -16.0, -16.0, 16.0],
       [-0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0, 8.0, -8.0, 4.0, -0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0,
        8.0, -8.0],
       [0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0,
        -0.0, 0.0],
       [-0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0, -4.0, 2.0, -0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0,
        -4.0],
       [-0.0, 5.0, 25.0, 5.0, -0.0, 10.0, -20.0, 20.0, 20.0, -20.0, 10.0, -0.0, 5.0, 25.0, 5.0, -0.0, 10.0, -20.0,
        20.0, 20.0, -20.0],
       [-0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0, -4.0, 2.0, -0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0,
        -4.0],
       [0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0,
        -0.0, 0.0],
       [-0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0, 8.0, -8.0, 4.0, -0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0,
        8.0, -8.0],
       [0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0, -16.0, -16.0, 16.0, -8.0, 0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0,
        -16.0, -16.0, 16.0],
       [-0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0, 16.0, 16.0, -16.0, 8.0, -0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0,
        16.0, 16.0, -16.0],
       [-0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0, 16.0, 16.0, -16.0, 8.0, -0.0, 4.0, 20.0, 4.0, -0.0, 8.0, -16.0,
        16.0, 16.0, -16.0],
       [0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0, -16.0, -16.0, 16.0, -8.0, 0.0, -4.0, -20.0, -4.0, 0.0, -8.0, 16.0,
        -16.0, -16.0, 16.0],
       [-0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0, 8.0, -8.0, 4.0, -0.0, 2.0, 10.0, 2.0, -0.0, 4.0, -8.0, 8.0,
        8.0, -8.0],
       [0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -0.0,
        -0.0, 0.0],
       [-0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0, -4.0, 2.0, -0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0,
        -4.0],
       [-0.0, 5.0, 25.0, 5.0, -0.0, 10.0, -20.0, 20.0, 20.0, -20.0, 10.0, -0.0, 5.0, 25.0, 5.0, -0.0, 10.0, -20.0,
        20.0, 20.0, -20.0],
       [-0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0, -4.0, 2.0, -0.0, 1.0, 5.0, 1.0, -0.0, 2.0, -4.0, 4.0, 4.0,
        -4.0]]> : tensor<31x21xf32>) : tensor<31x21xf32>
  return
}

func.func @diagonal() {
  %a = call @square() : () -> tensor<19x19xf32>
  %empty = tensor.empty() : tensor<19xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<19xf32>) {
  ^bb0(%unused: f32):
    %i = linalg.index 0 : index
    %element = tensor.extract %a[%i, %i] : tensor<19x19xf32>
    linalg.yield %element : f32
  } -> tensor<19xf32>
  check.expect_eq_const(%c, dense<
      [-2.0, -1.0, -1.0, -2.0, -4.0, 4.0, 0.0, -5.0, 0.0, 4.0, -4.0, -2.0, -1.0, -1.0, -2.0, -4.0, 4.0, 0.0, -5.0]> : tensor<19xf32>) : tensor<19xf32>
  return
}
