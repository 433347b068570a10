// A dense layer: matmul, bias added along rows, ReLU, then a second layer; what fuses into the matmul's dispatch must not change it.
// Numbers: NumPy in float64, exact in f32 (values are multiples of 1/4).
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/contractions.py; change it there.

func.func private @x() -> tensor<18x45xf32> {
  %seed = util.unfoldable_constant 1 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<18x45xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<18x45xf32>) {
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
  } -> tensor<18x45xf32>
  %hidden = util.optimization_barrier %made : tensor<18x45xf32>
  return %hidden : tensor<18x45xf32>
}

func.func private @w() -> tensor<45x34xf32> {
  %seed = util.unfoldable_constant 2 : i32
  %modulus = arith.constant 5 : i32
  %shift = arith.constant 2 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<45x34xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<45x34xf32>) {
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
  } -> tensor<45x34xf32>
  %hidden = util.optimization_barrier %made : tensor<45x34xf32>
  return %hidden : tensor<45x34xf32>
}

func.func private @bias() -> tensor<34xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 13 : i32
  %shift = arith.constant 6 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<34xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<34xf32>) {
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
  } -> tensor<34xf32>
  %hidden = util.optimization_barrier %made : tensor<34xf32>
  return %hidden : tensor<34xf32>
}

func.func private @v() -> tensor<34x9xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 5 : i32
  %shift = arith.constant 2 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<34x9xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<34x9xf32>) {
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
  } -> tensor<34x9xf32>
  %hidden = util.optimization_barrier %made : tensor<34x9xf32>
  return %hidden : tensor<34x9xf32>
}

func.func @two_layers() {
  %x = call @x() : () -> tensor<18x45xf32>
  %w = call @w() : () -> tensor<45x34xf32>
  %bias = call @bias() : () -> tensor<34xf32>
  %v = call @v() : () -> tensor<34x9xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty() : tensor<18x34xf32>
  %init = linalg.fill ins(%zero : f32) outs(%room : tensor<18x34xf32>) -> tensor<18x34xf32>
  %product = linalg.matmul ins(%x, %w : tensor<18x45xf32>, tensor<45x34xf32>) outs(%init : tensor<18x34xf32>) -> tensor<18x34xf32>
  %hidden = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product, %bias : tensor<18x34xf32>, tensor<34xf32>) outs(%room : tensor<18x34xf32>) {
  ^bb0(%p: f32, %b: f32, %unused: f32):
    %sum = arith.addf %p, %b : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<18x34xf32>
  %room2 = tensor.empty() : tensor<18x9xf32>
  %init2 = linalg.fill ins(%zero : f32) outs(%room2 : tensor<18x9xf32>) -> tensor<18x9xf32>
  %out = linalg.matmul ins(%hidden, %v : tensor<18x34xf32>, tensor<34x9xf32>) outs(%init2 : tensor<18x9xf32>) -> tensor<18x9xf32>
  check.expect_eq_const(%hidden, dense<
      [[4.75, 6.0, 0.0, 7.0, 0.5, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 4.0, 3.5, 0.0, 6.0, 2.75, 0.0, 1.5, 0.0,
        0.0, 0.0, 0.0, 1.5, 0.0, 3.0, 5.75, 0.0, 3.5, 4.75, 0.0, 3.75, 0.0],
       [3.0, 7.75, 0.0, 7.0, 2.75, 0.0, 5.75, 0.0, 0.0, 0.0, 0.0, 5.75, 0.0, 4.0, 5.75, 0.0, 7.75, 0.5, 0.0, 3.75,
        0.0, 0.0, 0.0, 0.0, 3.75, 0.0, 4.75, 3.5, 0.0, 5.75, 3.0, 0.0, 1.5, 0.0],
       [1.25, 6.75, 0.0, 4.25, 5.0, 0.0, 4.75, 0.0, 0.0, 0.0, 0.0, 4.75, 0.0, 1.25, 8.0, 0.0, 6.75, 3.75, 0.0, 6.0,
        0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 3.75, 6.75, 0.0, 8.0, 1.25, 0.0, 4.75, 0.0],
       [5.0, 3.0, 0.0, 7.0, 1.75, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 4.0, 4.75, 0.0, 3.0, 4.25, 0.0, 2.75,
        0.0, 0.0, 0.0, 0.0, 2.75, 0.0, 0.0, 7.25, 0.0, 4.75, 5.0, 0.0, 5.25, 0.0],
       [6.0, 4.75, 0.0, 9.75, 0.0, 1.0, 2.75, 0.0, 0.75, 0.0, 0.0, 2.75, 0.0, 6.75, 1.5, 0.0, 4.75, 2.0, 1.75, 0.0,
        0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.75, 5.0, 0.0, 1.5, 6.0, 0.0, 3.0, 0.0],
       [0.0, 9.25, 0.0, 4.25, 6.25, 0.0, 7.25, 0.0, 0.0, 0.25, 0.0, 7.25, 0.0, 1.25, 9.25, 0.0, 9.25, 2.5, 0.0,
        7.25, 0.0, 0.25, 0.0, 0.0, 7.25, 0.0, 6.25, 5.5, 0.0, 9.25, 0.0, 1.25, 3.5, 0.0],
       [2.5, 5.5, 0.0, 1.5, 5.75, 0.0, 3.5, 0.0, 0.0, 0.0, 0.0, 3.5, 0.75, 0.0, 8.75, 0.0, 5.5, 5.75, 0.0, 6.75,
        0.0, 0.0, 0.0, 0.0, 6.75, 0.0, 2.5, 8.75, 0.0, 8.75, 2.5, 0.0, 6.75, 0.0],
       [6.25, 1.75, 0.0, 4.25, 2.5, 1.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.25, 1.25, 5.5, 0.0, 1.75, 6.25, 0.0, 3.5,
        0.0, 0.0, 0.25, 0.0, 3.5, 1.25, 0.0, 9.25, 0.0, 5.5, 6.25, 0.0, 7.25, 0.0],
       [1.75, 9.0, 0.0, 9.75, 2.0, 0.0, 7.0, 0.0, 0.75, 0.0, 0.0, 7.0, 0.0, 6.75, 5.0, 0.0, 9.0, 0.0, 1.75, 3.0,
        0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 6.0, 1.5, 0.0, 5.0, 1.75, 1.0, 0.0, 0.0],
       [0.0, 8.0, 0.0, 7.0, 4.25, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 4.0, 7.25, 0.0, 8.0, 1.75, 0.0, 5.25,
        0.0, 0.0, 0.0, 0.0, 5.25, 0.0, 5.0, 4.75, 0.0, 7.25, 0.0, 0.0, 2.75, 0.0],
       [3.75, 4.25, 0.0, 4.25, 3.75, 0.0, 2.25, 0.0, 0.0, 0.0, 0.0, 2.25, 0.0, 1.25, 6.75, 0.0, 4.25, 5.0, 0.0,
        4.75, 0.0, 0.0, 0.0, 0.0, 4.75, 0.0, 1.25, 8.0, 0.0, 6.75, 3.75, 0.0, 6.0, 0.0],
       [4.75, 6.0, 0.0, 7.0, 0.5, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 4.0, 3.5, 0.0, 6.0, 2.75, 0.0, 1.5, 0.0,
        0.0, 0.0, 0.0, 1.5, 0.0, 3.0, 5.75, 0.0, 3.5, 4.75, 0.0, 3.75, 0.0],
       [3.0, 7.75, 0.0, 7.0, 2.75, 0.0, 5.75, 0.0, 0.0, 0.0, 0.0, 5.75, 0.0, 4.0, 5.75, 0.0, 7.75, 0.5, 0.0, 3.75,
        0.0, 0.0, 0.0, 0.0, 3.75, 0.0, 4.75, 3.5, 0.0, 5.75, 3.0, 0.0, 1.5, 0.0],
       [1.25, 6.75, 0.0, 4.25, 5.0, 0.0, 4.75, 0.0, 0.0, 0.0, 0.0, 4.75, 0.0, 1.25, 8.0, 0.0, 6.75, 3.75, 0.0, 6.0,
        0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 3.75, 6.75, 0.0, 8.0, 1.25, 0.0, 4.75, 0.0],
       [5.0, 3.0, 0.0, 7.0, 1.75, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 4.0, 4.75, 0.0, 3.0, 4.25, 0.0, 2.75,
        0.0, 0.0, 0.0, 0.0, 2.75, 0.0, 0.0, 7.25, 0.0, 4.75, 5.0, 0.0, 5.25, 0.0],
       [6.0, 4.75, 0.0, 9.75, 0.0, 1.0, 2.75, 0.0, 0.75, 0.0, 0.0, 2.75, 0.0, 6.75, 1.5, 0.0, 4.75, 2.0, 1.75, 0.0,
        0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.75, 5.0, 0.0, 1.5, 6.0, 0.0, 3.0, 0.0],
       [0.0, 9.25, 0.0, 4.25, 6.25, 0.0, 7.25, 0.0, 0.0, 0.25, 0.0, 7.25, 0.0, 1.25, 9.25, 0.0, 9.25, 2.5, 0.0,
        7.25, 0.0, 0.25, 0.0, 0.0, 7.25, 0.0, 6.25, 5.5, 0.0, 9.25, 0.0, 1.25, 3.5, 0.0],
       [2.5, 5.5, 0.0, 1.5, 5.75, 0.0, 3.5, 0.0, 0.0, 0.0, 0.0, 3.5, 0.75, 0.0, 8.75, 0.0, 5.5, 5.75, 0.0, 6.75,
        0.0, 0.0, 0.0, 0.0, 6.75, 0.0, 2.5, 8.75, 0.0, 8.75, 2.5, 0.0, 6.75, 0.0]]> : tensor<18x34xf32>) : tensor<18x34xf32>
  check.expect_eq_const(%out, dense<
      [[-24.75, 29.0, -18.5, -6.0, 20.25, -24.75, 29.0, -18.5, -6.0],
       [-9.5, 14.0, 1.75, -32.5, 26.25, -9.5, 14.0, 1.75, -32.5],
       [5.75, 10.0, 8.25, -23.25, -0.75, 5.75, 10.0, 8.25, -23.25],
       [12.75, -5.0, 1.0, 10.75, -19.5, 12.75, -5.0, 1.0, 10.75],
       [-13.5, 14.5, -21.75, 10.25, 10.5, -13.5, 14.5, -21.75, 10.25],
       [-3.0, 20.0, 9.75, -46.25, 19.5, -3.0, 20.0, 9.75, -46.25],
       [8.5, 5.0, 17.5, -20.25, -10.75, 8.5, 5.0, 17.5, -20.25],
       [5.75, -6.0, 13.5, 5.5, -18.75, 5.75, -6.0, 13.5, 5.5],
       [-9.0, 22.5, -18.0, -23.0, 27.5, -9.0, 22.5, -18.0, -23.0],
       [5.25, 15.0, -4.0, -21.75, 5.5, 5.25, 15.0, -4.0, -21.75],
       [9.5, 0.0, 10.75, -7.0, -13.25, 9.5, 0.0, 10.75, -7.0],
       [-24.75, 29.0, -18.5, -6.0, 20.25, -24.75, 29.0, -18.5, -6.0],
       [-9.5, 14.0, 1.75, -32.5, 26.25, -9.5, 14.0, 1.75, -32.5],
       [5.75, 10.0, 8.25, -23.25, -0.75, 5.75, 10.0, 8.25, -23.25],
       [12.75, -5.0, 1.0, 10.75, -19.5, 12.75, -5.0, 1.0, 10.75],
       [-13.5, 14.5, -21.75, 10.25, 10.5, -13.5, 14.5, -21.75, 10.25],
       [-3.0, 20.0, 9.75, -46.25, 19.5, -3.0, 20.0, 9.75, -46.25],
       [8.5, 5.0, 17.5, -20.25, -10.75, 8.5, 5.0, 17.5, -20.25]]> : tensor<18x9xf32>) : tensor<18x9xf32>
  return
}
