// stablehlo.reduce with add, maximum and multiply, along one and along two dimensions.
// Numbers: NumPy in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @x() -> tensor<7x12x15xf32> {
  %seed = util.unfoldable_constant 3 : i32
  %modulus = arith.constant 11 : i32
  %shift = arith.constant 5 : i32
  %factor0 = arith.constant 31 : i32
  %factor1 = arith.constant 17 : i32
  %factor2 = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<7x12x15xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} outs(%empty : tensor<7x12x15xf32>) {
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
  } -> tensor<7x12x15xf32>
  %hidden = util.optimization_barrier %made : tensor<7x12x15xf32>
  return %hidden : tensor<7x12x15xf32>
}

func.func @sum() {
  %x = call @x() : () -> tensor<7x12x15xf32>
          %start = stablehlo.constant dense<0.0> : tensor<f32>
          %out = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [2] : (tensor<7x12x15xf32>, tensor<f32>) -> tensor<7x12xf32>
  check.expect_eq_const(%out, dense<
      [[-14.0, -14.0, -12.0, -19.0, -13.0, -16.0, -17.0, -16.0, -13.0, -19.0, -12.0, -14.0],
       [-16.0, -13.0, -19.0, -12.0, -14.0, -14.0, -12.0, -19.0, -13.0, -16.0, -17.0, -16.0],
       [-19.0, -13.0, -16.0, -17.0, -16.0, -13.0, -19.0, -12.0, -14.0, -14.0, -12.0, -19.0],
       [-12.0, -14.0, -14.0, -12.0, -19.0, -13.0, -16.0, -17.0, -16.0, -13.0, -19.0, -12.0],
       [-17.0, -16.0, -13.0, -19.0, -12.0, -14.0, -14.0, -12.0, -19.0, -13.0, -16.0, -17.0],
       [-12.0, -19.0, -13.0, -16.0, -17.0, -16.0, -13.0, -19.0, -12.0, -14.0, -14.0, -12.0],
       [-19.0, -12.0, -14.0, -14.0, -12.0, -19.0, -13.0, -16.0, -17.0, -16.0, -13.0, -19.0]]> : tensor<7x12xf32>) : tensor<7x12xf32>
  return
}

func.func @max() {
  %x = call @x() : () -> tensor<7x12x15xf32>
          %start = stablehlo.constant dense<0xFF800000> : tensor<f32>
          %out = stablehlo.reduce(%x init: %start) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<7x12x15xf32>, tensor<f32>) -> tensor<12xf32>
  check.expect_eq_const(%out, dense<[4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]> : tensor<12xf32>) : tensor<12xf32>
  return
}

func.func @product() {
  %x = util.unfoldable_constant dense<[[1.0, -2.0, 0.5], [3.0, 4.0, -0.25]]> : tensor<2x3xf32>
          %start = stablehlo.constant dense<1.0> : tensor<f32>
          %out = stablehlo.reduce(%x init: %start) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const(%out, dense<[-1.0, -3.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
