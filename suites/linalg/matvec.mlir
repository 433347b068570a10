// linalg.matvec, linalg.vecmat and linalg.dot, which code generation treats as reductions rather than as matmuls.
// Numbers: NumPy's matmul in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/contractions.py; change it there.

func.func private @matrix() -> tensor<77x133xf32> {
  %seed = util.unfoldable_constant 2 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<77x133xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<77x133xf32>) {
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
  } -> tensor<77x133xf32>
  %hidden = util.optimization_barrier %made : tensor<77x133xf32>
  return %hidden : tensor<77x133xf32>
}

func.func private @right() -> tensor<133xf32> {
  %seed = util.unfoldable_constant 4 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<133xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<133xf32>) {
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
  } -> tensor<133xf32>
  %hidden = util.optimization_barrier %made : tensor<133xf32>
  return %hidden : tensor<133xf32>
}

func.func private @left() -> tensor<77xf32> {
  %seed = util.unfoldable_constant 6 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %empty = tensor.empty() : tensor<77xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} outs(%empty : tensor<77xf32>) {
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
  } -> tensor<77xf32>
  %hidden = util.optimization_barrier %made : tensor<77xf32>
  return %hidden : tensor<77xf32>
}

func.func @matvec_77x133() {
  %a = call @matrix() : () -> tensor<77x133xf32>
  %x = call @right() : () -> tensor<133xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<77xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<77xf32>) -> tensor<77xf32>
  %r = linalg.matvec ins(%a, %x : tensor<77x133xf32>, tensor<133xf32>) outs(%init : tensor<77xf32>) -> tensor<77xf32>
  check.expect_eq_const(%r, dense<
      [121.0, 123.0, 139.0, 147.0, 136.0, 128.0, 134.0, 132.0, 133.0, 148.0, 122.0, 121.0, 123.0, 139.0, 147.0,
       136.0, 128.0, 134.0, 132.0, 133.0, 148.0, 122.0, 121.0, 123.0, 139.0, 147.0, 136.0, 128.0, 134.0, 132.0,
       133.0, 148.0, 122.0, 121.0, 123.0, 139.0, 147.0, 136.0, 128.0, 134.0, 132.0, 133.0, 148.0, 122.0, 121.0,
       123.0, 139.0, 147.0, 136.0, 128.0, 134.0, 132.0, 133.0, 148.0, 122.0, 121.0, 123.0, 139.0, 147.0, 136.0,
       128.0, 134.0, 132.0, 133.0, 148.0, 122.0, 121.0, 123.0, 139.0, 147.0, 136.0, 128.0, 134.0, 132.0, 133.0,
       148.0, 122.0]> : tensor<77xf32>) : tensor<77xf32>
  return
}

func.func @vecmat_77x133() {
  %a = call @matrix() : () -> tensor<77x133xf32>
  %y = call @left() : () -> tensor<77xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<133xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<133xf32>) -> tensor<133xf32>
  %r = linalg.vecmat ins(%y, %a : tensor<77xf32>, tensor<77x133xf32>) outs(%init : tensor<133xf32>) -> tensor<133xf32>
  check.expect_eq_const(%r, dense<
      [77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0,
       77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0,
       77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0,
       77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0,
       77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0,
       77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0,
       77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0,
       77.0, 77.0, 77.0, 77.0, 77.0, 77.0, 77.0]> : tensor<133xf32>) : tensor<133xf32>
  return
}

func.func @dot_133() {
  %x = call @right() : () -> tensor<133xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %r = linalg.dot ins(%x, %x : tensor<133xf32>, tensor<133xf32>) outs(%init : tensor<f32>) -> tensor<f32>
  check.expect_eq_const(%r, dense<399.0> : tensor<f32>) : tensor<f32>
  return
}
