// Conversions between element types: f32 to i32 rounds towards zero; back, and to f16.

func.func @convert() {
  %x = util.unfoldable_constant dense<[1.75, -1.75, 100.5]> : tensor<3xf32>
  %i = arith.fptosi %x : tensor<3xf32> to tensor<3xi32>
  check.expect_eq_const(%i, dense<[1, -1, 100]> : tensor<3xi32>) : tensor<3xi32>
  %f = arith.sitofp %i : tensor<3xi32> to tensor<3xf32>
  %h = arith.truncf %f : tensor<3xf32> to tensor<3xf16>
  check.expect_eq_const(%h, dense<[1.0, -1.0, 100.0]> : tensor<3xf16>) : tensor<3xf16>
  return
}
