// Reinterpreting bits: arith.bitcast f32 to i32 and back, tensor.bitcast i32 to f32, and zero-sized and rank-zero tensors.
// Numbers: NumPy's view.
//
// Written by suites/generate.py from suites/generator/tensor.py; change it there.

func.func @f32_to_i32() {
  %x = util.unfoldable_constant dense<[0.0, 1.0, -1.0, 0.5, 3.1415927, 0x7F800000, -2.5e-30, 65536.0]> : tensor<8xf32>
          %out = arith.bitcast %x : tensor<8xf32> to tensor<8xi32>
  check.expect_eq_const(%out, dense<
      [0, 1065353216, -1082130432, 1056964608, 1078530011, 2139095040, -1907698952, 1199570944]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @i32_to_f32() {
  %x = util.unfoldable_constant dense<
      [0, 1065353216, -1082130432, 1056964608, 1078530011, 2139095040, -1907698952, 1199570944]> : tensor<8xi32>
          %out = tensor.bitcast %x : tensor<8xi32> to tensor<8xf32>
  check.expect_eq_const(%out, dense<[0.0, 1.0, -1.0, 0.5, 3.1415927, 0x7F800000, -2.5e-30, 65536.0]> : tensor<8xf32>) : tensor<8xf32>
  return
}

func.func @rank_zero() {
  %x = util.unfoldable_constant dense<1.5> : tensor<f32>
          %out = arith.addf %x, %x : tensor<f32>
  check.expect_eq_const(%out, dense<3.0> : tensor<f32>) : tensor<f32>
  return
}

func.func @zero_sized() {
  %x = util.unfoldable_constant dense<> : tensor<0x3xf32>
          %y = arith.addf %x, %x : tensor<0x3xf32>
          %z = util.unfoldable_constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
          %out = tensor.concat dim(0) %y, %z : (tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const(%out, dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  return
}
