// Single-head attention in three ops: scores = Q K^T, softmax along keys, weights times V.
// Numbers: NumPy in float64. rtol 5e-5, atol 1e-5: softmax weights good to 2e-5, then 24 terms of size up to 3.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/reductions.py; change it there.

func.func private @q() -> tensor<12x16xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 5 : i32
  %shift = arith.constant 2 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<12x16xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<12x16xf32>) {
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
    %scale = arith.constant 0.25 : f32
    %scaled = arith.mulf %value, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<12x16xf32>
  %hidden = util.optimization_barrier %made : tensor<12x16xf32>
  return %hidden : tensor<12x16xf32>
}

func.func private @k() -> tensor<24x16xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<24x16xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<24x16xf32>) {
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
    %scale = arith.constant 0.5 : f32
    %scaled = arith.mulf %value, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<24x16xf32>
  %hidden = util.optimization_barrier %made : tensor<24x16xf32>
  return %hidden : tensor<24x16xf32>
}

func.func private @v() -> tensor<24x10xf32> {
  %seed = util.unfoldable_constant 5 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<24x10xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<24x10xf32>) {
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
  } -> tensor<24x10xf32>
  %hidden = util.optimization_barrier %made : tensor<24x10xf32>
  return %hidden : tensor<24x10xf32>
}

func.func @twelve_queries() {
  %q = call @q() : () -> tensor<12x16xf32>
  %k = call @k() : () -> tensor<24x16xf32>
  %v = call @v() : () -> tensor<24x10xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<12x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<12x24xf32>) -> tensor<12x24xf32>
  %scores = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%q, %k : tensor<12x16xf32>, tensor<24x16xf32>) outs(%init : tensor<12x24xf32>) -> tensor<12x24xf32>
  %weights = linalg.softmax dimension(1) ins(%scores : tensor<12x24xf32>) outs(%room : tensor<12x24xf32>) -> tensor<12x24xf32>
  %room2 = tensor.empty() : tensor<12x10xf32>
  %init2 = linalg.fill ins(%zero : f32) outs(%room2 : tensor<12x10xf32>) -> tensor<12x10xf32>
  %out = linalg.matmul ins(%weights, %v : tensor<12x24xf32>, tensor<24x10xf32>) outs(%init2 : tensor<12x10xf32>) -> tensor<12x10xf32>
  check.expect_almost_eq_const(%out, dense<
      [[-0.61869365, -2.1558094, -0.5040252, -1.2623231, -0.4624739, -0.31297418, -1.6837004, -0.61869365,
        -2.1558094, -0.5040252],
       [-0.0851286, -1.763592, -0.7392569, -2.3693345, -0.5103651, -1.3810483, -0.15127464, -0.0851286, -1.763592,
        -0.7392569],
       [-1.5162568, -0.72208285, -1.1572653, -1.1652474, -0.69015396, -1.5002924, -0.2487011, -1.5162568,
        -0.72208285, -1.1572653],
       [-1.527036, -0.60873103, -2.3892152, -0.72584176, -1.6815375, -0.026437694, -0.041200776, -1.527036,
        -0.60873103, -2.3892152],
       [-0.491908, -0.7002547, -1.1644763, -0.47454193, -1.9818442, -0.53592104, -1.6510539, -0.491908, -0.7002547,
        -1.1644763],
       [-0.61869365, -2.1558094, -0.5040252, -1.2623231, -0.4624739, -0.31297418, -1.6837004, -0.61869365,
        -2.1558094, -0.5040252],
       [-0.0851286, -1.763592, -0.7392569, -2.3693345, -0.5103651, -1.3810483, -0.15127464, -0.0851286, -1.763592,
        -0.7392569],
       [-1.5162568, -0.72208285, -1.1572653, -1.1652474, -0.69015396, -1.5002924, -0.2487011, -1.5162568,
        -0.72208285, -1.1572653],
       [-1.527036, -0.60873103, -2.3892152, -0.72584176, -1.6815375, -0.026437694, -0.041200776, -1.527036,
        -0.60873103, -2.3892152],
       [-0.491908, -0.7002547, -1.1644763, -0.47454193, -1.9818442, -0.53592104, -1.6510539, -0.491908, -0.7002547,
        -1.1644763],
       [-0.61869365, -2.1558094, -0.5040252, -1.2623231, -0.4624739, -0.31297418, -1.6837004, -0.61869365,
        -2.1558094, -0.5040252],
       [-0.0851286, -1.763592, -0.7392569, -2.3693345, -0.5103651, -1.3810483, -0.15127464, -0.0851286, -1.763592,
        -0.7392569]]> : tensor<12x10xf32>, atol 1.00e-05, rtol 5.00e-05) : tensor<12x10xf32>
  return
}
