// Argmax as a linalg.generic with two results, along the last and along the first dimension. The first of equal values wins.
// Numbers: NumPy's max and argmax.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/linalg/reductions.py; change it there.

func.func private @x() -> tensor<29x61xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 101 : i32
  %shift = arith.constant 50 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<29x61xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<29x61xf32>) {
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
  } -> tensor<29x61xf32>
  %hidden = util.optimization_barrier %made : tensor<29x61xf32>
  return %hidden : tensor<29x61xf32>
}

func.func @along_last() {
  %x = call @x() : () -> tensor<29x61xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %room_v = tensor.empty() : tensor<29xf32>
  %room_i = tensor.empty() : tensor<29xi32>
  %init_v = linalg.fill ins(%lowest : f32) outs(%room_v : tensor<29xf32>) -> tensor<29xf32>
  %init_i = linalg.fill ins(%first : i32) outs(%room_i : tensor<29xi32>) -> tensor<29xi32>
  %best:2 = linalg.generic {indexing_maps = [affine_map<(o, r) -> (o, r)>, affine_map<(o, r) -> (o)>, affine_map<(o, r) -> (o)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<29x61xf32>) outs(%init_v, %init_i : tensor<29xf32>, tensor<29xi32>) {
  ^bb0(%v: f32, %best_v: f32, %best_i: i32):
    %position = linalg.index 1 : index
    %i = arith.index_cast %position : index to i32
    %greater = arith.cmpf ogt, %v, %best_v : f32
    %next_v = arith.select %greater, %v, %best_v : f32
    %next_i = arith.select %greater, %i, %best_i : i32
    linalg.yield %next_v, %next_i : f32, i32
  } -> (tensor<29xf32>, tensor<29xi32>)
  check.expect_eq_const(%best#0, dense<
      [50.0, 50.0, 50.0, 47.0, 50.0, 50.0, 50.0, 50.0, 50.0, 47.0, 50.0, 50.0, 50.0, 50.0, 50.0, 47.0, 47.0, 50.0,
       50.0, 50.0, 50.0, 50.0, 47.0, 50.0, 50.0, 50.0, 50.0, 50.0, 47.0]> : tensor<29xf32>) : tensor<29xf32>
  check.expect_eq_const(%best#1, dense<
      [23, 39, 55, 11, 5, 2, 18, 34, 50, 6, 0, 16, 13, 29, 45, 1, 17, 11, 8, 24, 40, 56, 12, 6, 3, 19, 35, 51, 7]> : tensor<29xi32>) : tensor<29xi32>
  return
}

func.func @along_first() {
  %x = call @x() : () -> tensor<29x61xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %room_v = tensor.empty() : tensor<61xf32>
  %room_i = tensor.empty() : tensor<61xi32>
  %init_v = linalg.fill ins(%lowest : f32) outs(%room_v : tensor<61xf32>) -> tensor<61xf32>
  %init_i = linalg.fill ins(%first : i32) outs(%room_i : tensor<61xi32>) -> tensor<61xi32>
  %best:2 = linalg.generic {indexing_maps = [affine_map<(o, r) -> (r, o)>, affine_map<(o, r) -> (o)>, affine_map<(o, r) -> (o)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<29x61xf32>) outs(%init_v, %init_i : tensor<61xf32>, tensor<61xi32>) {
  ^bb0(%v: f32, %best_v: f32, %best_i: i32):
    %position = linalg.index 1 : index
    %i = arith.index_cast %position : index to i32
    %greater = arith.cmpf ogt, %v, %best_v : f32
    %next_v = arith.select %greater, %v, %best_v : f32
    %next_i = arith.select %greater, %i, %best_i : i32
    linalg.yield %next_v, %next_i : f32, i32
  } -> (tensor<61xf32>, tensor<61xi32>)
  check.expect_eq_const(%best#0, dense<
      [50.0, 47.0, 50.0, 50.0, 46.0, 50.0, 50.0, 47.0, 50.0, 46.0, 46.0, 50.0, 47.0, 50.0, 46.0, 46.0, 50.0, 47.0,
       50.0, 50.0, 46.0, 50.0, 50.0, 50.0, 50.0, 46.0, 46.0, 50.0, 47.0, 50.0, 46.0, 46.0, 50.0, 47.0, 50.0, 50.0,
       46.0, 50.0, 50.0, 50.0, 50.0, 46.0, 50.0, 50.0, 47.0, 50.0, 46.0, 46.0, 50.0, 47.0, 50.0, 50.0, 46.0, 50.0,
       50.0, 50.0, 50.0, 46.0, 50.0, 50.0, 47.0]> : tensor<61xf32>) : tensor<61xf32>
  check.expect_eq_const(%best#1, dense<
      [10, 0, 5, 24, 6, 4, 23, 13, 18, 0, 19, 17, 7, 12, 10, 13, 11, 1, 6, 25, 7, 5, 24, 0, 19, 1, 20, 18, 8, 13,
       11, 14, 12, 2, 7, 26, 8, 6, 25, 1, 20, 2, 0, 19, 9, 14, 12, 15, 13, 3, 8, 27, 9, 7, 26, 2, 21, 3, 1, 20, 10]> : tensor<61xi32>) : tensor<61xi32>
  return
}
