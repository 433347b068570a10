// StableHLO data movement: iota, broadcast_in_dim, transpose, reshape, slice with strides, concatenate, pad with interior padding, reverse.
// Numbers: NumPy; values are only moved.
//
// Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.
// Written by suites/generate.py from suites/generator/stablehlo.py; change it there.

func.func private @x() -> tensor<5x8xf32> {
  %seed = util.unfoldable_constant dense<3> : tensor<i32>
  %modulus = stablehlo.constant dense<1009> : tensor<5x8xi32>
  %shift = stablehlo.constant dense<0> : tensor<5x8xi32>
  %t = stablehlo.broadcast_in_dim %seed, dims = [] : (tensor<i32>) -> tensor<5x8xi32>
  %i0 = stablehlo.iota dim = 0 : tensor<5x8xi32>
  %factor0 = stablehlo.constant dense<31> : tensor<5x8xi32>
  %p0 = stablehlo.multiply %i0, %factor0 : tensor<5x8xi32>
  %t0 = stablehlo.add %t, %p0 : tensor<5x8xi32>
  %i1 = stablehlo.iota dim = 1 : tensor<5x8xi32>
  %factor1 = stablehlo.constant dense<17> : tensor<5x8xi32>
  %p1 = stablehlo.multiply %i1, %factor1 : tensor<5x8xi32>
  %t1 = stablehlo.add %t0, %p1 : tensor<5x8xi32>
  %square = stablehlo.multiply %t1, %t1 : tensor<5x8xi32>
  %rest = stablehlo.remainder %square, %modulus : tensor<5x8xi32>
  %number = stablehlo.subtract %rest, %shift : tensor<5x8xi32>
  %value = stablehlo.convert %number : (tensor<5x8xi32>) -> tensor<5x8xf32>
  %hidden = util.optimization_barrier %value : tensor<5x8xf32>
  return %hidden : tensor<5x8xf32>
}

func.func @iota_added() {
  %x = call @x() : () -> tensor<5x8xf32>
          %i = stablehlo.iota dim = 1 : tensor<5x8xf32>
          %out = stablehlo.add %x, %i : tensor<5x8xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 401.0, 362.0, 901.0, 1009.0, 686.0, 941.0, 765.0],
       [147.0, 584.0, 590.0, 165.0, 318.0, 40.0, 340.0, 209.0],
       [189.0, 671.0, 722.0, 342.0, 540.0, 307.0, 652.0, 566.0],
       [135.0, 662.0, 758.0, 423.0, 666.0, 478.0, 868.0, 827.0],
       [994.0, 557.0, 698.0, 408.0, 696.0, 553.0, 988.0, 992.0]]> : tensor<5x8xf32>) : tensor<5x8xf32>
  return
}

func.func @broadcast_in_dim() {
  %x = call @x() : () -> tensor<5x8xf32>
          %out = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x8xf32>) -> tensor<5x3x8xf32>
  check.expect_eq_const(%out, dense<
      [[[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0],
        [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0],
        [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0]],
       [[147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0],
        [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0],
        [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0]],
       [[189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0],
        [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0],
        [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0]],
       [[135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0],
        [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0],
        [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0]],
       [[994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0],
        [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0],
        [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0]]]> : tensor<5x3x8xf32>) : tensor<5x3x8xf32>
  return
}

func.func @transpose() {
  %x = call @x() : () -> tensor<5x8xf32>
          %out = stablehlo.transpose %x, dims = [1, 0] : (tensor<5x8xf32>) -> tensor<8x5xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 147.0, 189.0, 135.0, 994.0],
       [400.0, 583.0, 670.0, 661.0, 556.0],
       [360.0, 588.0, 720.0, 756.0, 696.0],
       [898.0, 162.0, 339.0, 420.0, 405.0],
       [1005.0, 314.0, 536.0, 662.0, 692.0],
       [681.0, 35.0, 302.0, 473.0, 548.0],
       [935.0, 334.0, 646.0, 862.0, 982.0],
       [758.0, 202.0, 559.0, 820.0, 985.0]]> : tensor<8x5xf32>) : tensor<8x5xf32>
  return
}

func.func @reshape() {
  %x = call @x() : () -> tensor<5x8xf32>
          %out = stablehlo.reshape %x : (tensor<5x8xf32>) -> tensor<4x10xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, 147.0, 583.0],
       [588.0, 162.0, 314.0, 35.0, 334.0, 202.0, 189.0, 670.0, 720.0, 339.0],
       [536.0, 302.0, 646.0, 559.0, 135.0, 661.0, 756.0, 420.0, 662.0, 473.0],
       [862.0, 820.0, 994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0]]> : tensor<4x10xf32>) : tensor<4x10xf32>
  return
}

func.func @slice() {
  %x = call @x() : () -> tensor<5x8xf32>
          %out = stablehlo.slice %x [0:5:2, 1:4] : (tensor<5x8xf32>) -> tensor<3x3xf32>
  check.expect_eq_const(%out, dense<[[400.0, 360.0, 898.0], [670.0, 720.0, 339.0], [556.0, 696.0, 405.0]]> : tensor<3x3xf32>) : tensor<3x3xf32>
  return
}

func.func @concatenate() {
  %x = call @x() : () -> tensor<5x8xf32>
          %out = stablehlo.concatenate %x, %x, dim = 0 : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<10x8xf32>
  check.expect_eq_const(%out, dense<
      [[9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0],
       [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0]]> : tensor<10x8xf32>) : tensor<10x8xf32>
  return
}

func.func @pad_interior() {
  %x = call @x() : () -> tensor<5x8xf32>
          %v = stablehlo.constant dense<-1.0> : tensor<f32>
          %out = stablehlo.pad %x, %v, low = [1, 0], high = [2, 1], interior = [1, 0] : (tensor<5x8xf32>, tensor<f32>) -> tensor<12x9xf32>
  check.expect_eq_const(%out, dense<
      [[-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0],
       [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0, -1.0],
       [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0, -1.0],
       [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0, -1.0],
       [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0, -1.0],
       [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0],
       [994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0, -1.0],
       [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0],
       [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]> : tensor<12x9xf32>) : tensor<12x9xf32>
  return
}

func.func @reverse() {
  %x = call @x() : () -> tensor<5x8xf32>
          %out = stablehlo.reverse %x, dims = [0] : tensor<5x8xf32>
  check.expect_eq_const(%out, dense<
      [[994.0, 556.0, 696.0, 405.0, 692.0, 548.0, 982.0, 985.0],
       [135.0, 661.0, 756.0, 420.0, 662.0, 473.0, 862.0, 820.0],
       [189.0, 670.0, 720.0, 339.0, 536.0, 302.0, 646.0, 559.0],
       [147.0, 583.0, 588.0, 162.0, 314.0, 35.0, 334.0, 202.0],
       [9.0, 400.0, 360.0, 898.0, 1005.0, 681.0, 935.0, 758.0]]> : tensor<5x8xf32>) : tensor<5x8xf32>
  return
}
