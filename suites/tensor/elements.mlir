// Single elements between host and device: tensor.extract, tensor.from_elements, and linalg.fill with one of them.
// Numbers: NumPy; values are only moved.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/tensor.py; change it there.

func.func private @x() -> tensor<4x6xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 1009 : i32
  %shift = arith.constant 0 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<4x6xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<4x6xf32>) {
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
  } -> tensor<4x6xf32>
  %hidden = util.optimization_barrier %made : tensor<4x6xf32>
  return %hidden : tensor<4x6xf32>
}

func.func @extract_and_collect() {
  %x = call @x() : () -> tensor<4x6xf32>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %a = tensor.extract %x[%c0, %c5] : tensor<4x6xf32>
  %b = tensor.extract %x[%c3, %c0] : tensor<4x6xf32>
  %sum = arith.addf %a, %b : f32
  %out = tensor.from_elements %a, %b, %sum : tensor<3xf32>
  check.expect_eq_const(%out, dense<[681.0, 135.0, 816.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}

func.func @fill() {
  %x = call @x() : () -> tensor<4x6xf32>
  %c1 = arith.constant 1 : index
  %value = tensor.extract %x[%c1, %c1] : tensor<4x6xf32>
  %empty = tensor.empty() : tensor<3x5xf32>
  %out = linalg.fill ins(%value : f32) outs(%empty : tensor<3x5xf32>) -> tensor<3x5xf32>
  check.expect_eq_const(%out, dense<
      [[583.0, 583.0, 583.0, 583.0, 583.0],
       [583.0, 583.0, 583.0, 583.0, 583.0],
       [583.0, 583.0, 583.0, 583.0, 583.0]]> : tensor<3x5xf32>) : tensor<3x5xf32>
  return
}
