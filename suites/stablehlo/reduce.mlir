// stablehlo.reduce with add, maximum and multiply, along one and along two dimensions.
// Numbers: NumPy in float64, exact in f32.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @x() -> tensor<7x12x15xf32> {
  %seed = util.unfoldable_constant dense<3> : tensor<i32>
  %modulus = stablehlo.constant dense<11> : tensor<7x12x15xi32>
  %shift = stablehlo.constant dense<5> : tensor<7x12x15xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<7x12x15xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<7x12x15xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<7x12x15xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<7x12x15xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<7x12x15xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<7x12x15xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<7x12x15xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<7x12x15xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<7x12x15xi32>
  %i2 = stablehlo.iota dim = 2 : tensor<7x12x15xi32>
  %factor2 = stablehlo.constant dense<7> : tensor<7x12x15xi32>
  %p2 = stablehlo.multiply %i2, %factor2 : tensor<7x12x15xi32>
  %t2 = stablehlo.add %t1, %p2 : tensor<7x12x15xi32>
  %square = stablehlo.multiply %t2, %t2 : tensor<7x12x15xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<7x12x15xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<7x12x15xi32>
  %value = stablehlo.convert %number : (tensor<7x12x15xi32>) -> tensor<7x12x15xf32>
  %hidden = util.optimization_barrier %value : tensor<7x12x15xf32>
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
