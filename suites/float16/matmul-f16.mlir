// linalg.matmul of f16 accumulated in f16; all partial sums are below 2048 and exact.
// Numbers: NumPy's matmul in float64, exact in f16.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/float16.py; change it there.

func.func private @a() -> tensor<20x24xf16> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<20x24xf16>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<20x24xf16>) {
  ^bb0(%unused: f16):
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
    %value = arith.sitofp %number : i32 to f16
    linalg.yield %value : f16
  } -> tensor<20x24xf16>
  %hidden = util.optimization_barrier %made : tensor<20x24xf16>
  return %hidden : tensor<20x24xf16>
}

func.func private @b() -> tensor<24x18xf16> {
  %seed = util.unfoldable_constant 8 : i32
  %modulus = arith.constant 7 : i32
  %shift = arith.constant 3 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %empty = tensor.empty() : tensor<24x18xf16>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<24x18xf16>) {
  ^bb0(%unused: f16):
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
    %value = arith.sitofp %number : i32 to f16
    linalg.yield %value : f16
  } -> tensor<24x18xf16>
  %hidden = util.optimization_barrier %made : tensor<24x18xf16>
  return %hidden : tensor<24x18xf16>
}

func.func @matmul_20x24x18() {
  %a = call @a() : () -> tensor<20x24xf16>
  %b = call @b() : () -> tensor<24x18xf16>
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<20x18xf16>
  %init = linalg.fill ins(%zero : f16) outs(%empty : tensor<20x18xf16>) -> tensor<20x18xf16>
  %c = linalg.matmul ins(%a, %b : tensor<20x24xf16>, tensor<24x18xf16>) outs(%init : tensor<20x18xf16>) -> tensor<20x18xf16>
  check.expect_eq_const(%c, dense<
      [[17.0, 6.0, 24.0, 8.0, 21.0, 35.0, 22.0, 17.0, 6.0, 24.0, 8.0, 21.0, 35.0, 22.0, 17.0, 6.0, 24.0, 8.0],
       [32.0, 20.0, 44.0, 34.0, 18.0, 31.0, 3.0, 32.0, 20.0, 44.0, 34.0, 18.0, 31.0, 3.0, 32.0, 20.0, 44.0, 34.0],
       [40.0, 46.0, 24.0, 30.0, 1.0, 35.0, 20.0, 40.0, 46.0, 24.0, 30.0, 1.0, 35.0, 20.0, 40.0, 46.0, 24.0, 30.0],
       [-3.0, 18.0, -3.0, 18.0, 25.0, 25.0, 18.0, -3.0, 18.0, -3.0, 18.0, 25.0, 25.0, 18.0, -3.0, 18.0, -3.0, 18.0],
       [24.0, 46.0, 40.0, 20.0, 35.0, 1.0, 30.0, 24.0, 46.0, 40.0, 20.0, 35.0, 1.0, 30.0, 24.0, 46.0, 40.0, 20.0],
       [44.0, 20.0, 32.0, 3.0, 31.0, 18.0, 34.0, 44.0, 20.0, 32.0, 3.0, 31.0, 18.0, 34.0, 44.0, 20.0, 32.0, 3.0],
       [24.0, 6.0, 17.0, 22.0, 35.0, 21.0, 8.0, 24.0, 6.0, 17.0, 22.0, 35.0, 21.0, 8.0, 24.0, 6.0, 17.0, 22.0],
       [52.0, 37.0, 39.0, 44.0, 3.0, 21.0, 7.0, 52.0, 37.0, 39.0, 44.0, 3.0, 21.0, 7.0, 52.0, 37.0, 39.0, 44.0],
       [18.0, 25.0, 10.0, 36.0, 12.0, 29.0, 31.0, 18.0, 25.0, 10.0, 36.0, 12.0, 29.0, 31.0, 18.0, 25.0, 10.0, 36.0],
       [10.0, 25.0, 18.0, 31.0, 29.0, 12.0, 36.0, 10.0, 25.0, 18.0, 31.0, 29.0, 12.0, 36.0, 10.0, 25.0, 18.0, 31.0],
       [39.0, 37.0, 52.0, 7.0, 21.0, 3.0, 44.0, 39.0, 37.0, 52.0, 7.0, 21.0, 3.0, 44.0, 39.0, 37.0, 52.0, 7.0],
       [17.0, 6.0, 24.0, 8.0, 21.0, 35.0, 22.0, 17.0, 6.0, 24.0, 8.0, 21.0, 35.0, 22.0, 17.0, 6.0, 24.0, 8.0],
       [32.0, 20.0, 44.0, 34.0, 18.0, 31.0, 3.0, 32.0, 20.0, 44.0, 34.0, 18.0, 31.0, 3.0, 32.0, 20.0, 44.0, 34.0],
       [40.0, 46.0, 24.0, 30.0, 1.0, 35.0, 20.0, 40.0, 46.0, 24.0, 30.0, 1.0, 35.0, 20.0, 40.0, 46.0, 24.0, 30.0],
       [-3.0, 18.0, -3.0, 18.0, 25.0, 25.0, 18.0, -3.0, 18.0, -3.0, 18.0, 25.0, 25.0, 18.0, -3.0, 18.0, -3.0, 18.0],
       [24.0, 46.0, 40.0, 20.0, 35.0, 1.0, 30.0, 24.0, 46.0, 40.0, 20.0, 35.0, 1.0, 30.0, 24.0, 46.0, 40.0, 20.0],
       [44.0, 20.0, 32.0, 3.0, 31.0, 18.0, 34.0, 44.0, 20.0, 32.0, 3.0, 31.0, 18.0, 34.0, 44.0, 20.0, 32.0, 3.0],
       [24.0, 6.0, 17.0, 22.0, 35.0, 21.0, 8.0, 24.0, 6.0, 17.0, 22.0, 35.0, 21.0, 8.0, 24.0, 6.0, 17.0, 22.0],
       [52.0, 37.0, 39.0, 44.0, 3.0, 21.0, 7.0, 52.0, 37.0, 39.0, 44.0, 3.0, 21.0, 7.0, 52.0, 37.0, 39.0, 44.0],
       [18.0, 25.0, 10.0, 36.0, 12.0, 29.0, 31.0, 18.0, 25.0, 10.0, 36.0, 12.0, 29.0, 31.0, 18.0, 25.0, 10.0, 36.0]]> : tensor<20x18xf16>) : tensor<20x18xf16>
  return
}
